//! Whether an engine runs without root. Docker says so among its security options. Podman says so
//! in a field of its own, which the library leaves out, so it is asked for once more.

use bollard::models::SystemInfo;

pub(super) async fn is_rootless(address: &str, info: &SystemInfo) -> bool {
    let mut options = info.security_options.iter().flatten();
    if options.any(|option| option.contains("rootless")) {
        return true;
    }
    #[cfg(unix)]
    if let Some(path) = address.strip_prefix("unix://") {
        return podman::says_rootless(path).await;
    }
    let _ = address;
    false
}

#[cfg(unix)]
mod podman {
    use std::io;
    use std::time::Duration;

    use serde::Deserialize;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::UnixStream;

    /// How long the answer may take: an engine that is busy describes itself slowly.
    const LIMIT: Duration = Duration::from_secs(60);
    /// The most bytes of an answer.
    const ANSWER_MAX_BYTES: u64 = 1024 * 1024;
    /// The oldest version of HTTP: its answers end with the connection and are in one piece.
    const REQUEST: &[u8] = b"GET /info HTTP/1.0\r\nHost: engine\r\n\r\n";

    #[derive(Deserialize)]
    struct Info {
        #[serde(default, rename = "Rootless")]
        rootless: bool,
    }

    /// An engine that does not say it is not: the probe shows what that means for commands.
    pub(super) async fn says_rootless(path: &str) -> bool {
        let answer = tokio::time::timeout(LIMIT, ask(path)).await;
        let answer = answer.ok().and_then(Result::ok).unwrap_or_default();
        read(&answer)
    }

    async fn ask(path: &str) -> io::Result<Vec<u8>> {
        let mut stream = UnixStream::connect(path).await?;
        stream.write_all(REQUEST).await?;
        let mut answer = Vec::new();
        stream
            .take(ANSWER_MAX_BYTES)
            .read_to_end(&mut answer)
            .await?;
        Ok(answer)
    }

    fn read(answer: &[u8]) -> bool {
        let body = answer.windows(4).position(|window| window == b"\r\n\r\n");
        let body = body.and_then(|at| answer.get(at + 4..)).unwrap_or_default();
        serde_json::from_slice::<Info>(body).is_ok_and(|info| info.rootless)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn podmans_own_field_is_read_and_dockers_silence_is_a_no() {
            assert!(read(
                b"HTTP/1.0 200 OK\r\nA: b\r\n\r\n{\"ID\":\"x\",\"Rootless\":true}"
            ));
            assert!(!read(b"HTTP/1.0 200 OK\r\n\r\n{\"Rootless\":false}"));
            assert!(!read(b"HTTP/1.0 200 OK\r\n\r\n{\"ID\":\"x\"}"));
            assert!(!read(b"HTTP/1.0 500 no\r\n\r\nno"));
        }
    }
}
