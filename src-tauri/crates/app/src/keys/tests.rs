use expect_test::{Expect, expect};
use longrein_keys::{Found, Source};
use tempfile::TempDir;

use super::*;
use crate::config::check;

const KEY: &str = "sk-0123456789wxyz";
const CONFIG: &str = r#"
[providers.openai]

[providers.local]
format = "openai-chat"
base_url = "http://127.0.0.1:1/v1"

[providers.mine]
format = "openai-chat"
base_url = "http://127.0.0.1:1/v1"
key = "env:MINE"

[providers.team]
format = "openai-chat"
base_url = "http://127.0.0.1:1/v1"
key = "secret:team-key"

[mcp.lab]
command = ["lab"]
env = { TOKEN = "secret:lab-token", LEVEL = "debug" }

[mcp.shop]
command = ["shop"]
env = { TOKEN = "env:SHOP_TOKEN" }
"#;

/// Keys of a folder of their own, kept in this place, where these variables are set.
fn keys(store: &str, set: &'static [(&'static str, &'static str)]) -> (TempDir, Keys) {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{CONFIG}\n[keys]\nstore = \"{store}\"\n");
    std::fs::write(folder.path().join(crate::config::FILE_NAME), &text).unwrap();
    let keys = Keys::with(
        folder.path(),
        Current::new(check(&text).config.unwrap()),
        Known::default(),
        passphrase::Given::in_file(None),
        Box::new(|wanted| {
            let found = set.iter().find(|(name, _)| *name == wanted);
            found.map(|(_, value)| (*value).to_owned())
        }),
    );
    (folder, keys)
}

async fn shown(keys: &Keys) -> String {
    let found = |found: &Option<Found>| match found {
        Some(Found { source, last4 }) => format!("{source:?} {}", last4.as_deref().unwrap_or("?")),
        None => "-".to_owned(),
    };
    let list = keys.list().await;
    let lines = list.keys.iter().map(|line| {
        let problem = line.problem.as_ref().map_or("", |it| it.message.as_str());
        let can = [
            (line.can_set, "set"),
            (line.can_remove, "remove"),
            (line.can_test, "test"),
        ];
        let can: Vec<&str> = can
            .iter()
            .filter(|(can, _)| *can)
            .map(|(_, it)| *it)
            .collect();
        let problem = if problem.is_empty() { "-" } else { problem };
        format!(
            "{} {:?} | {} | {} | {} | {problem}\n",
            line.name,
            line.used_by,
            found(&line.found),
            found(&line.overridden),
            can.join(" "),
        )
    });
    format!("{:?} {:?}\n", list.place.standing, list.kept) + &lines.collect::<String>()
}

async fn check_list(keys: &Keys, expected: Expect) {
    expected.assert_eq(&shown(keys).await);
}

#[tokio::test]
async fn every_key_is_listed_with_where_it_comes_from_and_what_it_overrides() {
    let (_folder, keys) = keys("memory", &[("OPENAI_API_KEY", KEY), ("MINE", "short-key")]);
    check_list(
        &keys,
        expect![[r#"
            Some(Ready) Some(0)
            local Provider | - | - | set | -
            mine Provider | Environment("MINE") ? | - | test | -
            openai Provider | Environment("OPENAI_API_KEY") wxyz | - | test | -
            team Provider | - | - | set | The key of provider team is not there: no secret is named team-key.
            lab-token Servers(["lab"]) | - | - | set | No secret is named lab-token.
        "#]],
    )
    .await;
    for (name, text) in [
        ("openai", "sk-abcdefghijkl"),
        ("team", "key-of-the-team"),
        ("lab-token", "token of the lab"),
        ("left-over", "1234567890ab"),
    ] {
        keys.set(name, text).await.unwrap();
    }
    check_list(
        &keys,
        expect![[r#"
            Some(Ready) Some(4)
            local Provider | - | - | set | -
            mine Provider | Environment("MINE") ? | - | test | -
            openai Provider | Environment("OPENAI_API_KEY") wxyz | Memory ijkl | remove test | -
            team Provider | Memory team | - | set remove test | -
            lab-token Servers(["lab"]) | Memory  lab | - | set remove | -
            left-over Nothing | Memory 90ab | - | set remove | -
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_key_is_checked_before_it_is_kept_and_what_is_odd_is_said() {
    let (_folder, keys) = keys("memory", &[]);
    let refused = |name: &'static str, text: &'static str| {
        let keys = keys.clone();
        async move {
            let error = keys.set(name, text).await.unwrap_err();
            format!("{} {}", error.message, error.remedy)
        }
    };
    expect!["The secret local can't be kept. It has a space in it. Copy the key alone, without a name or a word before it."]
        .assert_eq(&refused("local", "Bearer sk-12345678").await);
    expect!["The key of provider mine comes from the variable MINE alone, as config.toml says. Take key out of [providers.mine] first; then it can be kept here."]
        .assert_eq(&refused("mine", KEY).await);
    let kept = keys.set("openai", "sk-ant-0123456789").await.unwrap();
    assert_eq!(kept.notes, ["This looks like a key of Anthropic."]);
    assert!(!kept.replaced);
    assert!(keys.set("openai", KEY).await.unwrap().replaced);
    assert_eq!(
        keys.set("team", KEY).await.unwrap().name.as_str(),
        "team-key"
    );
    assert!(keys.remove("team").await.unwrap());
    assert!(!keys.remove("team").await.unwrap());
}

#[tokio::test]
async fn whatever_was_typed_as_a_key_is_masked_even_if_it_was_refused() {
    let (_folder, keys) = keys("memory", &[]);
    keys.set("local", "Bearer sk-12345678").await.unwrap_err();
    let mut text = "it was Bearer sk-12345678 there".to_owned();
    assert!(keys.masker().text(&mut text));
    assert_eq!(text, "it was ****************** there");
}

#[tokio::test]
async fn a_server_is_given_what_it_was_granted_or_is_not_started() {
    let (_folder, keys) = keys("memory", &[("SHOP_TOKEN", "token-of-the-shop")]);
    let config = keys.inner.config.get();
    let granted = async |server: &str| {
        let granted = keys.of_server(server, &config.mcp[server]).await;
        granted.map_err(|error| format!("{} {}", error.message, error.remedy))
    };
    expect!["TOKEN of the server lab is to be the secret lab-token, which is not there. Keep it with: longrein keys set lab-token. Or take TOKEN out of env in [mcp.lab]."]
        .assert_eq(&granted("lab").await.unwrap_err());
    keys.set("lab-token", "token-of-the-lab").await.unwrap();
    assert_eq!(granted("lab").await.unwrap()["TOKEN"], "token-of-the-lab");
    assert_eq!(granted("lab").await.unwrap()["LEVEL"], "debug");
    assert_eq!(granted("shop").await.unwrap()["TOKEN"], "token-of-the-shop");
    let mut said = "token-of-the-lab, token-of-the-shop, debug".to_owned();
    keys.masker().text(&mut said);
    assert_eq!(said, "****************, *****************, debug");
}

#[tokio::test]
async fn secrets_are_taken_along_to_another_place_and_the_choice_is_written_down() {
    let (folder, keys) = keys("memory", &[]);
    keys.set("openai", KEY).await.unwrap();
    let phrase = || Some(Passphrase::new("four words of it"));
    let closed = keys.choose(Backend::File, None, true).await.unwrap_err();
    assert_eq!(closed.code, AppErrorCode::Locked);
    assert_eq!(keys.backend(), Backend::Memory);
    let moved = keys.choose(Backend::File, phrase(), true).await.unwrap();
    assert_eq!(moved.moved, [SecretName::new("openai").unwrap()]);
    assert!(moved.left_behind.is_empty());
    let config = std::fs::read_to_string(folder.path().join("config.toml")).unwrap();
    assert!(config.contains("store = \"file\""), "{config}");
    let found = keys.list().await.keys[2].found.clone();
    assert_eq!(found.map(|found| found.source), Some(Source::File));
    // Another process has to open it first.
    let place = keys.place().await;
    assert!(place.file_exists && place.standing == Some(Standing::Ready));
    keys.lock().await.unwrap();
    assert!(keys.asks_for_passphrase(Some("openai")).await);
    let wrong = keys.unlock(Some(Passphrase::new("other words"))).await;
    assert!(wrong.unwrap_err().message.contains("does not open"));
    keys.unlock(phrase()).await.unwrap();
    assert!(!keys.asks_for_passphrase(Some("openai")).await);
}

#[tokio::test]
async fn the_passphrase_is_changed_only_by_who_knows_it() {
    let (_folder, keys) = keys("file", &[]);
    let phrase = Passphrase::new;
    keys.begin(phrase("four words of it")).await.unwrap();
    let refused = keys
        .change_passphrase(phrase("not this one"), phrase("something else"))
        .await;
    assert!(refused.is_err());
    keys.change_passphrase(phrase("four words of it"), phrase("something else"))
        .await
        .unwrap();
    keys.lock().await.unwrap();
    keys.unlock(Some(phrase("something else"))).await.unwrap();
}

#[tokio::test]
async fn a_service_opens_the_file_with_the_passphrase_that_its_environment_gives() {
    let (folder, keys) = keys("file", &[]);
    let file = folder.path().join("passphrase");
    std::fs::write(&file, "four words of it\n").unwrap();
    let service = || {
        Keys::with(
            folder.path(),
            keys.inner.config.clone(),
            Known::default(),
            passphrase::Given::in_file(Some(file.clone())),
            Box::new(|_| None),
        )
    };
    // The first key makes the file.
    service().set("openai", KEY).await.unwrap();
    let config = keys.inner.config.get();
    let other = service();
    let found = other.of_provider("openai", &config.providers["openai"]);
    assert_eq!(found.await.unwrap().unwrap().secret.expose(), KEY);
    let closed = keys
        .of_provider("openai", &config.providers["openai"])
        .await;
    assert!(matches!(closed, Err(KeyError::NeedsPassphrase { .. })));
}

#[tokio::test]
async fn a_closed_file_stops_no_server_on_this_machine_that_no_key_is_named_for() {
    let (_folder, keys) = keys("file", &[]);
    let config = keys.inner.config.get();
    let of = async |name: &str| keys.of_provider(name, &config.providers[name]).await;
    // There is no file yet.
    assert_eq!(of("local").await.unwrap(), None);
    assert!(of("team").await.is_err());
    keys.begin(Passphrase::new("four words of it"))
        .await
        .unwrap();
    keys.lock().await.unwrap();
    // As long as somebody may open it, it may hold a key for this server too.
    let closed = of("local").await;
    assert!(matches!(closed, Err(KeyError::NeedsPassphrase { .. })));
    keys.ask_nobody();
    assert_eq!(of("local").await.unwrap(), None);
    for name in ["team", "openai"] {
        let closed = of(name).await;
        assert!(matches!(closed, Err(KeyError::NeedsPassphrase { .. })));
    }
}
