//! What lies around a test: its folders, a provider, an agent that uses it.

use std::path::PathBuf;

use longrein_testkit::MockProvider;
use longrein_testkit::provider::Setup;

/// A variable of the environment that `scripts/window-tests` sets.
pub fn given(name: &str) -> String {
    std::env::var(name)
        .unwrap_or_else(|_| panic!("{name} is not set: start this through scripts/window-tests"))
}

/// The data folder of the test.
pub fn data_folder() -> PathBuf {
    given("LONGREIN_HOME").into()
}

/// Starts a provider and writes it into the configuration as `local`. An agent of the data folder
/// takes the place of the one that ships, so that it is the one that is offered: it uses the
/// provider, has the file tools and sets no criteria.
pub async fn with_provider(setup: Setup) -> MockProvider {
    with_agent(setup, "[tools]\nallow = [\"files\"]\n", "").await
}

/// The same with these lines in the agent's file, and these in the configuration.
pub async fn with_agent(setup: Setup, agent: &str, configuration: &str) -> MockProvider {
    let provider = MockProvider::start(setup)
        .await
        .expect("a port of the loopback address");
    let agents = data_folder().join("agents");
    std::fs::create_dir_all(&agents).expect("the data folder can be written");
    let config = format!(
        "[providers.local]\nformat = \"openai-chat\"\nbase_url = \"{}\"\n\n{configuration}",
        provider.base_url()
    );
    std::fs::write(data_folder().join("config.toml"), config)
        .expect("the data folder can be written");
    std::fs::write(
        agents.join("research.agent.toml"),
        format!("{RESEARCH}{agent}"),
    )
    .expect("the data folder can be written");
    provider
}

const RESEARCH: &str = "name = \"research\"\n\
    description = \"Does what the script says.\"\n\
    instructions = \"Work.\"\n\
    [model]\nuse = [\"local/any\"]\n\
    [budget]\nsteps = 2000\n";
