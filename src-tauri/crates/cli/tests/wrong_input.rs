//! Wrong input: one clear sentence with a remedy, the right status, nothing lost.

use longrein_testkit::provider::Setup;

use crate::support::{Home, NO_ENGINE, Outcome, Provider, config, sandbox};

/// Checks that a failure is told in few words that name these.
fn assert_clear(outcome: &Outcome, status: i32, words: &[&str]) {
    assert_eq!(outcome.status, status, "{outcome}");
    for words in words {
        assert!(
            outcome.err.contains(words) || outcome.out.contains(words),
            "{words}: {outcome}"
        );
    }
    assert!(!outcome.err.contains("panicked"), "{outcome}");
}

#[test]
fn an_unknown_agent_is_named_with_the_nearest_one() {
    let home = Home::new();
    let run = home.run(&["run", "reserch", "A question"]);
    assert_clear(
        &run,
        2,
        &["There is no agent “reserch”.", "Did you mean “research”?"],
    );
    assert!(home.runs().is_empty(), "nothing was begun");
}

#[test]
fn a_broken_agent_file_is_told_with_every_mistake_and_its_place() {
    let home = Home::new();
    let file = home.write(
        "bad.agent.toml",
        "name = \"bad\"\n[budget]\nstep = 3\n[model]\nuse = 4\n",
    );
    let run = home.run(&["run", &file, "A question"]);
    assert_clear(&run, 2, &["line 3", "steps", "line 5"]);
    let checked = home.run(&["agent", "check", &file]);
    assert_clear(&checked, 2, &["bad.agent.toml:3:1", "bad.agent.toml:5:"]);
    let syntax = home.write("worse.agent.toml", "name = \n");
    assert_clear(
        &home.run(&["run", &syntax, "A question"]),
        2,
        &["worse.agent.toml, line 1"],
    );
}

#[test]
fn a_good_agent_file_is_printed_with_its_defaults() {
    let home = Home::new();
    let file = home.write("good.agent.toml", "name = \"good\"\n");
    let checked = home.run(&["agent", "check", &file]);
    assert_clear(&checked, 0, &["name = \"good\"", "[budget]", "steps = 80"]);
    let again = home.write("again.agent.toml", &checked.out);
    assert_eq!(home.run(&["agent", "check", &again]).out, checked.out);
}

#[test]
fn a_library_that_can_not_be_read_is_named() {
    let home = Home::new();
    let missing = home.run(&["demo", "--library", "not/there"]);
    assert_clear(&missing, 2, &["not/there"]);
    let file = home.write("a-file", "");
    let run = home.run(&["demo", "--library", &file]);
    assert_clear(&run, 2, &["a-file"]);
    let own = home.run(&["demo", "--library", "data"]);
    assert_clear(&own, 2, &["Longrein's own data"]);
    assert!(home.runs().is_empty(), "nothing was begun");
}

#[test]
fn a_refused_connection_hands_the_run_off_and_it_goes_on_when_the_server_is_there() {
    let home = Home::new();
    // A port that was free a moment ago, and that nobody listens on.
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let base_url = format!("http://127.0.0.1:{port}/v1");
    home.configure(&config(&base_url));
    home.write(
        "notes/a.md",
        "# Kettles\n\nThe copper kettle boils a litre in 212 seconds.\n",
    );
    let words = [
        "run",
        "research",
        "How fast does the copper kettle boil a litre?",
        "--library",
        "notes",
    ];
    let run = home.run(&words);
    assert_clear(&run, 3, &[&base_url, "longrein resume"]);
    assert_eq!(home.runs()[0]["state"], "handed_off");

    let mut setup = Setup::demo();
    setup.port = port;
    let _provider = Provider::start(setup);
    let resumed = home.run(&["resume", &run.run_id()]);
    assert_eq!(resumed.status, 0, "{resumed}");
    home.assert_whole();
}

#[test]
fn a_refused_key_hands_the_run_off_and_it_goes_on_with_the_right_one() {
    let mut setup = Setup::demo();
    setup.key = Some("the-right-one".to_owned());
    let provider = Provider::start(setup);
    let home = Home::with(&provider);
    home.write(
        "notes/a.md",
        "# Kettles\n\nThe copper kettle boils a litre in 212 seconds.\n",
    );
    let words = [
        "run",
        "research",
        "How fast does the copper kettle boil a litre?",
        "--library",
        "notes",
    ];
    let run = home.run(&words);
    assert_clear(
        &run,
        3,
        &["answered 401", "key of provider local", "longrein resume"],
    );
    let mut resume = home.command(&["resume", &run.run_id()]);
    resume.env("LONGREIN_LOCAL_API_KEY", "the-right-one");
    let resumed = crate::support::Running::start(resume).outcome();
    assert_eq!(resumed.status, 0, "{resumed}");
    let file = std::fs::read(home.database()).unwrap();
    let key = b"the-right-one";
    assert!(
        !file.windows(key.len()).any(|window| window == key),
        "the key is in the log"
    );
}

#[test]
fn an_unknown_provider_and_a_model_without_one_are_usage() {
    let home = Home::new();
    let run = home.run(&["run", "research", "A question", "--model", "nobody/any"]);
    assert_clear(
        &run,
        2,
        &["There is no provider nobody.", "[providers.nobody]"],
    );
    let run = home.run(&["run", "research", "A question", "--model", "any"]);
    assert_clear(&run, 2, &["provider/model"]);
    let run = home.run(&["run", "research", "   "]);
    assert_clear(&run, 2, &["The question is empty."]);
    assert!(home.runs().is_empty(), "nothing was begun");
}

#[test]
fn a_data_folder_that_can_not_be_written_is_named() {
    let home = Home::new();
    let file = home.write("a-file", "");
    let data = std::path::Path::new(&file).join("data");
    let run = crate::support::Running::start(home.command_on(&data, &["demo"])).outcome();
    assert_clear(&run, 1, &["a-file", "--data-dir"]);
}

#[test]
fn a_broken_configuration_is_told_with_its_line_and_left_as_it_is() {
    let home = Home::new();
    let broken = "[providers.local]\nformat = \"openai-chat\"\nbase_ur = \"x\"\n";
    home.configure(broken);
    for words in [
        &["run", "research", "A question", "--model", "local/any"][..],
        &["models"],
        &["models", "local"],
    ] {
        assert_clear(&home.run(words), 2, &["line 3", "base_url"]);
    }
    assert_eq!(home.run(&["demo"]).status, 0, "what needs none goes on");
    assert_eq!(
        std::fs::read_to_string(home.data().join("config.toml")).unwrap(),
        broken
    );
}

#[test]
fn things_that_are_not_there_are_named() {
    let home = Home::new();
    assert_clear(
        &home.run(&["show", "01ABC"]),
        2,
        &["There is no run 01ABC.", "longrein runs"],
    );
    assert_clear(
        &home.run(&["approve", "axyz"]),
        2,
        &["There is no action axyz."],
    );
    assert_clear(
        &home.run(&["models", "nobody"]),
        2,
        &["There is no provider nobody."],
    );
    assert_clear(&home.run(&["frobnicate"]), 2, &["frobnicate"]);
}

#[test]
fn each_library_flag_takes_one_folder_so_that_it_may_stand_anywhere() {
    let home = Home::new();
    home.configure(&config("http://127.0.0.1:1/v1"));
    let notes = home.write("one/a.md", "# Kettles\n\nA kettle boils.\n");
    let other = home.write("two/b.md", "# Pots\n\nA pot boils too.\n");
    let folder = |file: &str| {
        let folder = std::path::Path::new(file).parent().unwrap();
        folder.to_string_lossy().into_owned()
    };
    let (one, two) = (folder(&notes), folder(&other));
    let words = [
        "run",
        "--library",
        &one,
        "--library",
        &two,
        "research",
        "What boils?",
    ];
    let run = home.run(&words);
    assert_eq!(run.status, 3, "{run}");
    let events = home.events(&run.run_id());
    let library = &events[0]["agent"]["library"]["folders"];
    assert_eq!(library, &serde_json::json!([one, two]));
}

#[test]
fn an_empty_variable_for_the_data_folder_counts_as_none() {
    let home = Home::new();
    let mut command = home.command(&["demo"]);
    command.env("LONGREIN_HOME", "");
    let demo = crate::support::Running::start(command).outcome();
    assert_eq!(demo.status, 0, "{demo}");
    let usual = home.path().join(".local/share/longrein/longrein.db");
    assert!(usual.exists(), "{demo}");
}

#[test]
fn a_server_that_doctor_found_is_not_called_checked() {
    let home = Home::new();
    home.configure("[mcp.any]\ncommand = [\"yes\"]\n");
    let doctor = home.run(&["doctor"]);
    assert_clear(&doctor, 0, &["yes is installed, not started"]);
}

#[test]
fn doctor_tells_of_a_broken_configuration_and_of_the_rest() {
    let home = Home::new();
    home.configure("[providers.local]\nformat = \"openai-chat\"\nbase_ur = \"x\"\n");
    let doctor = home.run(&["doctor"]);
    assert_clear(&doctor, 1, &["data folder", "configuration", "base_url"]);
}

#[test]
#[cfg(unix)]
fn workspaces_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    // A box works as somebody else, to whom the folder is opened.
    home.configure(&sandbox(NO_ENGINE));
    let run = home.run(&["demo"]).run_id();
    let work = home.path().join("data.work");
    for folder in [work.join(run), work] {
        let mode = folder.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{}", folder.display());
    }
}

#[test]
fn a_model_beside_the_steps_that_means_nothing_here_is_usage_before_anything_is_begun() {
    let home = Home::new();
    home.configure(&crate::support::config("http://127.0.0.1:9/v1"));
    for (lines, what) in [
        (
            "[context]\nsummary_model = \"nope/small\"\n",
            "writes the summaries",
        ),
        (
            "[tools]\nallow = [\"files\"]\n[[done_when]]\njudge = \"Is it fair?\"\nof = \"a.md\"\nmodel = \"nope/small\"\n",
            "judges",
        ),
    ] {
        let refused = home.run(&["run", &home.agent(lines), "Go."]);
        assert_clear(&refused, 2, &[what, "nope"]);
        assert!(home.run(&["runs", "--json"]).out.is_empty(), "{refused}");
    }
}
