//! Images, documents and recordings as a model is given them: what the bytes are, how many pages a
//! document has, and the text that stands for it where the document itself can't be sent.

use longrein_protocol::MediaKind;
use longrein_runtime::media::sniff;
use longrein_runtime::ports::NewMedia;

use crate::library::document::{self, Kind};

/// The most text that stands for a document which a model can't read itself.
const STAND_IN_BYTES: usize = 48 * 1024;

/// What bytes are; `None` where they are neither an image, a PDF nor a recording. Blocks: a PDF is
/// read.
pub fn attached(bytes: Vec<u8>, name: &str) -> Option<NewMedia> {
    let mut media = NewMedia::of(bytes, name)?;
    if media.kind != MediaKind::Document {
        return Some(media);
    }
    match document::read(Kind::Pdf, name, &media.bytes) {
        Ok(read) => {
            media.pages = read.meta.pdf.as_ref().map(|receipt| receipt.pages);
            media.text = Some(stand_in(&read.text).into());
        }
        // A model that reads documents may see what is scanned; how many pages it has is in it.
        Err(document::DocumentError::ScannedPdf(pages)) => media.pages = Some(pages),
        Err(error) => media.text = Some(format!("[its text can't be read: {error}]").into()),
    }
    Some(media)
}

/// Whether a file that begins with these bytes is shown as what it is, and not as text.
pub(crate) fn is_media(head: &[u8]) -> bool {
    match sniff(head) {
        Some((MediaKind::Document, _)) => true,
        // Text may begin with letters that a format begins with.
        Some(_) => head.contains(&0),
        None => false,
    }
}

fn stand_in(text: &str) -> String {
    if text.len() <= STAND_IN_BYTES {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(STAND_IN_BYTES);
    format!(
        "{}\n[the first {end} of {} bytes of its text]",
        &text[..end],
        text.len()
    )
}
