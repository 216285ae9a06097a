//! The tools that run commands, on real boxes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use longrein_core::run::Job;
use longrein_protocol::agent::SandboxSettings;
use longrein_protocol::gate::ActionFacts;
use longrein_protocol::{ActionId, BlobHash, RunId, ToolErrorClass};
use longrein_runtime::ports::{
    Beside, BlobRead, CancellationToken, NobodyThere, RunContext, ToolCall, ToolError, ToolOutput,
};
use longrein_sandbox::Backing;
use longrein_sandbox::bubblewrap::Bubblewrap;
use longrein_sandbox::code::{
    Boxes, BoxesConfig, Closing, CodeConfig, Station, StationSpec, code_tools,
};
use longrein_sandbox::egress::{Guard, Resolver, system_resolver};
use longrein_sandbox::engine::{Engine, Places, Unavailable};
use serde_json::{Value, json};

use super::place::{variable, within};
use super::told::{PACKAGE, Told};

/// Makes a test of the same name on each engine and without one.
macro_rules! on_all_benches {
    ($($name:ident),* $(,)?) => {
        mod podman {
            $(#[tokio::test]
            async fn $name() {
                super::$name(super::Bench::on("LONGREIN_TEST_PODMAN").await).await;
            })*
        }
        mod docker {
            $(#[tokio::test]
            async fn $name() {
                super::$name(super::Bench::on("LONGREIN_TEST_DOCKER").await).await;
            })*
        }
        mod bubblewrap {
            $(#[tokio::test]
            async fn $name() {
                super::$name(super::Bench::without().await).await;
            })*
        }
    };
}

pub(crate) use on_all_benches;

/// One installation, seen by as many processes as a test plays.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
    backing: Backing,
    pub(crate) settings: SandboxSettings,
    pub(crate) run: RunId,
    /// What is refused, and what names lead to.
    pub(crate) guard: Guard,
    pub(crate) resolver: Resolver,
}

/// One process with its box.
pub(crate) struct Process {
    pub(crate) boxes: Boxes,
    pub(crate) station: Arc<Station>,
    told: Arc<Told>,
}

struct NoBlobs;

#[async_trait]
impl BlobRead for NoBlobs {
    async fn read(&self, _hash: BlobHash) -> Result<Arc<[u8]>, ToolError> {
        Err(ToolError::new(ToolErrorClass::NotFound, "There is none."))
    }
}

impl Bench {
    pub(crate) async fn on(engine: &str) -> Self {
        let engine = Engine::at(&variable(engine)).await.expect("it answers");
        Self::of(
            Backing::Engine(engine),
            Some(variable("LONGREIN_TEST_IMAGE")),
        )
    }

    pub(crate) async fn without() -> Self {
        let bubblewrap = Bubblewrap::find().await.expect("it works here");
        let engines = Unavailable { tried: Vec::new() };
        let backing = Backing::Bubblewrap {
            bubblewrap,
            engines,
        };
        Self::of(backing, None)
    }

    fn of(backing: Backing, image: Option<String>) -> Self {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.path(), open).expect("ours");
        std::fs::create_dir(folder.path().join("workspace")).expect("ours");
        let mut settings = SandboxSettings {
            image,
            ..SandboxSettings::default()
        };
        settings.memory = "256MiB".parse().expect("a size");
        settings.processes = 128;
        settings.timeout_seconds = 60;
        Self {
            folder,
            backing,
            settings,
            run: RunId::from_parts(0, u128::from(std::process::id()) << 64),
            guard: |address| (!address.is_loopback()).then(|| "no address of a test".to_owned()),
            resolver: system_resolver(),
        }
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    pub(crate) fn process(&self) -> Process {
        let instance = self.folder.path().file_name().expect("a name");
        let instance = instance
            .to_string_lossy()
            .trim_start_matches('.')
            .to_lowercase();
        let config = BoxesConfig {
            places: Places::default(),
            instance,
            folder: self.folder.path().join("boxes"),
            base: None,
            guard: self.guard,
            resolver: self.resolver.clone(),
        };
        let boxes = Boxes::of(config, self.backing.clone());
        let spec = StationSpec {
            settings: self.settings.clone(),
            workspace: self.workspace(),
        };
        Process {
            station: boxes.station(self.run, spec),
            boxes,
            told: Arc::default(),
        }
    }

    pub(crate) async fn clear(self) {
        let process = self.process();
        for run in within(process.boxes.left()).await.expect("it lists") {
            within(process.boxes.remove_left(&run))
                .await
                .expect("it removes");
        }
        let left = within(process.boxes.left()).await.expect("it lists");
        assert!(left.is_empty(), "{left:?}");
    }
}

impl Process {
    pub(crate) fn call(&self, action: &str, arguments: Value) -> ToolCall {
        ToolCall {
            run: RunId::from_parts(0, 1),
            action: ActionId(action.to_owned()),
            key: "k".to_owned(),
            attempt: 1,
            arguments,
            facts: ActionFacts::default(),
            person: Arc::new(NobodyThere),
            onward: Arc::default(),
            context: Arc::new(RunContext {
                workspace: self.station.spec().workspace.clone(),
                sources: Vec::new(),
                artifacts: Vec::new(),
                plan: Vec::new(),
                jobs: Vec::new(),
                results: Vec::new(),
                notes: Vec::new(),
                blobs: Arc::new(NoBlobs),
                past: Arc::new(longrein_runtime::ports::NoPast),
            }),
            cancel: CancellationToken::new(),
            beside: Beside {
                tells: self.told.clone(),
                live: self.told.clone(),
                ..Beside::default()
            },
        }
    }

    pub(crate) async fn run(&self, tool: &str, call: ToolCall) -> Result<ToolOutput, ToolError> {
        let config = CodeConfig {
            station: self.station.clone(),
            package: vec![("tools.py".to_owned(), PACKAGE.to_owned())],
        };
        let tools = code_tools(&config);
        let tool = tools.iter().find(|known| known.spec().name == tool);
        within(tool.expect("it is there").run(call)).await
    }

    pub(crate) async fn text(&self, tool: &str, action: &str, arguments: Value) -> String {
        text(self.run(tool, self.call(action, arguments)).await)
    }

    pub(crate) fn facts(&self) -> Vec<String> {
        self.told.facts.lock().unwrap().clone()
    }

    pub(crate) fn spec(&self) -> &StationSpec {
        self.station.spec()
    }

    fn life(&self) -> Option<String> {
        self.told.life.lock().unwrap().clone()
    }
}

pub(crate) fn text(output: Result<ToolOutput, ToolError>) -> String {
    let parts = output.expect("it ends").parts.into_iter();
    parts
        .map(longrein_runtime::ports::Part::into_text)
        .collect()
}

pub(crate) fn command(line: &str) -> Value {
    json!({"command": line, "intent": "a test"})
}

/// Waits until a file has something in it: what a command does is seen there.
pub(crate) async fn seen(path: &Path) {
    let looking = async {
        while std::fs::metadata(path).map_or(0, |file| file.len()) == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    within(looking).await;
}

async fn a_command_gives_its_output_and_its_status_and_is_on_record_first(bench: Bench) {
    let process = bench.process();
    let line = "echo out; echo err >&2; echo kept > file; exit 3";
    let said = process.text("run_command", "A1", command(line)).await;
    assert!(
        said.starts_with("out\nerr\n[exit status 3, after "),
        "{said}"
    );
    assert_eq!(process.facts(), ["boxed"]);
    assert!(process.told.shown.lock().unwrap().contains("out\n"));
    let file = std::fs::read_to_string(bench.workspace().join("file"));
    assert_eq!(file.expect("it is there"), "kept\n");
    process.boxes.close(bench.run, Closing::Over).await;
    bench.clear().await;
}

async fn a_program_in_python_runs_with_the_workspace_at_hand(bench: Bench) {
    let process = bench.process();
    std::fs::write(bench.workspace().join("mine.py"), "N = 41\n").expect("ours");
    let arguments = json!({"code": "import mine\nprint(mine.N + 1)", "intent": "a test"});
    let said = process.text("run_code", "A1", arguments).await;
    assert!(said.starts_with("42\n[exit status 0"), "{said}");
    assert!(bench.workspace().join("results/A1.py").exists());
    process.boxes.close(bench.run, Closing::Over).await;
    bench.clear().await;
}

async fn a_command_outlives_its_process_and_is_found_again_whole(bench: Bench) {
    let first = bench.process();
    let line = "for n in 1 2 3 4 5 6; do echo $n; echo $n >> effect; \
        while [ $n = 3 ] && ! [ -e go ]; do sleep 0.02; done; done";
    let call = first.call("A1", command(line));
    let (let_go, cancel) = (call.beside.let_go.clone(), call.cancel.clone());
    let workspace = bench.workspace();
    let dying = async {
        seen(&workspace.join("effect")).await;
        let_go.cancel();
        cancel.cancel();
    };
    let (ended, ()) = tokio::join!(first.run("run_command", call), dying);
    assert!(ended.is_err(), "the process is gone");
    first.boxes.close(bench.run, Closing::LetGo).await;
    let life = first.life();
    drop(first);

    let second = bench.process();
    let mut again = second.call("A1", command(line));
    again.attempt = 2;
    again.beside.life = life;
    std::fs::write(workspace.join("go"), b"").expect("ours");
    let said = text(second.run("run_command", again).await);
    assert!(
        said.starts_with("1\n2\n3\n4\n5\n6\n[exit status 0"),
        "{said}"
    );
    let effect = std::fs::read_to_string(workspace.join("effect")).expect("there");
    assert_eq!(effect, "1\n2\n3\n4\n5\n6\n");
    second.boxes.close(bench.run, Closing::Over).await;
    bench.clear().await;
}

async fn a_command_that_ended_meanwhile_is_read_from_its_receipt(bench: Bench) {
    let first = bench.process();
    let said = first
        .text(
            "run_command",
            "A1",
            command("echo once >> effect; echo did; exit 4"),
        )
        .await;
    let life = first.life();
    drop(first);

    let second = bench.process();
    let mut again = second.call("A1", command("echo once >> effect; echo did; exit 4"));
    again.beside.life = life;
    assert_eq!(text(second.run("run_command", again).await), said);
    let effect = std::fs::read_to_string(bench.workspace().join("effect")).expect("there");
    assert_eq!(effect, "once\n");
    second.boxes.close(bench.run, Closing::Over).await;
    bench.clear().await;
}

async fn what_the_same_life_does_not_know_never_ran_and_another_life_is_in_doubt(bench: Bench) {
    let process = bench.process();
    process.text("run_command", "A1", command("true")).await;
    let mut never = process.call("A2", command("echo now"));
    never.beside.life = process.life();
    let said = text(process.run("run_command", never).await);
    assert!(said.starts_with("now\n"), "{said}");
    let mut doubt = process.call("A3", command("echo now"));
    doubt.beside.life = Some("another".to_owned());
    let error = process
        .run("run_command", doubt)
        .await
        .expect_err("nobody knows");
    assert!(error.uncertain, "{error}");
    process.boxes.close(bench.run, Closing::Over).await;
    bench.clear().await;
}

async fn a_cancelled_command_ends_with_all_that_it_started(bench: Bench) {
    let process = bench.process();
    let line =
        "(setsid sh -c 'echo x > begun; while :; do date > alive; sleep 0.05; done' &) ; sleep 300";
    let call = process.call("A1", command(line));
    let cancel = call.cancel.clone();
    let workspace = bench.workspace();
    let cancelling = async {
        seen(&workspace.join("alive")).await;
        cancel.cancel();
    };
    let (ended, ()) = tokio::join!(process.run("run_command", call), cancelling);
    assert_eq!(
        ended.expect_err("it was stopped").class,
        ToolErrorClass::Cancelled
    );
    let said = process
        .text("run_command", "A2", command("rm -f alive; sleep 0.3; ls"))
        .await;
    assert!(!said.contains("alive"), "{said}");
    process.boxes.close(bench.run, Closing::Over).await;
    bench.clear().await;
}

async fn a_job_goes_on_beside_the_steps_and_is_ended(bench: Bench) {
    let process = bench.process();
    let arguments = json!({"command": "echo up; sleep 300", "intent": "serve", "background": true});
    let said = process.text("run_command", "A1", arguments).await;
    assert!(said.contains("job J1"), "{said}");
    assert_eq!(process.facts(), ["J1 runs: serve", "boxed"]);
    let with_job = |action: &str, arguments: Value| {
        let mut call = process.call(action, arguments);
        let mut context = (*call.context).clone();
        context.jobs.push(Job {
            name: "J1".to_owned(),
            action: ActionId("A1".to_owned()),
            intent: "serve".to_owned(),
            outcome: None,
        });
        call.context = Arc::new(context);
        call
    };
    let looking = async {
        loop {
            let call = with_job("A2", json!({"job": "J1"}));
            let said = text(process.run("job_output", call).await);
            if said.starts_with("up\n[J1: it runs") {
                break;
            }
        }
    };
    within(looking).await;
    let said = text(
        process
            .run("job_stop", with_job("A3", json!({"job": "J1"})))
            .await,
    );
    assert_eq!(said, "J1 is over: ended on demand.");
    assert!(
        process
            .facts()
            .contains(&"J1 ended: ended on demand".to_owned())
    );
    process.boxes.close(bench.run, Closing::Over).await;
    bench.clear().await;
}

async fn a_program_calls_tools_and_long_results_lie_in_files(bench: Bench) {
    let process = bench.process();
    let code = "import json, tools\n\
        print(sum(int(tools.call('lab.double', n=n)['ok']) for n in range(20)))\n\
        file = tools.call('lab.long')['file']\n\
        print(file['bytes'], len(json.load(open(file['path']))[0]))\n\
        print(tools.call('lab.other')['error']['class'])";
    let arguments = json!({"code": code, "intent": "a test"});
    let said = process.text("run_code", "A1", arguments).await;
    assert!(
        said.starts_with("380\n100004 100000\nnot_permitted\n[exit status 0"),
        "{said}"
    );
    let facts = process.facts();
    assert_eq!(facts.len(), 23, "{facts:?}");
    assert_eq!(facts[20], "20: lab.double {\"n\":19}");
    process.boxes.close(bench.run, Closing::Over).await;
    bench.clear().await;
}

async fn a_check_runs_on_a_copy_that_it_can_only_read(bench: Bench) {
    std::fs::write(bench.workspace().join("in"), "seen").expect("ours");
    let process = bench.process();
    let spec = process.station.spec().clone();
    let check = |line: &'static str| {
        let cancel = CancellationToken::new();
        process.boxes.check(bench.run, "c1", &spec, line, cancel)
    };
    let ended = within(check("cat in; touch new")).await.expect("it ends");
    assert_ne!(ended.status, Some(0));
    assert!(ended.output.starts_with("seen"), "{}", ended.output);
    let ended = within(check("grep -q seen in")).await.expect("it ends");
    assert_eq!(ended.status, Some(0));
    assert!(!bench.workspace().join("new").exists());
    bench.clear().await;
}

on_all_benches!(
    a_command_gives_its_output_and_its_status_and_is_on_record_first,
    a_program_in_python_runs_with_the_workspace_at_hand,
    a_command_outlives_its_process_and_is_found_again_whole,
    a_command_that_ended_meanwhile_is_read_from_its_receipt,
    what_the_same_life_does_not_know_never_ran_and_another_life_is_in_doubt,
    a_cancelled_command_ends_with_all_that_it_started,
    a_job_goes_on_beside_the_steps_and_is_ended,
    a_check_runs_on_a_copy_that_it_can_only_read,
    a_program_calls_tools_and_long_results_lie_in_files,
);
