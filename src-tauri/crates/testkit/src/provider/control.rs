//! What a connection is answered: replies, the list of models, and what tests ask of the server
//! itself from other processes.

use std::future::pending;
use std::io;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::net::TcpStream;

use super::http::{Connection, Request};
use super::manner::{Fault, Manner};
use super::{Answer, Content, Shared};
use crate::request::SeenRequest;

/// The most requests that one connection may send.
const REQUESTS_LIMIT: usize = 100_000;

/// Serves one client until it goes.
pub(super) async fn connection(stream: TcpStream, shared: Arc<Shared>) {
    let Ok(mut connection) = Connection::new(stream) else {
        return;
    };
    for _ in 0..REQUESTS_LIMIT {
        // A client that breaks off is what the tests are about, so it is no error here.
        let Ok(Some(request)) = connection.request().await else {
            return;
        };
        match answer(&mut connection, &shared, request).await {
            Ok(After::GoOn) => {}
            Ok(After::Close) | Err(_) => return,
        }
    }
}

enum After {
    GoOn,
    Close,
}

async fn answer(
    connection: &mut Connection,
    shared: &Shared,
    request: Request,
) -> io::Result<After> {
    let parts: Vec<&str> = request.path.trim_matches('/').split('/').collect();
    let control = parts.first() == Some(&"control");
    let wanted = shared.setup.key.as_ref();
    if !control && wanted.is_some() && request.key.as_ref() != wanted {
        let body = error("Incorrect API key provided.", "invalid_api_key");
        connection.respond(401, &[], body.as_bytes()).await?;
        return Ok(After::GoOn);
    }
    let (status, body) = match (request.method.as_str(), parts.as_slice()) {
        ("POST", [.., "chat", "completions"]) => {
            return chat(connection, shared, request.body).await;
        }
        ("GET", [.., "models"]) => {
            let models = shared
                .setup
                .models
                .iter()
                .map(|model| json!({"id": model, "object": "model"}));
            (
                200,
                json!({"object": "list", "data": models.collect::<Vec<_>>()})
                    .to_string()
                    .into_bytes(),
            )
        }
        ("GET", ["control", "stats"]) => (200, stats(shared).to_string().into_bytes()),
        ("GET", ["control", "requests", number]) => {
            let position = number
                .parse::<usize>()
                .ok()
                .and_then(|number| number.checked_sub(1));
            let seen = position.and_then(|position| shared.state().seen.get(position).cloned());
            seen.map_or((404, b"{}".to_vec()), |request| {
                (200, request.body.to_vec())
            })
        }
        ("POST", ["control", "open"]) => {
            shared.gate.open();
            (200, b"{}".to_vec())
        }
        ("POST", ["control", "close"]) => {
            shared.gate.close();
            (200, b"{}".to_vec())
        }
        _ => (
            404,
            error("There is no such path.", "not_found").into_bytes(),
        ),
    };
    connection.respond(status, &[], &body).await?;
    Ok(After::GoOn)
}

fn error(message: &str, code: &str) -> String {
    json!({"error": {"message": message, "code": code}}).to_string()
}

fn stats(shared: &Shared) -> Value {
    let state = shared.state();
    json!({
        "requests": state.seen.len(),
        "tokens_in": state.tokens_in,
        "tokens_out": state.tokens_out,
        "held": shared.gate.count(),
    })
}

async fn chat(connection: &mut Connection, shared: &Shared, body: Vec<u8>) -> io::Result<After> {
    let request = {
        let mut state = shared.state();
        let number = u32::try_from(state.seen.len() + 1).unwrap_or(u32::MAX);
        let request = SeenRequest {
            number,
            body: body.into(),
        };
        state.seen.push(request.clone());
        request
    };
    let Answer { content, manner } = (shared.setup.brain)(&request);
    let manner = manner.unwrap_or_else(|| shared.setup.manner.clone());
    match manner.fault {
        Some(Fault::Silence) => pending().await,
        Some(Fault::Hangup) => return Ok(After::Close),
        _ => {}
    }
    let reply = match content {
        Content::Reply(reply) => reply,
        Content::Status {
            status,
            headers,
            body,
        } => {
            connection
                .respond(status, &headers, body.as_bytes())
                .await?;
            return Ok(After::GoOn);
        }
    };
    if let Some(usage) = reply.usage {
        let mut state = shared.state();
        state.tokens_in += u64::from(usage.input);
        state.tokens_out += u64::from(usage.output);
    }
    let model = request.json()["model"].as_str().unwrap_or("any").to_owned();
    if manner.whole_json {
        connection
            .respond(200, &[], manner.whole(&reply, &model).as_bytes())
            .await?;
        return Ok(After::GoOn);
    }
    stream(connection, shared, &manner, manner.events(&reply, &model)).await
}

async fn stream(
    connection: &mut Connection,
    shared: &Shared,
    manner: &Manner,
    events: Vec<String>,
) -> io::Result<After> {
    connection.begin_stream().await?;
    for (sent, event) in events.iter().enumerate() {
        if manner.hold_after == Some(sent) {
            shared.gate.pass().await;
        }
        match manner.fault {
            Some(Fault::StallAfter(after)) if after == sent => pending().await,
            Some(Fault::DropAfter(after)) if after == sent => return Ok(After::Close),
            Some(Fault::EndAfter(after)) if after == sent => {
                connection.end_stream().await?;
                return Ok(After::GoOn);
            }
            Some(Fault::ErrorAfter(after)) if after == sent => {
                let error = error("The model broke down.", "server_error");
                send(connection, manner, &manner.frame(&error)).await?;
            }
            Some(Fault::GarbageAfter(after)) if after == sent => {
                send(connection, manner, &manner.frame("{\"choices\":[{")).await?;
            }
            _ => {}
        }
        if manner.keep_alive {
            send(connection, manner, manner.comment()).await?;
        }
        send(connection, manner, &manner.frame(event)).await?;
    }
    send(connection, manner, &manner.frame("[DONE]")).await?;
    connection.end_stream().await?;
    Ok(After::GoOn)
}

async fn send(connection: &mut Connection, manner: &Manner, text: &str) -> io::Result<()> {
    for frame in text
        .as_bytes()
        .chunks(manner.frame_bytes.unwrap_or(usize::MAX).max(1))
    {
        connection.send_chunk(frame).await?;
    }
    Ok(())
}
