//! What servers may do over standard input and output, and what they should not.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{call, run, run_with, text_of, wait_until};
use async_trait::async_trait;
use longrein_mcp::{FlagKind, Limits, McpError, McpServer, ProcessConfig, Reach, ServerConfig};
use longrein_protocol::ToolErrorClass;
use longrein_protocol::agent::ToolSettings;
use longrein_runtime::ports::{
    Answer, CancellationToken, Part, Person, Question, RefusedQuestion, Reply, ToolError,
    ToolOutput, Wants,
};
use serde_json::{Map, Value, json};

/// How long a test waits for what should come at once.
const SOON: Duration = Duration::from_secs(30);

struct Scripted {
    folder: tempfile::TempDir,
    config: ServerConfig,
}

impl Scripted {
    fn new(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = vec![
            env!("CARGO_BIN_EXE_scripted-server").to_owned(),
            folder.path().to_str().unwrap().to_owned(),
        ];
        command.extend(options.iter().map(|&option| option.to_owned()));
        let config = ServerConfig {
            name: "s".to_owned(),
            reach: Reach::Process(ProcessConfig {
                command,
                env: BTreeMap::new(),
                groups_file: folder.path().join("1.groups"),
                hidden: Vec::new(),
            }),
            trusted: false,
            workspace: folder.path().to_owned(),
            limits: Limits::default(),
        };
        Self { folder, config }
    }

    async fn start(&self) -> McpServer {
        McpServer::start(self.config.clone()).await.unwrap()
    }

    fn notes(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("notes")).unwrap_or_default()
    }
}

#[tokio::test]
async fn a_sign_of_life_keeps_a_long_call_alive_and_silence_ends_it() {
    let mut scripted = Scripted::new(&[]);
    scripted.config.limits.call_idle = Duration::from_millis(1_500);
    let server = scripted.start().await;
    let told = json!({"steps": 6, "ms": 500, "tells": true});
    assert_eq!(
        text_of(&run(&server, "s.slow", told).await.unwrap()),
        "done"
    );
    let silent = json!({"steps": 6, "ms": 500, "tells": false});
    let error = run(&server, "s.slow", silent).await.unwrap_err();
    assert_eq!(
        (error.class, error.uncertain),
        (ToolErrorClass::Temporary, true)
    );
    assert_eq!(error.message, "s.slow did not answer within 1.5 s.");
}

#[tokio::test]
async fn the_server_is_told_when_nobody_waits_for_a_call_any_more() {
    for by_limit in [false, true] {
        let scripted = Scripted::new(&[]);
        let server = scripted.start().await;
        let cancel = CancellationToken::new();
        let settings = BTreeMap::from([(
            "s.forever".to_owned(),
            ToolSettings {
                timeout_seconds: by_limit.then_some(1),
                ..ToolSettings::default()
            },
        )]);
        let calling = run_with(
            &server,
            &settings,
            "s.forever",
            call(json!({}), cancel.clone()),
        );
        let stop = async {
            wait_until(|| scripted.notes().contains("called")).await;
            if !by_limit {
                cancel.cancel();
            }
        };
        let (result, ()) = tokio::join!(calling, stop);
        assert!(result.unwrap_err().uncertain);
        wait_until(|| scripted.notes().contains("cancelled")).await;
    }
}

#[tokio::test]
async fn a_huge_result_is_refused_and_the_next_call_reaches_the_server_again() {
    let scripted = Scripted::new(&[]);
    let server = scripted.start().await;
    let huge = json!({"bytes": 50_000_000});
    let error = run(&server, "s.huge", huge).await.unwrap_err();
    assert!(error.uncertain);
    assert!(
        error
            .message
            .contains("it sent a line longer than 16777215 bytes"),
        "{}",
        error.message
    );
    let output = run(&server, "s.huge", json!({"bytes": 2_000_000})).await;
    assert_eq!(text_of(&output.unwrap()).len(), 2_000_000);
}

#[tokio::test]
async fn a_flood_on_standard_error_blocks_nothing_and_its_last_64_kib_are_kept() {
    let scripted = Scripted::new(&[]);
    let server = scripted.start().await;
    let flood = run(&server, "s.flood", json!({"kib": 4_096}));
    let output = tokio::time::timeout(SOON, flood).await.unwrap().unwrap();
    assert_eq!(text_of(&output), "flooded");
    wait_until(|| server.last_words().unwrap().len() == 64 * 1024).await;
    assert!(server.memory_bytes().unwrap() > 100_000);
}

#[tokio::test]
async fn pictures_are_parts_and_links_are_words() {
    let scripted = Scripted::new(&[]);
    let server = scripted.start().await;
    let output = run(&server, "s.picture", json!({})).await.unwrap();
    let [Part::Text(text), Part::Media(media)] = output.parts.as_slice() else {
        panic!("a text and a picture expected: {:?}", output.parts);
    };
    assert_eq!(text, "a point\n[resource One: note:one]");
    assert_eq!(
        (media.media_type, media.width, media.height),
        ("image/png", Some(1), Some(1))
    );
}

#[tokio::test]
async fn a_structured_result_that_is_not_as_said_is_shown_with_a_word() {
    let scripted = Scripted::new(&[]);
    let server = scripted.start().await;
    let good = run(&server, "s.structured", json!({"sum": 3})).await;
    assert_eq!(text_of(&good.unwrap()), "{\"sum\":3}");
    let bad = run(&server, "s.structured", json!({"sum": "three"})).await;
    let bad = bad.unwrap();
    assert!(
        text_of(&bad).starts_with(
            "[the structured result is not what this tool says its results are: at “/sum”"
        ),
        "{}",
        text_of(&bad)
    );
    assert!(text_of(&bad).ends_with("{\"sum\":\"three\"}"));
}

#[tokio::test]
async fn a_server_learns_its_root_and_gets_no_model() {
    let scripted = Scripted::new(&[]);
    let server = scripted.start().await;
    let roots = run(&server, "s.roots", json!({})).await.unwrap();
    let workspace = scripted.folder.path().to_str().unwrap();
    assert!(text_of(&roots).contains(&format!("file://{workspace}")));
    let sampled = run(&server, "s.sample", json!({})).await.unwrap();
    assert!(text_of(&sampled).contains("lends no model to servers"));
}

#[tokio::test]
async fn resources_are_tools_and_prompts_are_listed() {
    let scripted = Scripted::new(&[]);
    let server = scripted.start().await;
    let listed = run(&server, "s.list_resources", json!({})).await.unwrap();
    assert_eq!(
        text_of(&listed),
        "{\"name\":\"One\",\"type\":\"text/plain\",\"uri\":\"note:one\"}"
    );
    let read = run(&server, "s.read_resource", json!({"uri": "note:one"})).await;
    let read = read.unwrap();
    assert_eq!(text_of(&read), "what the note says");
    assert_eq!(read.place.as_deref(), Some("note:one"));
    let prompts = server.prompts().await.unwrap();
    assert_eq!(prompts.len(), 1);
    assert_eq!(
        (prompts[0].name.as_str(), prompts[0].arguments.as_slice()),
        ("greet", ["who".to_owned()].as_slice())
    );
}

/// Answers every question the same and remembers them.
struct Plays {
    answer: Answer,
    /// How long they take.
    takes: Duration,
    asked: Mutex<Vec<Question>>,
    refused: Mutex<Vec<RefusedQuestion>>,
}

#[async_trait]
impl Person for Plays {
    async fn ask(&self, question: Question) -> Answer {
        self.asked.lock().unwrap().push(question);
        tokio::time::sleep(self.takes).await;
        self.answer.clone()
    }

    async fn told_of(&self, refused: RefusedQuestion) {
        self.refused.lock().unwrap().push(refused);
    }
}

/// Calls a tool for this person.
async fn run_for(
    person: &Arc<Plays>,
    server: &McpServer,
    tool: &str,
    arguments: Value,
) -> Result<ToolOutput, ToolError> {
    let mut call = call(arguments, CancellationToken::new());
    call.person = person.clone();
    run_with(server, &BTreeMap::new(), tool, call).await
}

fn plays(answer: Reply) -> Arc<Plays> {
    Arc::new(Plays {
        answer: Answer::Reply(answer),
        takes: Duration::ZERO,
        asked: Mutex::default(),
        refused: Mutex::default(),
    })
}

#[tokio::test]
async fn questions_reach_the_person_by_both_handshakes() {
    for handshake in [&[][..], &["--modern"][..]] {
        let scripted = Scripted::new(handshake);
        let mut values = Map::new();
        values.insert("city".to_owned(), "Bern".into());
        let person = plays(Reply::Given { values });
        let server = scripted.start().await;
        let output = run_for(&person, &server, "s.ask", json!({})).await.unwrap();
        assert_eq!(text_of(&output), "\"accept\" {\"city\":\"Bern\"}");
        let page = json!({"url": "https://pay.example/1"});
        let output = run_for(&person, &server, "s.ask_page", page).await.unwrap();
        assert_eq!(text_of(&output), "\"accept\" null");
        let asked = person.asked.lock().unwrap();
        assert_eq!(asked.len(), 2);
        assert!(matches!(&asked[1].wants, Wants::Visit { host, .. } if host == "pay.example"));
    }
}

#[tokio::test]
async fn a_form_for_a_secret_never_reaches_the_person() {
    for handshake in [&[][..], &["--modern"][..]] {
        let scripted = Scripted::new(handshake);
        let person = plays(Reply::Given { values: Map::new() });
        let server = scripted.start().await;
        let asked = json!({"field": "password"});
        let output = run_for(&person, &server, "s.ask", asked).await.unwrap();
        assert_eq!(text_of(&output), "\"decline\" null");
        let page = json!({"url": "http://bank.example@evil.example/"});
        let output = run_for(&person, &server, "s.ask_page", page).await.unwrap();
        assert_eq!(text_of(&output), "\"decline\" null");
        assert!(person.asked.lock().unwrap().is_empty());
        let refused = person.refused.lock().unwrap();
        let why: Vec<bool> = [
            ("It asks for a secret (“password”)", 0),
            ("It asks to open an address", 1),
        ]
        .iter()
        .map(|(words, place): &(&str, usize)| refused[*place].why.starts_with(words))
        .collect();
        assert_eq!(why, [true, true], "{refused:?}");
    }
}

#[tokio::test]
async fn what_the_person_takes_to_answer_counts_against_no_limit() {
    for handshake in [&[][..], &["--modern"][..]] {
        let mut scripted = Scripted::new(handshake);
        scripted.config.limits.call_idle = Duration::from_secs(1);
        scripted.config.limits.call_total = Duration::from_secs(1);
        let person = Arc::new(Plays {
            answer: Answer::Reply(Reply::Declined),
            takes: Duration::from_millis(2_500),
            asked: Mutex::default(),
            refused: Mutex::default(),
        });
        let server = scripted.start().await;
        let output = run_for(&person, &server, "s.ask", json!({})).await.unwrap();
        assert_eq!(text_of(&output), "\"decline\" null");
    }
}

#[tokio::test]
async fn the_person_is_told_that_a_server_wanted_a_model() {
    let scripted = Scripted::new(&[]);
    let person = plays(Reply::Declined);
    let server = scripted.start().await;
    run_for(&person, &server, "s.sample", json!({}))
        .await
        .unwrap();
    let refused = person.refused.lock().unwrap();
    assert!(
        refused[0]
            .why
            .starts_with("It asked for the answer of a model")
    );
}

#[tokio::test]
async fn a_tool_that_changes_under_a_run_is_not_called_as_what_it_was() {
    let scripted = Scripted::new(&[]);
    let server = scripted.start().await;
    let before = server.definitions();
    let tools = server.tools(&BTreeMap::new());
    let old = tools
        .iter()
        .find(|tool| tool.spec().name == "s.structured")
        .unwrap();
    run(&server, "s.change", json!({})).await.unwrap();
    wait_until(|| server.definitions() != before).await;
    let arguments: Value = json!({"sum": 1});
    let error = old
        .run(call(arguments.clone(), CancellationToken::new()))
        .await
        .unwrap_err();
    assert_eq!(
        (error.class, error.uncertain),
        (ToolErrorClass::Conflict, false)
    );
    // Opened anew, it is called as what it is.
    run(&server, "s.structured", arguments).await.unwrap();
}

#[tokio::test]
async fn a_hostile_list_loses_what_can_not_be_used_and_flags_what_is_odd() {
    let scripted = Scripted::new(&["--hostile"]);
    let starting = scripted.start();
    let server = tokio::time::timeout(SOON, starting).await.unwrap();
    let lost: Vec<String> = server
        .problems()
        .iter()
        .map(|problem| problem.tool.clone())
        .collect();
    assert_eq!(
        lost,
        [
            "malformed",
            "nameless_type",
            "bomb",
            "circle",
            "deep",
            "elsewhere"
        ]
    );
    let kinds: Vec<FlagKind> = server
        .flags()
        .iter()
        .filter(|flag| flag.tool == "poison")
        .map(|flag| flag.kind)
        .collect();
    assert_eq!(
        kinds,
        [
            FlagKind::HiddenCharacters,
            FlagKind::Instructions,
            FlagKind::SecretPlace
        ]
    );
    run(&server, "s.structured", json!({"sum": 1}))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_server_that_never_speaks_is_given_up_in_time() {
    let mut scripted = Scripted::new(&["--silent"]);
    scripted.config.limits.start = Duration::from_millis(300);
    let started = McpServer::start(scripted.config.clone()).await;
    assert!(matches!(started.err().unwrap(), McpError::Silent { .. }));
}

#[tokio::test]
async fn a_confined_server_does_not_see_what_is_hidden() {
    let scripted = Scripted::new(&[]);
    let data = tempfile::tempdir().unwrap();
    std::fs::write(data.path().join("config.toml"), "mine").unwrap();
    let mut config = scripted.config.clone();
    let seen = scripted.folder.path().join("seen");
    let script = "ls \"$1\" > \"$2\"; exit 0";
    config.reach = Reach::Process(ProcessConfig {
        command: [
            "sh",
            "-c",
            script,
            "sh",
            data.path().to_str().unwrap(),
            seen.to_str().unwrap(),
        ]
        .map(str::to_owned)
        .into(),
        env: BTreeMap::new(),
        groups_file: scripted.folder.path().join("2.groups"),
        hidden: vec![data.path().to_owned()],
    });
    let _ = McpServer::start(config).await;
    let seen = std::fs::read_to_string(seen).unwrap();
    match longrein_mcp::Confinement::offered() {
        longrein_mcp::Confinement::Bubblewrap(_) => assert_eq!(seen, ""),
        longrein_mcp::Confinement::None(why) => assert!(!why.is_empty()),
    }
}
