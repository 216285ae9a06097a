//! Results that are too long to be shown: the model is shown what they are made of.

use longrein_core::outline::{Outline, Preview, outline};
use longrein_core::run::TooLong;
use longrein_protocol::Body;
use longrein_protocol::event::ResultOffloaded;

use crate::driver::{DriveError, Driver};
use crate::wire;

impl Driver {
    /// Puts into the place of each of these results what it is made of, and lays it down whole as a
    /// file where there is a workspace. The file says nothing that the log does not: one that is left
    /// behind where this is cut short is written again, with the same bytes or with those of the
    /// action's next attempt.
    pub(crate) async fn offload(&mut self, results: Vec<TooLong>) -> Result<(), DriveError> {
        for long in results {
            let body = self.body_at_hand(&long.body);
            let bytes = wire::body_bytes(&*self.ports.log, &body).await?;
            let looked = bytes.clone();
            let outlined =
                tokio::task::spawn_blocking(move || outline(&String::from_utf8_lossy(&looked)));
            // Whatever goes wrong with looking at it, a result can be shown by its ends.
            let outline = outlined.await.unwrap_or(Outline {
                kind: longrein_core::outline::Kind::Text,
                lines: Vec::new(),
            });
            let file = match long.file {
                Some(file) => Some(file),
                None => {
                    let name = format!("{}.{}", long.action, outline.kind.extension());
                    let world = self.ports.world.clone();
                    world.keep_result(&self.run, &name, bytes.clone()).await
                }
            };
            let preview = Preview {
                text: &String::from_utf8_lossy(&bytes),
                outline: &outline,
                name: &long.action.0,
                file: file.as_deref(),
                bytes: long.preview_bytes,
            };
            let (shown, blob) = Body::of(preview.text());
            self.keep(blob);
            self.record(ResultOffloaded {
                action: long.action,
                shown,
                file,
            })?;
        }
        Ok(())
    }
}
