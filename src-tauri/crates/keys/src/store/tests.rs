//! What every place for secrets has in common, shown in memory, and how a key is found.

use expect_test::{Expect, expect};

use super::*;

const KEY: &str = "sk-1234567890";

fn name(text: &str) -> SecretName {
    SecretName::new(text).unwrap()
}

fn store(backend: Backend) -> KeyStore {
    // No folder: a file of secrets is never there.
    KeyStore::new(backend, Path::new("nowhere"), Known::default())
}

#[tokio::test]
async fn a_secret_is_kept_replaced_and_removed() {
    let store = store(Backend::Memory);
    let (exa, openai) = (name("exa"), name("openai"));
    assert_eq!(store.look().await.unwrap(), Standing::Ready);
    assert_eq!(store.get(&exa).await.unwrap(), None);
    for text in ["first-secret", "second-secret"] {
        store.set(&exa, &SecretText::new(text)).await.unwrap();
        let kept = store.clone().get(&exa).await.unwrap().unwrap();
        assert_eq!(kept.expose(), text);
    }
    store.set(&openai, &SecretText::new(KEY)).await.unwrap();
    assert_eq!(store.names().await.unwrap(), [exa.clone(), openai]);
    assert!(store.remove(&exa).await.unwrap());
    assert!(!store.remove(&exa).await.unwrap());
    assert_eq!(store.get(&exa).await.unwrap(), None);
}

#[tokio::test]
async fn what_no_place_could_keep_is_refused_by_all() {
    let unfit = store(Backend::Memory)
        .set(&name("exa"), &SecretText::exact("two\nlines"))
        .await
        .unwrap_err();
    assert_eq!(
        unfit.to_string(),
        "The secret exa can't be kept. It has more than one line."
    );
}

#[tokio::test]
async fn a_secret_that_was_kept_or_read_is_masked_even_after_it_is_gone() {
    let store = store(Backend::Memory);
    store
        .set(&name("exa"), &SecretText::new("first-secret"))
        .await
        .unwrap();
    store
        .set(&name("exa"), &SecretText::new("second-secret"))
        .await
        .unwrap();
    store.remove(&name("exa")).await.unwrap();
    let mut text = "first-secret, second-secret".to_owned();
    store.known().masker().text(&mut text);
    assert_eq!(text, "************, *************");
}

#[tokio::test]
async fn secrets_are_copied_to_another_place_together() {
    let known = Known::default();
    let from = KeyStore::new(Backend::Memory, Path::new("nowhere"), known.clone());
    let to = KeyStore::new(Backend::Memory, Path::new("nowhere"), known);
    for text in ["exa", "openai"] {
        from.set(&name(text), &SecretText::new(KEY)).await.unwrap();
    }
    let no_file = store(Backend::File);
    assert!(from.copy_to(&no_file).await.is_err());
    assert!(from.copy_to(&from.clone()).await.unwrap().is_empty());
    assert_eq!(
        from.copy_to(&to).await.unwrap(),
        [name("exa"), name("openai")]
    );
    assert_eq!(from.names().await.unwrap().len(), 2);
    assert_eq!(to.get(&name("exa")).await.unwrap().unwrap().expose(), KEY);
}

#[tokio::test]
async fn only_a_file_has_a_passphrase() {
    let phrase = || Passphrase::new("correct horse");
    let memory = store(Backend::Memory);
    assert_eq!(memory.unlock(phrase()).await, Err(KeyError::NotAFile));
    assert_eq!(memory.begin(phrase()).await, Err(KeyError::NotAFile));
    assert_eq!(memory.lock().await, Err(KeyError::NotAFile));
}

#[test]
fn a_place_has_the_name_that_a_setting_holds() {
    for backend in Backend::ALL {
        assert_eq!(Backend::named(backend.name()), Some(backend));
    }
    let written = serde_json::to_string(&Backend::ALL).unwrap();
    assert_eq!(written, r#"["keychain","file","memory"]"#);
    let read: Vec<Backend> = serde_json::from_str(&written).unwrap();
    assert_eq!(read, Backend::ALL);
    assert_eq!(Backend::named("cloud"), None);
    assert_eq!(Backend::default(), Backend::Keychain);
}

/// Finds the key of a provider where these variables are set and `secret:kept` and
/// `secret:openai` are kept, and says where it was.
async fn found(provider: &str, named: Named<'_>, set: &[(&str, &str)]) -> String {
    let store = store(Backend::Memory);
    for kept in ["kept", "openai"] {
        store.set(&name(kept), &SecretText::new(KEY)).await.unwrap();
    }
    let lookup = |wanted: &str| {
        let found = set.iter().find(|(variable, _)| *variable == wanted);
        found.map(|(_, value)| (*value).to_owned())
    };
    match store.find(&Wanted { provider, named }, &lookup).await {
        Ok(Some(key)) => format!(
            "{:?} …{}",
            key.found.source,
            key.found.last4.unwrap_or_default()
        ),
        Ok(None) => "none".to_owned(),
        Err(error) => format!("{error} {}", error.remedy()),
    }
}

async fn check(provider: &str, named: Named<'_>, set: &[(&str, &str)], wanted: Expect) {
    wanted.assert_eq(&found(provider, named, set).await);
}

#[tokio::test]
async fn a_variable_overrides_what_is_kept() {
    let own = ("LONGREIN_OPENAI_API_KEY", "sk-of-longrein-1111");
    let usual = ("OPENAI_API_KEY", "sk-usual-2222");
    let named = ("MINE", "sk-named-3333");
    let none = Named::Nothing;
    let mine = || Named::Variable("MINE");
    let kept = || Named::Secret(name("kept"));
    check("openai", none.clone(), &[], expect!["Memory …7890"]).await;
    check(
        "openai",
        none.clone(),
        &[usual],
        expect![[r#"Environment("OPENAI_API_KEY") …2222"#]],
    )
    .await;
    check(
        "openai",
        none.clone(),
        &[usual, own],
        expect![[r#"Environment("LONGREIN_OPENAI_API_KEY") …1111"#]],
    )
    .await;
    check(
        "openai",
        mine(),
        &[usual, named],
        expect![[r#"Environment("MINE") …3333"#]],
    )
    .await;
    check(
        "openai",
        mine(),
        &[own, named],
        expect![[r#"Environment("LONGREIN_OPENAI_API_KEY") …1111"#]],
    )
    .await;
    check(
        "openai",
        kept(),
        &[usual],
        expect![[r#"Environment("OPENAI_API_KEY") …2222"#]],
    )
    .await;
    check(
        "openai",
        kept(),
        &[("OPENAI_API_KEY", " ")],
        expect!["Memory …7890"],
    )
    .await;
    check(
        "google",
        none.clone(),
        &[("GOOGLE_API_KEY", "AIza-12345678")],
        expect![[r#"Environment("GOOGLE_API_KEY") …5678"#]],
    )
    .await;
    check("local", none, &[usual], expect!["none"]).await;
}

#[tokio::test]
async fn a_key_that_the_configuration_names_and_nobody_set_is_told() {
    check("openai", Named::Variable("MINE"), &[("OPENAI_API_KEY", "sk-usual")], expect!["The key of provider openai is not there: the variable MINE is not set. Set MINE or LONGREIN_OPENAI_API_KEY, or take key out of [providers.openai]."]).await;
    check("local", Named::Secret(name("gone")), &[], expect!["The key of provider local is not there: no secret is named gone. Set it in the settings, or with: longrein keys set gone. Or set the variable LONGREIN_LOCAL_API_KEY."]).await;
    check("openai", Named::Nothing, &[("OPENAI_API_KEY", "sk-1 sk-2")], expect!["The variable OPENAI_API_KEY holds no key. It has a space in it. Copy the key alone, without a name or a word before it. Then set OPENAI_API_KEY again, or take it away."]).await;
}

#[test]
fn what_is_shown_of_a_key_is_where_it_is_and_its_end() {
    let shown = |source: Source| {
        let key = Key::new(SecretText::new(KEY), source);
        assert!(!format!("{key:?}").contains(KEY));
        serde_json::to_string(&key.found).unwrap()
    };
    assert_eq!(
        shown(Source::Environment("OPENAI_API_KEY".to_owned())),
        r#"{"source":{"environment":"OPENAI_API_KEY"},"last4":"7890"}"#
    );
    assert_eq!(
        shown(Backend::Keychain.into()),
        r#"{"source":"keychain","last4":"7890"}"#
    );
}

#[tokio::test]
async fn a_key_from_a_variable_is_masked() {
    let store = store(Backend::Memory);
    let wanted = Wanted {
        provider: "local",
        named: Named::Nothing,
    };
    let lookup = |_: &str| Some("sk-from-variable".to_owned());
    store.find(&wanted, &lookup).await.unwrap().unwrap();
    assert!(store.known().masker().finds(b"key=sk-from-variable"));
}

/// A keychain that answers every question for a secret like this.
struct Fixed(Result<Option<SecretText>, KeyError>);

impl Vault for Fixed {
    fn look(&mut self) -> Result<Standing, KeyError> {
        Ok(Standing::Ready)
    }

    fn get(&mut self, _name: &SecretName) -> Result<Option<SecretText>, KeyError> {
        self.0.clone()
    }

    fn set(&mut self, _name: &SecretName, _secret: &SecretText) -> Result<(), KeyError> {
        Ok(())
    }

    fn remove(&mut self, _name: &SecretName) -> Result<bool, KeyError> {
        Ok(true)
    }

    fn names(&mut self) -> Result<Vec<SecretName>, KeyError> {
        Ok(vec![name("openai")])
    }
}

fn fixed(answer: Result<Option<SecretText>, KeyError>) -> KeyStore {
    KeyStore {
        backend: Backend::Keychain,
        worker: Arc::new(Worker::new("The keychain", Box::new(Fixed(answer)))),
        known: Known::default(),
    }
}

#[tokio::test]
async fn what_was_read_is_masked() {
    let store = fixed(Ok(Some(SecretText::new(KEY))));
    assert!(!store.known().masker().finds(KEY.as_bytes()));
    store.learn_all().await.unwrap();
    assert!(store.known().masker().finds(KEY.as_bytes()));
}

#[tokio::test]
async fn a_provider_that_may_need_no_key_needs_no_keychain() {
    let no_bus = || KeyError::NoBus {
        cause: String::new(),
    };
    let find = async |answer: KeyError, named: Named<'static>| {
        let wanted = Wanted {
            provider: "local",
            named,
        };
        fixed(Err(answer)).find(&wanted, &|_| None).await
    };
    assert_eq!(find(no_bus(), Named::Nothing).await, Ok(None));
    let kept = Named::Secret(name("kept"));
    assert_eq!(find(no_bus(), kept).await, Err(no_bus()));
    // One that is there and locked may have the key.
    let locked = KeyError::Locked;
    assert_eq!(find(locked.clone(), Named::Nothing).await, Err(locked));
}
