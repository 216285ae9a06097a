//! What a connection is answered: replies, the list of models, and what tests ask of the server
//! itself from other processes.

use std::future::pending;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use longrein_models::Format;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::sleep;

use super::format::{self, Sending};
use super::http::{Connection, Request};
use super::manner::Fault;
use super::refusal::{Refusal, Trouble};
use super::stream::Stream;
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

/// What becomes of a connection after an answer.
pub(super) enum After {
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
    let asked = format::of_request(&request.method, &parts);
    if !control && wanted.is_some() && request.key.as_ref() != wanted {
        let (status, body) = format::refuse(
            asked.unwrap_or(request.format),
            &Refusal::of(Trouble::WrongKey),
        );
        let body = body.to_string();
        connection.respond(status, &[], body.as_bytes()).await?;
        return Ok(After::GoOn);
    }
    if let Some(format) = asked {
        let model = model_of(format, &parts, &request.body);
        return reply(connection, shared, format, &model, request.body).await;
    }
    let (status, body) = match (request.method.as_str(), parts.as_slice()) {
        ("GET", [.., "models"]) => {
            let list = format::models(request.format, &shared.setup.models);
            (200, list.to_string().into_bytes())
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
            json!({"error": {"message": "There is no such path.", "code": "not_found"}})
                .to_string()
                .into_bytes(),
        ),
    };
    connection.respond(status, &[], &body).await?;
    Ok(After::GoOn)
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

/// The model that a request asks for: in the body, or, in Gemini's format, in the path.
fn model_of(format: Format, parts: &[&str], body: &[u8]) -> String {
    let in_path = parts.last().and_then(|call| call.split(':').next());
    let in_body = || {
        let body: Value = serde_json::from_slice(body).ok()?;
        Some(body.get("model")?.as_str()?.to_owned())
    };
    let model = match format {
        Format::Gemini => in_path.map(str::to_owned),
        _ => in_body(),
    };
    model.unwrap_or_else(|| "any".to_owned())
}

/// Numbers a request and keeps it.
fn keep(shared: &Shared, body: Vec<u8>) -> SeenRequest {
    let mut state = shared.state();
    let request = SeenRequest {
        number: u32::try_from(state.seen.len() + 1).unwrap_or(u32::MAX),
        body: body.into(),
    };
    state.seen.push(request.clone());
    request
}

async fn reply(
    connection: &mut Connection,
    shared: &Shared,
    format: Format,
    model: &str,
    body: Vec<u8>,
) -> io::Result<After> {
    let request = keep(shared, body);
    let Answer { content, manner } = (shared.setup.brain)(&request);
    let manner = manner.unwrap_or_else(|| shared.setup.manner.clone());
    if let Some(latency) = manner.latency_ms {
        sleep(Duration::from_millis(latency)).await;
    }
    match manner.fault {
        Some(Fault::Silence) => pending().await,
        Some(Fault::Hangup) => return Ok(After::Close),
        _ => {}
    }
    let mut stream = Stream {
        connection,
        gate: &shared.gate,
        format,
        manner: &manner,
        sent: 0,
    };
    let reply = match content {
        Content::Reply(reply) => reply,
        Content::Recorded(body) => return stream.recorded(&body).await,
        Content::Refusal(refusal) => {
            let (status, body) = format::refuse(format, &refusal);
            let (headers, body) = (refusal.headers(format), body.to_string());
            connection
                .respond(status, &headers, body.as_bytes())
                .await?;
            return Ok(After::GoOn);
        }
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
    let sending = Sending {
        reply: &reply,
        model,
        manner: &manner,
    };
    if manner.whole_json {
        let whole = format::whole(format, sending);
        connection.respond(200, &[], whole.as_bytes()).await?;
        return Ok(After::GoOn);
    }
    stream.events(&format::events(format, sending)).await
}
