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

#[cfg(test)]
mod tests {
    use std::fs;

    use longrein_protocol::MediaKind;
    use longrein_protocol::media::MEDIA_ITEM_BYTES;
    use longrein_runtime::ports::Part;
    use serde_json::json;

    use super::*;
    use crate::testing::{call, context, run, told};
    use crate::{ToolsConfig, builtin_tools};

    /// The head of a PNG of 3 × 2 pixels: as much as tells its size.
    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x03\0\0\0\x02\x08\0\0\0\0\xb8\x1f\x39\xc6\0\0\0\0IDAT";

    async fn read(files: &[(&str, &[u8])], path: &str) -> Result<Vec<Part>, String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        let tools = builtin_tools(ToolsConfig::default());
        let tool = tools.iter().find(|tool| tool.spec().name == "read_file");
        let call = call(context(folder.path()), json!({"path": path}));
        match run(tool.unwrap(), call).await {
            Ok(output) => Ok(output.parts),
            Err(error) => Err(told(Err(error))),
        }
    }

    #[tokio::test]
    async fn a_model_that_reads_an_image_is_shown_it() {
        let parts = read(&[("chart.txt", PNG)], "chart.txt").await.unwrap();
        let [Part::Text(text), Part::Media(media)] = &parts[..] else {
            panic!("a line and an image: {parts:?}");
        };
        assert_eq!(text, "chart.txt: image chart.txt, 3 × 2 pixels, image/png");
        assert_eq!(
            (media.kind, media.media_type),
            (MediaKind::Image, "image/png")
        );
        assert_eq!(*media.bytes, *PNG);
    }

    #[tokio::test]
    async fn text_that_begins_like_a_format_is_still_text() {
        let files: [(&str, &[u8]); 2] = [("a", b"ID3 is a tag.\n"), ("b", b"GIF89a\n")];
        for path in ["a", "b"] {
            let parts = read(&files, path).await.unwrap();
            assert!(matches!(&parts[..], [Part::Text(_)]), "{parts:?}");
        }
    }

    #[tokio::test]
    async fn an_image_that_is_too_large_is_refused_with_the_limit() {
        let mut bytes = PNG.to_vec();
        bytes.resize(MEDIA_ITEM_BYTES as usize + 1, 0);
        let told = read(&[("big.png", &bytes)], "big.png").await.unwrap_err();
        assert!(told.contains("at most 10485760 of an image"), "{told}");
    }

    #[test]
    fn a_document_that_can_t_be_read_says_so_in_the_place_of_its_text() {
        let media = attached(b"%PDF-1.7\nbroken".to_vec(), "x.pdf").unwrap();
        assert_eq!((media.kind, media.pages), (MediaKind::Document, None));
        let text = media.text.unwrap();
        assert!(text.starts_with("[its text can't be read: "), "{text}");
        assert!(attached(b"plain".to_vec(), "x").is_none());
    }

    #[test]
    fn a_long_text_that_stands_for_a_document_is_cut_and_says_so() {
        let text = stand_in(&"ä".repeat(STAND_IN_BYTES));
        assert!(text.ends_with("[the first 49152 of 98304 bytes of its text]"));
    }
}
