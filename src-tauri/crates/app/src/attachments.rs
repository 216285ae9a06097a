//! What a person gives with their words: files that become images, documents and recordings.

use std::io::Read;
use std::path::{Path, PathBuf};

use longrein_protocol::body::NewBlob;
use longrein_protocol::media::{MEDIA_ITEM_BYTES, MEDIA_ITEMS_PER_MESSAGE, MEDIA_REQUEST_BYTES};
use longrein_protocol::{Media, RunId};

use crate::error::AppError;
use crate::{Longrein, given_file};

/// What was read of a person's files.
#[derive(Debug, Default)]
pub(crate) struct Attachments {
    /// In the order that they were given in.
    pub media: Vec<Media>,
    /// Their bytes.
    pub blobs: Vec<NewBlob>,
}

impl Longrein {
    /// Reads files that a person gives with words to a run that there is, and keeps their bytes.
    /// The answer goes into a [`longrein_protocol::wish::Wish::Give`].
    ///
    /// # Errors
    /// When there is no such run, a file can't be read, is too large or is nothing that a model
    /// could be shown, or the disk refuses.
    pub async fn attach(&self, run: RunId, files: Vec<PathBuf>) -> Result<Vec<Media>, AppError> {
        self.run_line(run).await?;
        let Attachments { media, blobs } = read(files).await?;
        self.inner.store.keep(blobs).await?;
        Ok(media)
    }
}

/// Reads files, bounded in number and size.
pub(crate) async fn read(files: Vec<PathBuf>) -> Result<Attachments, AppError> {
    if files.is_empty() {
        return Ok(Attachments::default());
    }
    let reading = tokio::task::spawn_blocking(move || read_all(&files));
    reading.await.map_err(|error| {
        AppError::usage(
            format!("The attachments can't be read: {error}."),
            "Give other files.",
        )
    })?
}

fn read_all(files: &[PathBuf]) -> Result<Attachments, AppError> {
    if files.len() > MEDIA_ITEMS_PER_MESSAGE {
        return Err(AppError::usage(
            format!("There are {} attachments.", files.len()),
            format!("Give at most {MEDIA_ITEMS_PER_MESSAGE} at once."),
        ));
    }
    let mut read = Attachments::default();
    let mut total = 0;
    for file in files {
        let bytes = bytes_of(file)?;
        total += bytes.len() as u64;
        if total > MEDIA_REQUEST_BYTES {
            return Err(AppError::usage(
                format!("The attachments have more than {MEDIA_REQUEST_BYTES} bytes together."),
                "Give fewer or smaller ones.",
            ));
        }
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let Some(media) = longrein_tools::attached(bytes, &name) else {
            return Err(AppError::usage(
                format!(
                    "{} is neither an image (PNG, JPEG, GIF, WebP), a PDF nor a recording (WAV, MP3).",
                    file.display()
                ),
                "Give a folder of texts as the library: --library DIR",
            ));
        };
        read.media.push(media.record(&mut read.blobs));
    }
    Ok(read)
}

fn bytes_of(file: &Path) -> Result<Vec<u8>, AppError> {
    let unreadable = |error: std::io::Error| {
        AppError::usage(
            format!("The attachment {} can't be read: {error}.", file.display()),
            "Check its path and that you may read it.",
        )
    };
    let mut bytes = Vec::new();
    let opened = given_file::open(file).map_err(unreadable)?;
    let mut bounded = opened.take(MEDIA_ITEM_BYTES + 1);
    bounded.read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MEDIA_ITEM_BYTES {
        return Err(AppError::usage(
            format!(
                "The attachment {} has more than {MEDIA_ITEM_BYTES} bytes.",
                file.display()
            ),
            "Give a smaller one.",
        ));
    }
    Ok(bytes)
}
