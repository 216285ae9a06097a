//! Delivered pages in an origin of their own. A model wrote them, so they get a scheme that holds
//! nothing else, a policy that lets nothing in or out, and no way to the window.

use longrein_app::{AppError, AppErrorCode, Longrein};
use longrein_protocol::event::{ArtifactPublished, Payload};
use longrein_protocol::{Body, RunId};
use longrein_store::Log as _;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use tauri::http::{Method, Request, Response, StatusCode, header};
use tauri::{AppHandle, Manager, UriSchemeContext, UriSchemeResponder, Url, Wry};

use crate::desktop::Desktop;
use crate::window;

/// The scheme that serves delivered files and nothing else.
pub const SCHEME: &str = "longrein-artifact";

/// What a page may do: run what stands in itself, and show what stands in itself. `sandbox` holds
/// even where the page would not be in the window's sandboxed frame.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
    img-src data:; font-src data:; base-uri 'none'; form-action 'none'; sandbox allow-scripts";

/// Where the window's own pages come from: the only ones that may hold an artifact in a frame.
const WINDOW_ORIGINS: &str = "tauri://localhost http://tauri.localhost";

/// Events that are read at once.
const PAGE_EVENTS: u32 = 512;

/// What stays as it is in a path.
const IN_A_PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'.')
    .remove(b'-')
    .remove(b'_');

/// The letters of a file's hash that stand in its address, so that a new version is a new address.
const VERSION_LETTERS: usize = 12;

/// The address of a delivered file.
pub fn address(run: RunId, artifact: &ArtifactPublished) -> String {
    let base = if cfg!(windows) {
        format!("http://{SCHEME}.localhost")
    } else {
        format!("{SCHEME}://localhost")
    };
    let path = utf8_percent_encode(&artifact.rendered_path, IN_A_PATH);
    let hash = artifact.rendered.hash().to_string();
    format!("{base}/{run}/{path}?v={}", &hash[..VERSION_LETTERS])
}

/// What a run has delivered, each path in its last version.
///
/// # Errors
/// When there is no such run, or what reading gives.
pub async fn delivered(
    longrein: &Longrein,
    run: RunId,
) -> Result<Vec<ArtifactPublished>, AppError> {
    let mut delivered: Vec<ArtifactPublished> = Vec::new();
    let mut from = 1;
    loop {
        let reading = longrein.store().read(run, from, PAGE_EVENTS).await?;
        let read = reading.events.len() as u32;
        for event in reading.events {
            if let Payload::ArtifactPublished(artifact) = event.payload {
                delivered.retain(|known| known.rendered_path != artifact.rendered_path);
                delivered.push(artifact);
            }
        }
        from += read;
        if read < PAGE_EVENTS {
            return Ok(delivered);
        }
    }
}

/// The delivered file of this path.
///
/// # Errors
/// When the run has delivered none, or what reading gives.
pub async fn find(
    longrein: &Longrein,
    run: RunId,
    path: &str,
) -> Result<ArtifactPublished, AppError> {
    let mut delivered = delivered(longrein, run).await?.into_iter();
    delivered
        .find(|artifact| artifact.rendered_path == path)
        .ok_or_else(|| {
            let message = format!("This run has delivered no file {path}.");
            AppError::new(
                AppErrorCode::NotFound,
                message,
                "Go back to the run to see what it has delivered.",
            )
        })
}

/// Answers a request of the artifact scheme.
pub fn serve(
    context: UriSchemeContext<'_, Wry>,
    request: Request<Vec<u8>>,
    responder: UriSchemeResponder,
) {
    let app = context.app_handle().clone();
    tauri::async_runtime::spawn(async move {
        let found = match request.method() {
            &Method::GET => look_up(&app, request.uri().path()).await,
            _ => None,
        };
        let (status, media_type, bytes) = match found {
            Some((media_type, bytes)) => (StatusCode::OK, media_type, bytes),
            None => (
                StatusCode::NOT_FOUND,
                "text/plain".to_owned(),
                b"There is no such file.".to_vec(),
            ),
        };
        let holder = window::development_address(&app);
        responder.respond(answer(status, &media_type, bytes, holder.as_ref()));
    });
}

async fn look_up(app: &AppHandle, path: &str) -> Option<(String, Vec<u8>)> {
    let desktop = app.try_state::<Desktop>()?;
    let (run, path) = place(path)?;
    let artifact = find(desktop.longrein(), run, &path).await.ok()?;
    let bytes = content(desktop.longrein(), &artifact.rendered).await?;
    Some((artifact.media_type, bytes))
}

async fn content(longrein: &Longrein, body: &Body) -> Option<Vec<u8>> {
    match longrein.content(body).await {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            tracing::warn!("a delivered file can't be read: {error}");
            None
        }
    }
}

/// The run and the path that an address names.
fn place(path: &str) -> Option<(RunId, String)> {
    let (run, path) = path.strip_prefix('/')?.split_once('/')?;
    let path = percent_decode_str(path).decode_utf8().ok()?;
    Some((run.parse().ok()?, path.into_owned()))
}

fn answer(
    status: StatusCode,
    media_type: &str,
    bytes: Vec<u8>,
    development: Option<&Url>,
) -> Response<Vec<u8>> {
    let media_type = match media_type {
        "text/html" | "text/plain" | "text/markdown" | "text/csv" => {
            format!("{media_type}; charset=utf-8")
        }
        other => other.to_owned(),
    };
    let ancestors = development.map_or(WINDOW_ORIGINS.to_owned(), |address| {
        address.origin().ascii_serialization()
    });
    let response = Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, media_type)
        .header(
            header::CONTENT_SECURITY_POLICY,
            format!("{POLICY}; frame-ancestors {ancestors}"),
        )
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        .header(header::REFERRER_POLICY, "no-referrer")
        .header(header::CACHE_CONTROL, "no-store")
        .body(bytes);
    // A media type of the log that is no header's value: nothing is served under another.
    response.unwrap_or_else(|_| {
        let mut refused = Response::new(Vec::new());
        *refused.status_mut() = StatusCode::NOT_FOUND;
        refused
    })
}

/// The media type that a file's name stands for.
pub fn media_type(path: &str) -> &'static str {
    let ending = path
        .rsplit_once('.')
        .map(|(_, ending)| ending.to_ascii_lowercase())
        .unwrap_or_default();
    match ending.as_str() {
        "html" | "htm" => "text/html",
        "md" => "text/markdown",
        "csv" => "text/csv",
        "json" => "application/json",
        "pdf" => "application/pdf",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "txt" | "toml" | "py" | "log" => "text/plain",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use longrein_protocol::ActionId;

    use super::*;

    fn artifact(path: &str, text: &str) -> ArtifactPublished {
        ArtifactPublished {
            action: ActionId("a1".to_owned()),
            path: path.to_owned(),
            title: "A page".to_owned(),
            media_type: "text/html".to_owned(),
            original: Body::Text(text.to_owned()),
            rendered: Body::Text(text.to_owned()),
            rendered_path: path.to_owned(),
            ledger: Vec::new(),
        }
    }

    #[test]
    fn an_address_leads_back_to_its_file() {
        let run = RunId::from_parts(1, 2);
        for path in ["index.html", "out/über & unter?#%.html", "a/../b.html"] {
            let address = address(run, &artifact(path, "x"));
            let uri: tauri::http::Uri = address.parse().expect("an address");
            assert_eq!(place(uri.path()), Some((run, path.to_owned())), "{address}");
        }
    }

    #[test]
    fn a_new_version_has_a_new_address() {
        let run = RunId::from_parts(1, 2);
        assert_ne!(
            address(run, &artifact("p.html", "old")),
            address(run, &artifact("p.html", "new"))
        );
    }

    #[test]
    fn nothing_is_answered_without_the_policy() {
        for status in [StatusCode::OK, StatusCode::NOT_FOUND] {
            let response = answer(status, "text/html", b"<p>x".to_vec(), None);
            let policy = response.headers()[header::CONTENT_SECURITY_POLICY]
                .to_str()
                .expect("letters");
            assert!(
                policy.contains("default-src 'none'")
                    && policy.contains("frame-ancestors tauri://localhost")
            );
            assert!(
                !policy.contains("connect-src") && !policy.contains("allow-same-origin"),
                "{policy}"
            );
            assert_eq!(
                response.headers()[header::X_CONTENT_TYPE_OPTIONS],
                "nosniff"
            );
        }
        let odd = answer(
            StatusCode::OK,
            "text/html\r\nset-cookie: a=b",
            b"<p>x".to_vec(),
            None,
        );
        assert_eq!((odd.status(), odd.body().len()), (StatusCode::NOT_FOUND, 0));
    }

    #[test]
    fn what_names_no_run_is_no_place() {
        for path in [
            "",
            "/",
            "/index.html",
            "/not-a-run/index.html",
            "//etc/passwd",
        ] {
            assert_eq!(place(path), None, "{path}");
        }
    }
}
