//! Configurations with and without mistakes, keys, and edits.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use expect_test::{Expect, expect};
use longrein_protocol::event::Price;

use super::*;

fn problems(text: &str) -> String {
    let Checked { config, problems } = check(text);
    let usable = if config.is_some() { "usable\n" } else { "" };
    let lines: Vec<String> = problems
        .iter()
        .map(|problem| format!("{} | {problem}\n", problem.path))
        .collect();
    format!("{}{usable}", lines.concat())
}

fn told(text: &str, expected: Expect) {
    expected.assert_eq(&problems(text));
}

const WHOLE: &str = r#"# what belongs to this machine
[providers.local]
format = "openai-chat"     # speaks what most speak
base_url = "http://127.0.0.1:8080/v1/"

[providers.open-router]
format = "openai-chat"
base_url = "https://openrouter.ai/api/v1"
key = "env:ROUTER_KEY"

[mcp.counter]
command = ["python3", "counter.py", "marks.txt"]
env = { TOKEN = "env:COUNTER_TOKEN", LEVEL = "debug" }
trusted = true

[models."local/any"]
input_usd = 0.25
cached_usd = 0
output_usd = 1

[ui]
theme = "dark"
"#;

#[test]
fn a_whole_file_is_read() {
    let config = check(WHOLE).config.unwrap();
    let local = &config.providers["local"];
    assert_eq!(
        (local.base_url.as_str(), &local.key),
        ("http://127.0.0.1:8080/v1", &None)
    );
    assert_eq!(
        config.providers["open-router"].key,
        Some(SecretReference::Variable("ROUTER_KEY".to_owned()))
    );
    let counter = &config.mcp["counter"];
    assert_eq!(counter.command.len(), 3);
    assert!(counter.trusted);
    assert_eq!(
        counter.env["TOKEN"],
        EnvValue::Variable("COUNTER_TOKEN".to_owned())
    );
    assert_eq!(counter.env["LEVEL"], EnvValue::Plain("debug".to_owned()));
    assert_eq!(config.ui.theme, Theme::Dark);
    let price = Price {
        input: 250_000,
        cached: Some(0),
        output: 1_000_000,
    };
    let any = &config.models["local/any"];
    assert_eq!(any.price.map(|price| price.micro()), Some(price));
    assert_eq!((any.window_tokens, any.tool_mode), (None, None));
    assert_eq!(check("").config.unwrap(), Config::default());
}

#[test]
fn a_well_known_provider_needs_a_name_only() {
    let config = check(
        r#"
[providers.anthropic]
[providers.google]
key = "secret:lab.gemini"
[providers.openai]
format = "openai-chat"
[providers.ollama]
tool_mode = "schema"
[providers.work]
format = "anthropic"
[keys]
store = "file"
"#,
    );
    let config = config.config.unwrap();
    let read: Vec<String> = config
        .providers
        .iter()
        .map(|(name, provider)| {
            let (format, mode) = (provider.format.name(), provider.tool_mode.name());
            let key = provider.key.as_ref().map(SecretReference::written);
            let key = key.unwrap_or_else(|| "-".to_owned());
            format!("{name} {format} {mode} {} {key}", provider.base_url)
        })
        .collect();
    expect![[r#"
        anthropic anthropic native https://api.anthropic.com/v1 -
        google gemini native https://generativelanguage.googleapis.com/v1beta secret:lab.gemini
        ollama openai-chat schema http://127.0.0.1:11434/v1 -
        openai openai-chat native https://api.openai.com/v1 -
        work anthropic native https://api.anthropic.com/v1 -"#]]
    .assert_eq(&read.join("\n"));
    assert_eq!(config.keys.store, Some(Backend::File));
}

#[test]
fn what_is_said_of_a_model_is_read() {
    let config = check(
        r#"
[providers.local]
format = "openai-chat"
base_url = "http://127.0.0.1:8080/v1"
[models."local/small"]
window_tokens = 8192
max_output_tokens = 2_048
tools = false
images = true
thinking = false
tool_mode = "schema"
input_usd = 1
cache_write_usd = 1.25
output_usd = 2
"#,
    );
    let small = config.config.unwrap().models["local/small"];
    assert_eq!(
        (small.window_tokens, small.max_output_tokens),
        (Some(8_192), Some(2_048))
    );
    assert_eq!(
        (small.tools, small.images, small.thinking),
        (Some(false), Some(true), Some(false))
    );
    assert_eq!(small.tool_mode, Some(ToolMode::Schema));
    // What is read anew may be written to the cache, and a limit of money must hold.
    assert_eq!(
        small.price.map(|price| price.micro().input),
        Some(1_250_000)
    );
}

#[test]
fn mistakes_in_providers_are_told() {
    told(
        "[providers.local]",
        expect![[r#"
            providers.local.format | line 1, column 12: The provider local has no format. Write format = "openai-chat"; most servers speak it.
            providers.local.base_url | line 1, column 12: The provider local has no base_url. Write it like this: base_url = "http://127.0.0.1:8080/v1"
        "#]],
    );
    told(
        "[providers]\nlocal = \"http://x\"",
        expect![[r#"
        providers.local | line 2, column 9: providers.local must be a table, not a text. Write it like this: [providers.local]
    "#]],
    );
    told(
        "[provider.local]\nformat = \"openai-chat\"",
        expect![[r#"
        provider | line 1, column 2: There is no key “provider”. Did you mean “providers”?
    "#]],
    );
    told(
        r#"
[providers.demo]
format = "openai-chat"
base_url = "localhost:8080"
[providers."a b"]
[providers.old]
format = "anthropic"
base_url = "https://user:pass@host/v1"
tool_mode = "schema"
[providers.deepseek]
format = "anthropic"
[providers.new]
format = "openai_chat"
base_url = "https://host/v1?key=sk-12345"
baseurl = "x"
[providers.far]
format = "openai-chat"
base_url = "http://192.168.1.9/v1"
"#,
        expect![[r#"
            providers.demo | line 2, column 12: “demo” stands for the demonstration model. Choose another name.
            providers.demo.base_url | line 4, column 12: This is not an http or https address. Write it like this: base_url = "http://127.0.0.1:8080/v1"
            providers."a b" | line 5, column 12: “a b” can't be the name of a provider. Use letters, digits, “-” and “_”, at most 40.
            providers.old.base_url | line 8, column 12: The address carries a name, a password or a query, which may be a secret. Give the plain address here and the key with: key = "secret:NAME"
            providers.old.tool_mode | line 9, column 13: tool_mode = "schema" does not go with format = "anthropic". Take it out: whatever speaks this format calls tools by itself.
            providers.deepseek.base_url | line 10, column 12: The provider deepseek has no base_url. Write it like this: base_url = "http://127.0.0.1:8080/v1"
            providers.new.format | line 13, column 10: providers.new.format can't be “openai_chat”. Did you mean “openai-chat”?
            providers.new.base_url | line 14, column 12: The address carries a name, a password or a query, which may be a secret. Give the plain address here and the key with: key = "secret:NAME"
            providers.new.baseurl | line 15, column 1: There is no key “baseurl”. Did you mean “base_url”?
            providers.far.base_url | line 18, column 12: Over http, questions and keys can be read on the way. Use https, or a server on this machine.
        "#]],
    );
}

#[test]
fn a_key_in_the_file_is_refused_and_never_repeated() {
    let text = r#"
[providers.openai]
format = "openai-chat"
base_url = "https://api.openai.com/v1"
key = "sk-very-secret"
[providers.kept]
format = "openai-chat"
base_url = "https://api.example.com/v1"
key = "secret:sk very secret"
[providers.odd]
format = "openai-chat"
base_url = "https://api.example.com/v1"
key = "env:sk very secret"
[mcp.counter]
command = ["counter"]
env = { TOKEN = "sk-very-secret", OTHER = "secret:very secret", "9" = "x", N = 3 }
"#;
    let told = problems(text);
    assert!(!told.contains("very"), "{told}");
    expect![[r#"
        providers.openai.key | line 5, column 7: A key must not stand in this file, which gets copied, shared and backed up. Take it out and keep it with: longrein keys set openai. Or set the variable LONGREIN_OPENAI_API_KEY, or write key = "env:NAME". If the file was shared, replace the key.
        providers.kept.key | line 9, column 7: What stands behind “secret:” is not the name of a secret. Use letters, digits, “-”, “_” and “.”, as in "secret:my-key".
        providers.odd.key | line 13, column 7: What stands behind “env:” is not the name of a variable. Use letters, digits and “_”, as in "env:MY_KEY".
        mcp.counter.env.TOKEN | line 16, column 17: A secret must not stand in this file, which gets copied, shared and backed up. Write TOKEN = "secret:TOKEN" and keep it with: longrein keys set TOKEN. Or write TOKEN = "env:TOKEN" and set the variable TOKEN.
        mcp.counter.env.OTHER | line 16, column 43: What stands behind “secret:” is not the name of a secret. Use letters, digits, “-”, “_” and “.”, as in "secret:my-key".
        mcp.counter.env.9 | line 16, column 65: “9” can't be the name of a variable. Use letters, digits and “_”.
        mcp.counter.env.N | line 16, column 80: The value of N must be a text. Write it like this: N = "env:N"
    "#]].assert_eq(&told);
}

#[test]
fn mistakes_in_servers_and_the_window_are_told() {
    told(
        r#"
[mcp.a]
[mcp.b]
command = "python3 server.py"
trusted = "yes"
[mcp.c]
command = []
[mcp.d]
url = "https://mcp.example.com"
headers = { "x-api-key" = "secret:d" }
[ui]
theme = "drak"
"#,
        expect![[r#"
            mcp.a.command | line 2, column 6: The server a has neither a command nor a url. Write one: command = ["python3", "server.py"], or url = "https://mcp.exa.ai/mcp".
            mcp.b.command | line 4, column 11: The command must be a list of texts, the program first. Write it like this: command = ["python3", "server.py"]
            mcp.b.trusted | line 5, column 11: mcp.b.trusted must be true or false, not a text. Write it like this: trusted = false
            mcp.c.command | line 7, column 11: The command must be a list of texts, the program first. Write it like this: command = ["python3", "server.py"]
            ui.theme | line 12, column 9: ui.theme can't be “drak”. Did you mean “dark”?
        "#]],
    );
    told(
        "theme = \"dark\"",
        expect![[r#"
        theme | line 1, column 1: There is no key “theme” here. Write it under [ui].
    "#]],
    );
}

#[test]
fn mistakes_in_prices_are_told() {
    told(
        r#"
[providers.local]
format = "openai-chat"
base_url = "http://127.0.0.1:8080/v1"
[models."local/a"]
input_usd = 1
[models."local/b"]
input_usd = -1
output_usd = "free"
price = 3
[models.local]
input_usd = 1
[models."demo/researcher"]
input_usd = 1
[models."locl/c"]
input_usd = 10_001
output_usd = nan
cached_usd = 1
window_tokens = 3
tool_mode = "schemer"
"#,
        expect![[r#"
            models."local/a".output_usd | line 5, column 9: The price of the model has no output_usd. Write what a million tokens cost in US dollars, as in output_usd = 1.5; 0 where it costs nothing.
            models."local/b".input_usd | line 8, column 13: models."local/b".input_usd can't be -1. Give a number from 0 to 10000.
            models."local/b".output_usd | line 9, column 14: models."local/b".output_usd must be a number, not a text. Write it like this: output_usd = 1.5
            models."local/b".price | line 10, column 1: There is no key “price”. Known are window_tokens, max_output_tokens, tools, images, thinking, tool_mode, input_usd, cached_usd, cache_write_usd and output_usd.
            models.local | line 11, column 9: “local” is not the name of a model. Write it in quotes, as in [models."local/any"].
            models."demo/researcher" | line 13, column 9: “demo” stands for the demonstration model, which costs nothing. Take it out.
            models."locl/c" | line 15, column 9: There is no provider “locl”, so this has no effect. Add [providers.locl], or take this out.
            models."locl/c".input_usd | line 16, column 13: models."locl/c".input_usd can't be 10001. Give a number from 0 to 10000.
            models."locl/c".output_usd | line 17, column 14: models."locl/c".output_usd can't be nan. Give a number from 0 to 10000.
            models."locl/c".window_tokens | line 19, column 17: models."locl/c".window_tokens can't be 3. Give a number from 16 to 100,000,000.
            models."locl/c".tool_mode | line 20, column 13: models."locl/c".tool_mode can't be “schemer”. Did you mean “schema”?
        "#]],
    );
    told(
        "input_usd = 1",
        expect![[r#"
        input_usd | line 1, column 1: There is no key “input_usd” here. Write it under [models."provider/model"].
    "#]],
    );
}

fn provider(key_variable: Option<&str>) -> ProviderConfig {
    ProviderConfig {
        format: Format::OpenAiChat,
        base_url: "http://127.0.0.1:1/v1".to_owned(),
        key: key_variable.map(|name| SecretReference::Variable(name.to_owned())),
        tool_mode: ToolMode::Native,
    }
}

#[test]
fn an_edit_changes_what_is_meant_and_keeps_comments() {
    let folder = tempfile::tempdir().unwrap();
    let file = path(folder.path());
    fs::write(&file, WHOLE).unwrap();
    let moved = ProviderConfig {
        base_url: "http://127.0.0.1:9/v1".to_owned(),
        ..provider(None)
    };
    let config = set_provider(folder.path(), "local", &moved).unwrap();
    assert_eq!(config.providers["local"].base_url, "http://127.0.0.1:9/v1");
    let expected = WHOLE.replace("http://127.0.0.1:8080/v1/", "http://127.0.0.1:9/v1");
    assert_eq!(fs::read_to_string(&file).unwrap(), expected);
    set_theme(folder.path(), Theme::Light).unwrap();
    remove_provider(folder.path(), "open-router").unwrap();
    remove_provider(folder.path(), "never-there").unwrap();
    let config = load(folder.path()).unwrap();
    assert_eq!((config.ui.theme, config.providers.len()), (Theme::Light, 1));
    assert!(
        fs::read_to_string(&file)
            .unwrap()
            .starts_with("# what belongs to this machine\n")
    );
}

#[test]
fn a_new_file_is_readable_for_its_owner_only_and_is_what_was_set() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(load(folder.path()).unwrap(), Config::default());
    set_theme(folder.path(), Theme::Dark).unwrap();
    set_provider(folder.path(), "openai", &provider(Some("MINE"))).unwrap();
    let file = path(folder.path());
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    expect![[r#"
        [ui]
        theme = "dark"

        [providers.openai]
        format = "openai-chat"
        base_url = "http://127.0.0.1:1/v1"
        key = "env:MINE"
    "#]]
    .assert_eq(&fs::read_to_string(&file).unwrap());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_file_with_a_mistake_is_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let file = path(folder.path());
    for broken in ["[ui\n", "[ui]\ntheme = 3\n", "# fine\nsurprise = true\n"] {
        fs::write(&file, broken).unwrap();
        assert!(load(folder.path()).is_err());
        let error = set_theme(folder.path(), Theme::Dark).unwrap_err();
        assert!(
            error.message.starts_with("config.toml was not changed"),
            "{}",
            error.message
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), broken);
    }
    fs::write(&file, [0xff, 0xfe]).unwrap();
    let problems = load(folder.path()).unwrap_err();
    assert_eq!(problems[0].remedy, "Save it as UTF-8 text.");
    assert!(set_theme(folder.path(), Theme::Dark).is_err());
    assert_eq!(fs::read(&file).unwrap(), [0xff, 0xfe]);
}

#[test]
fn a_provider_that_would_be_a_mistake_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = ProviderConfig {
        base_url: "ftp://host".to_owned(),
        ..provider(None)
    };
    let error = set_provider(folder.path(), "local", &wrong).unwrap_err();
    assert!(
        error
            .message
            .ends_with("This is not an http or https address."),
        "{}",
        error.message
    );
    assert!(set_provider(folder.path(), "no name", &provider(None)).is_err());
    assert!(!path(folder.path()).exists());
}

#[test]
fn several_mistakes_are_one_failure_that_names_each() {
    let error = as_error(&check("[ui]\ntheme = \"drak\"\nsize = 3").problems);
    expect![[r#"
        config.toml has 2 mistakes:
          line 2, column 9: ui.theme can't be “drak”. Did you mean “dark”?
          line 3, column 1: There is no key “size”. Known is theme.
        Correct them in the data folder; nothing was changed."#]]
    .assert_eq(&format!("{}\n{}", error.message, error.remedy));
}
