//! Signing in: once for all who wait for it.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use longrein_keys::SecretText;
use longrein_mcp::{
    Browser, BrowserError, ClientIdentity, McpServer, Reach, SignIn, TokenStore, TokenStoreError,
};
use serde_json::{Value, json};

use crate::http::{Address, Came, answer, good};

#[derive(Default)]
struct Kept(Mutex<Option<SecretText>>);

#[async_trait]
impl TokenStore for Kept {
    async fn load(&self) -> Result<Option<SecretText>, TokenStoreError> {
        Ok(self.0.lock().unwrap().clone())
    }

    async fn save(&self, token: SecretText) -> Result<(), TokenStoreError> {
        *self.0.lock().unwrap() = Some(token);
        Ok(())
    }

    async fn remove(&self) -> Result<(), TokenStoreError> {
        *self.0.lock().unwrap() = None;
        Ok(())
    }

    async fn lock(&self) -> Result<Box<dyn Send + Sync>, TokenStoreError> {
        Ok(Box::new(()))
    }
}

/// A server with its own authorization server: it takes the token `fresh-token` alone.
fn guarded(came: &Came) -> String {
    let host = came
        .head
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap();
    let origin = format!("http://{host}");
    let told = |body: Value| {
        answer(
            "200 OK",
            "Content-Type: application/json\r\n",
            &body.to_string(),
        )
    };
    let target = came.head.split(' ').nth(1).unwrap();
    if target.starts_with("/.well-known/oauth-protected-resource") {
        let resource = format!("{origin}/mcp");
        return told(json!({"resource": resource, "authorization_servers": [origin]}));
    }
    if target.starts_with("/.well-known/oauth-authorization-server") {
        return told(json!({
            "issuer": origin,
            "authorization_endpoint": format!("{origin}/authorize"),
            "token_endpoint": format!("{origin}/token"),
            "registration_endpoint": format!("{origin}/register"),
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
        }));
    }
    match target {
        "/register" => told(json!({"client_id": "c1", "redirect_uris": []})),
        "/token" => told(json!({
            "access_token": "fresh-token", "token_type": "Bearer", "expires_in": 3_600,
            "refresh_token": "next-refresh",
        })),
        "/mcp" if came.head.contains("Bearer fresh-token") => good(came),
        "/mcp" => answer("401 Unauthorized", "WWW-Authenticate: Bearer\r\n", ""),
        _ => answer("404 Not Found", "", ""),
    }
}

fn asked_for(address: &Address, target: &str) -> usize {
    let came = address.came.lock().unwrap();
    let line = format!(" {target} ");
    came.iter().filter(|came| came.head.contains(&line)).count()
}

#[tokio::test]
async fn a_stale_token_is_renewed_once_for_all_who_find_it_stale() {
    let address = Address::new(guarded).await;
    let kept = json!({"credentials": {
        "client_id": "c1", "granted_scopes": [], "token_received_at": 1,
        "token_response": {
            "access_token": "stale-token", "token_type": "Bearer", "expires_in": 60,
            "refresh_token": "first-refresh",
        },
    }});
    let store = Arc::new(Kept(Mutex::new(Some(SecretText::exact(kept.to_string())))));
    let sign_in = Arc::new(SignIn::new(
        &address.url,
        ClientIdentity::default(),
        store.clone(),
    ));
    let starting = (0..4).map(|_| {
        let mut config = address.config();
        if let Reach::Address(reached) = &mut config.reach {
            reached.sign_in = Some(sign_in.clone());
        }
        McpServer::start(config)
    });
    for started in futures::future::join_all(starting).await {
        started.unwrap();
    }
    assert_eq!(asked_for(&address, "/token"), 1);
    let kept = store.load().await.unwrap().unwrap();
    assert!(kept.expose().contains("next-refresh"));
}

/// A person who signs in at once: the page leads straight back.
struct Willing;

#[async_trait]
impl Browser for Willing {
    async fn open(&self, url: &str, host: &str) -> Result<(), BrowserError> {
        assert_eq!(host, "127.0.0.1");
        let page = url::Url::parse(url).unwrap();
        let part = |name: &str| {
            let mut pairs = page.query_pairs();
            pairs.find(|(key, _)| key == name).unwrap().1.into_owned()
        };
        assert_eq!(part("code_challenge_method"), "S256");
        let back = format!("{}?code=abc&state={}", part("redirect_uri"), part("state"));
        tokio::spawn(async move { reqwest::get(back).await });
        Ok(())
    }
}

#[tokio::test]
async fn a_sign_in_registers_comes_back_over_loopback_and_is_kept() {
    let address = Address::new(guarded).await;
    let store = Arc::new(Kept::default());
    let sign_in = Arc::new(SignIn::new(
        &address.url,
        ClientIdentity::default(),
        store.clone(),
    ));
    assert!(!sign_in.is_signed_in().await.unwrap());
    sign_in.sign_in(None, &Willing).await.unwrap();
    assert!(sign_in.is_signed_in().await.unwrap());
    assert_eq!(asked_for(&address, "/register"), 1);
    let mut config = address.config();
    if let Reach::Address(reached) = &mut config.reach {
        reached.sign_in = Some(sign_in.clone());
    }
    McpServer::start(config).await.unwrap();
    assert!(sign_in.sign_out().await.unwrap());
    assert!(store.load().await.unwrap().is_none());
}
