//! What can be picked: agents and models.

use std::time::Duration;

use longrein_app::agents::{self, AgentFile};
use longrein_app::{DEMO_MODEL, Longrein};
use longrein_core::agent_file::Severity;

use crate::commands::runs::{AgentLine, AgentOrigin, ModelLine, Problem};

/// How long a provider has to list its models before it is left out.
const LISTING_LIMIT: Duration = Duration::from_secs(3);
/// The most models of one provider that are offered; others can be named in an agent's file.
const MODELS_OF_A_PROVIDER: usize = 100;

/// The agents, by name; one whose file has mistakes is there with them.
pub fn agents(longrein: &Longrein) -> Vec<AgentLine> {
    let listed = agents::list_agents(longrein.data_dir());
    listed
        .into_iter()
        .map(|(name, file)| agent_line(name, file))
        .collect()
}

fn agent_line(name: String, file: AgentFile) -> AgentLine {
    let origin = match file.origin {
        agents::AgentOrigin::Shipped => AgentOrigin::Shipped,
        agents::AgentOrigin::File(_) | agents::AgentOrigin::DataFolder(_) => AgentOrigin::Saved,
    };
    let errors = file
        .problems
        .into_iter()
        .filter(|problem| problem.severity == Severity::Error);
    let problems = errors
        .map(|problem| Problem {
            place: match problem.line {
                0 => name.clone(),
                line => format!("{name}{}, line {line}", agents::SUFFIX),
            },
            message: problem.message,
            remedy: problem.remedy,
        })
        .collect();
    let (description, model) = match file.spec {
        Some(spec) => (
            spec.description,
            spec.model.use_.into_iter().next().unwrap_or_default(),
        ),
        None => Default::default(),
    };
    AgentLine {
        name,
        description,
        model,
        origin,
        problems,
    }
}

/// The demonstration model and what the providers list; a provider that does not answer is left
/// out, since Settings says what is wrong with it.
pub async fn models(longrein: &Longrein) -> Vec<ModelLine> {
    let mut lines = vec![ModelLine {
        id: DEMO_MODEL.to_owned(),
        demo: true,
        note: "A rule-based stand-in; works offline".to_owned(),
    }];
    let names: Vec<String> = longrein.config().providers.keys().cloned().collect();
    let mut asked = tokio::task::JoinSet::new();
    for name in names {
        let longrein = longrein.clone();
        asked.spawn(async move {
            let listed = tokio::time::timeout(LISTING_LIMIT, longrein.provider_models(&name)).await;
            (name, listed.ok().and_then(Result::ok).unwrap_or_default())
        });
    }
    let mut answered = asked.join_all().await;
    answered.sort();
    for (provider, models) in answered {
        lines.extend(
            models
                .into_iter()
                .take(MODELS_OF_A_PROVIDER)
                .map(|model| ModelLine {
                    id: format!("{provider}/{model}"),
                    demo: false,
                    note: format!("of {provider}"),
                }),
        );
    }
    lines
}
