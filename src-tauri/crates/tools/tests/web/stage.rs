//! A run with the real tools on the log in memory, driven to its end.

use std::sync::Arc;

use async_trait::async_trait;
use longrein_core::agent_file;
use longrein_core::run::Run;
use longrein_protocol::event::{ActionFinished, Payload};
use longrein_protocol::gate::{PathFact, SecretFact};
use longrein_protocol::source::Claim;
use longrein_protocol::{Body, RunId, ToolSpec};
use longrein_runtime::ports::{LiveText, Model, ModelError, NoLiveText, Verifier};
use longrein_runtime::world::{ToolBox, Unavailable, World};
use longrein_runtime::{Driver, Ports};
use longrein_store::{Log, MemoryLog};
use longrein_testkit::{Scripted, ScriptedModel, SeededChance, TestClock, TestWorld};
use longrein_tools::{HarnessVerifier, ToolsConfig, Web, builtin_tools};
use serde_json::Value;
use tempfile::TempDir;

/// A world of the real tools, and a scripted model.
struct RealTools {
    model: Arc<ScriptedModel>,
    web: Web,
    workspace: TempDir,
}

#[async_trait]
impl World for RealTools {
    fn model(&self, _name: &str) -> Result<Arc<dyn Model>, ModelError> {
        Ok(self.model.clone())
    }

    async fn open_tools(&self, _run: &Run) -> Result<ToolBox, Unavailable> {
        let mut tools = ToolBox::default();
        let config = ToolsConfig {
            web: self.web.clone(),
            ..ToolsConfig::default()
        };
        for tool in builtin_tools(config) {
            let spec = tool.spec().clone();
            tools.add(tool, spec).unwrap();
        }
        Ok(tools)
    }

    async fn look(
        &self,
        _run: &Run,
        spec: &ToolSpec,
        arguments: &Value,
    ) -> (Vec<PathFact>, Vec<SecretFact>) {
        let paths = longrein_tools::look::paths(self.workspace.path(), spec, arguments);
        (paths, Vec::new())
    }

    fn verifier(&self) -> Arc<dyn Verifier> {
        Arc::new(HarnessVerifier)
    }

    fn live(&self, _run: &Run) -> Arc<dyn LiveText> {
        Arc::new(NoLiveText)
    }
}

/// A run that was driven until it stopped or waited.
pub struct Driven {
    pub run: Run,
    pub model: Arc<ScriptedModel>,
    log: Arc<MemoryLog>,
    _world: Arc<RealTools>,
}

/// Drives a run of this agent, whose file is `agent`, through a script.
pub async fn drive(
    agent: &str,
    question: &str,
    web: Web,
    script: impl IntoIterator<Item = Scripted>,
) -> Driven {
    let model = Arc::new(ScriptedModel::new(script));
    let world = Arc::new(RealTools {
        model: model.clone(),
        web,
        workspace: tempfile::tempdir().unwrap(),
    });
    let agent = agent_file::parse(agent, "test").unwrap();
    let mut created = TestWorld::created(agent);
    if let Payload::RunCreated(created) = &mut created {
        created.workspace = world.workspace.path().to_str().unwrap().to_owned();
    }
    let log = Arc::new(MemoryLog::new());
    let fence = log.take_fence(RunId::from_parts(1, 7)).await.unwrap();
    let ports = Ports {
        log: log.clone(),
        clock: Arc::new(TestClock::default()),
        chance: Arc::new(SeededChance::new(2)),
        world: world.clone(),
    };
    let mut driver = Driver::new(ports, fence, Run::default());
    driver.record(created).unwrap();
    driver.say(question.to_owned()).unwrap();
    driver.commit().await.unwrap();
    driver.drive(false).await.unwrap();
    Driven {
        run: driver.run().clone(),
        model,
        log,
        _world: world,
    }
}

impl Driven {
    /// The evidence ledger of what was published first.
    pub fn ledger(&self) -> Vec<Claim> {
        let events = self.log.durable(RunId::from_parts(1, 7)).into_iter();
        let mut published = events.filter_map(|event| match event.payload {
            Payload::ArtifactPublished(artifact) => Some(artifact.ledger),
            _ => None,
        });
        published.next().expect("something was published")
    }

    /// The actions that ended, with their whole results.
    pub async fn results(&self) -> Vec<(ActionFinished, String)> {
        let mut results = Vec::new();
        for event in self.log.durable(RunId::from_parts(1, 7)) {
            if let Payload::ActionFinished(finished) = event.payload {
                let text = match &finished.result {
                    Body::Text(text) => text.clone(),
                    Body::Blob { blob, .. } => {
                        let bytes = self.log.blob(*blob).await.unwrap();
                        String::from_utf8(bytes.to_vec()).unwrap()
                    }
                };
                results.push((finished, text));
            }
        }
        results
    }

    /// What the model was sent last.
    pub fn last_request(&self) -> String {
        let seen = self.model.seen();
        String::from_utf8(seen.last().unwrap().body.to_vec()).unwrap()
    }
}
