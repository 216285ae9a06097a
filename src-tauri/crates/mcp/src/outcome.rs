//! What a server answers to a call, as the harness's words.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use jsonschema::Validator;
use longrein_protocol::ToolErrorClass;
use longrein_protocol::media::{MEDIA_ITEM_BYTES, MEDIA_ITEMS_PER_MESSAGE};
use longrein_runtime::ports::{NewMedia, Part, ToolError, ToolOutput};
use rmcp::model::{
    CallToolResult, ContentBlock, ErrorCode, ErrorData, ReadResourceResult, ResourceContents,
};

use crate::clean::{Secrets, head, plain};

/// How much of an error the model and the person are shown.
const ERROR_BYTES: usize = 2_000;

/// The longest result that is its own outcome line.
const OUTCOME_BYTES: usize = 60;

/// Where a result's `_meta` says what names the effect to the server: what takes it back is given
/// this.
const META_RECEIPT: &str = "longrein/receipt";

/// The longest receipt; a longer one is no name.
const RECEIPT_BYTES: usize = 1_000;

/// How much of why a structured result does not fit is said.
const MISFIT_BYTES: usize = 300;

/// Takes a result: its texts joined, its structured content as JSON, what is an image, a document
/// or a recording as such, and a note for each part that no model takes. `output` checks the
/// structured content; what does not fit is shown all the same, with a word, since the tool did
/// what it did.
pub(crate) fn of_result(
    result: CallToolResult,
    output: Option<&Validator>,
    secrets: &Secrets,
) -> Result<ToolOutput, ToolError> {
    let failed = result.is_error.unwrap_or(false);
    let mut gathered = Gathered::default();
    for block in &result.content {
        gathered.take(block);
    }
    if let Some(structured) = &result.structured_content {
        // Servers repeat structured content as a text for clients that don't know it.
        let repeated = gathered.texts.iter().any(|text| {
            serde_json::from_str::<serde_json::Value>(text).is_ok_and(|value| value == *structured)
        });
        if !repeated {
            gathered.texts.push(structured.to_string());
        }
    }
    if let Some(note) = output
        .filter(|_| !failed)
        .and_then(|output| misfit(&result, output))
    {
        gathered.texts.insert(0, note);
    }
    if failed {
        let text = secrets.mask(plain(&gathered.texts.join("\n")));
        let message = if text.trim().is_empty() {
            "The tool failed and did not say why.".to_owned()
        } else {
            head(&text, ERROR_BYTES)
        };
        return Err(ToolError::new(ToolErrorClass::Failed, message));
    }
    let receipt = receipt_of(&result, secrets);
    Ok(ToolOutput {
        receipt,
        ..gathered.output(secrets)
    })
}

/// Takes a resource that was read.
pub(crate) fn of_resource(uri: &str, read: ReadResourceResult, secrets: &Secrets) -> ToolOutput {
    let mut gathered = Gathered::default();
    for contents in &read.contents {
        match contents {
            ResourceContents::TextResourceContents { text, .. } => {
                gathered.texts.push(text.clone());
            }
            contents => gathered.take_contents(contents),
        }
    }
    ToolOutput {
        place: Some(secrets.mask(plain(uri))),
        ..gathered.output(secrets)
    }
}

/// Why a structured result is not what the tool says its results are.
fn misfit(result: &CallToolResult, output: &Validator) -> Option<String> {
    let why = match &result.structured_content {
        None => "there is none".to_owned(),
        Some(structured) => {
            let error = output.iter_errors(structured).next()?;
            let place = error.instance_path().to_string();
            head(&plain(&format!("at “{place}”: {error}")), MISFIT_BYTES)
        }
    };
    Some(format!(
        "[the structured result is not what this tool says its results are: {why}]"
    ))
}

/// The parts of a result as they are gathered.
#[derive(Default)]
struct Gathered {
    texts: Vec<String>,
    media: Vec<NewMedia>,
}

impl Gathered {
    fn take(&mut self, block: &ContentBlock) {
        match block {
            ContentBlock::Text(text) => self.texts.push(text.text.clone()),
            ContentBlock::Image(image) => {
                self.take_bytes("image", "", &image.mime_type, &image.data)
            }
            ContentBlock::Audio(audio) => {
                self.take_bytes("audio", "", &audio.mime_type, &audio.data)
            }
            ContentBlock::ResourceLink(link) => {
                self.texts
                    .push(format!("[resource {}: {}]", link.name, link.uri));
            }
            ContentBlock::Resource(embedded) => self.take_contents(&embedded.resource),
            _ => self
                .texts
                .push("[a part of an unknown kind was left out]".to_owned()),
        }
    }

    fn take_contents(&mut self, contents: &ResourceContents) {
        match contents {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                self.texts.push(format!("[resource {uri}]\n{text}"));
            }
            ResourceContents::BlobResourceContents {
                uri,
                mime_type,
                blob,
                ..
            } => {
                let kind = mime_type.as_deref().unwrap_or("application/octet-stream");
                self.take_bytes("file", uri, kind, blob);
            }
            _ => self
                .texts
                .push("[a resource of an unknown kind was left out]".to_owned()),
        }
    }

    /// Takes bytes that came in base64, four letters for three bytes. What no model takes, or is
    /// too large or too much, becomes a note.
    fn take_bytes(&mut self, what: &str, name: &str, media_type: &str, letters: &str) {
        let about = letters.len() / 4 * 3;
        let of = if name.is_empty() {
            what.to_owned()
        } else {
            format!("{what} {name}")
        };
        let fits = u64::try_from(about).is_ok_and(|bytes| bytes <= MEDIA_ITEM_BYTES)
            && self.media.len() < MEDIA_ITEMS_PER_MESSAGE;
        let bytes = fits.then(|| decoded(letters)).flatten();
        if let Some(media) = bytes.and_then(|bytes| NewMedia::of(bytes, plain(name))) {
            self.media.push(media);
        } else {
            self.texts.push(format!(
                "[{of} left out: {media_type}, about {about} bytes]"
            ));
        }
    }

    fn output(self, secrets: &Secrets) -> ToolOutput {
        let text = secrets.mask(plain(&self.texts.join("\n")));
        let mut outcome = outcome_of(&text);
        if !self.media.is_empty() {
            let words: Vec<String> = self.media.iter().map(NewMedia::in_words).collect();
            outcome = if text.trim().is_empty() {
                words.join(", ")
            } else {
                format!("{outcome}, {}", words.join(", "))
            };
        }
        let mut parts = Vec::with_capacity(self.media.len() + 1);
        if !text.is_empty() || self.media.is_empty() {
            parts.push(Part::Text(text));
        }
        parts.extend(
            self.media
                .into_iter()
                .map(|media| Part::Media(Box::new(media))),
        );
        ToolOutput {
            outcome,
            parts,
            ..ToolOutput::default()
        }
    }
}

fn decoded(letters: &str) -> Option<Vec<u8>> {
    let letters = letters.trim();
    STANDARD
        .decode(letters)
        .or_else(|_| STANDARD_NO_PAD.decode(letters))
        .ok()
}

fn receipt_of(result: &CallToolResult, secrets: &Secrets) -> Option<String> {
    let said = result.meta.as_ref()?.0.get(META_RECEIPT)?.as_str()?;
    let receipt = secrets.mask(plain(said));
    let is_name = !receipt.trim().is_empty() && receipt.len() <= RECEIPT_BYTES;
    is_name.then_some(receipt)
}

fn outcome_of(text: &str) -> String {
    let text = text.trim();
    match text.lines().count() {
        0 => "nothing".to_owned(),
        1 if text.len() <= OUTCOME_BYTES => text.to_owned(),
        1 => format!("{} characters", text.chars().count()),
        lines => format!("{lines} lines"),
    }
}

/// Takes an error of the protocol: the server answered, and did not do it.
pub(crate) fn of_error(tool: &str, error: &ErrorData, secrets: &Secrets) -> ToolError {
    let class = match error.code {
        ErrorCode::INVALID_PARAMS => ToolErrorClass::InvalidArguments,
        ErrorCode::METHOD_NOT_FOUND | ErrorCode::RESOURCE_NOT_FOUND => ToolErrorClass::NotFound,
        _ => ToolErrorClass::Failed,
    };
    let said = head(&secrets.mask(plain(&error.message)), ERROR_BYTES);
    ToolError::new(
        class,
        format!("{tool} answered with an error ({}): {said}", error.code.0),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn output(result: serde_json::Value) -> Result<(String, String), ToolError> {
        let result = serde_json::from_value(result).unwrap();
        let output = of_result(result, None, &Secrets::default())?;
        let [Part::Text(text)] = output.parts.as_slice() else {
            panic!("one text expected");
        };
        Ok((text.clone(), output.outcome))
    }

    #[test]
    fn texts_are_joined_and_what_is_no_text_is_noted() {
        let result = json!({"content": [
            {"type": "text", "text": "\u{1b}[1mone\u{1b}[0m\u{0}"},
            {"type": "image", "data": "QUJDRA==", "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "file:///a", "text": "two"}},
            {"type": "resource_link", "uri": "file:///b", "name": "b"},
        ]});
        let (text, outcome) = output(result).unwrap();
        assert_eq!(
            text,
            "one\n[image left out: image/png, about 6 bytes]\n[resource file:///a]\ntwo\n\
             [resource b: file:///b]"
        );
        assert_eq!(outcome, "5 lines");
    }

    #[test]
    fn structured_content_is_shown_once() {
        let both = json!({
            "content": [{"type": "text", "text": "{\"n\": 1}"}],
            "structuredContent": {"n": 1},
        });
        assert_eq!(output(both).unwrap().0, "{\"n\": 1}");
        let alone = json!({"content": [], "structuredContent": {"n": 1}});
        assert_eq!(output(alone).unwrap().0, "{\"n\":1}");
        assert_eq!(output(json!({"content": []})).unwrap().1, "nothing");
    }

    #[test]
    fn a_receipt_is_taken_from_where_servers_put_what_is_for_the_harness() {
        let receipt = |meta: serde_json::Value| {
            let result = json!({"content": [], "_meta": meta});
            let result = serde_json::from_value(result).unwrap();
            of_result(result, None, &Secrets::default())
                .unwrap()
                .receipt
        };
        let said = receipt(json!({"longrein/receipt": "post-7\u{1b}[2J"}));
        assert_eq!(said.as_deref(), Some("post-7"));
        for none in [
            json!({}),
            json!({"longrein/receipt": " "}),
            json!({"longrein/receipt": 7}),
        ] {
            assert_eq!(receipt(none), None);
        }
        assert_eq!(
            receipt(json!({"longrein/receipt": "x".repeat(1_001)})),
            None
        );
    }

    #[test]
    fn a_result_that_is_an_error_fails_with_its_words() {
        let failed =
            json!({"content": [{"type": "text", "text": "no such city"}], "isError": true});
        let error = output(failed).unwrap_err();
        assert_eq!(
            (error.class, error.uncertain),
            (ToolErrorClass::Failed, false)
        );
        assert_eq!(error.message, "no such city");
        let silent = output(json!({"content": [], "isError": true})).unwrap_err();
        assert_eq!(silent.message, "The tool failed and did not say why.");
    }

    #[test]
    fn errors_of_the_protocol_have_the_class_that_a_model_can_act_on() {
        for (code, class) in [
            (-32602, ToolErrorClass::InvalidArguments),
            (-32601, ToolErrorClass::NotFound),
            (-32603, ToolErrorClass::Failed),
        ] {
            let error = ErrorData::new(ErrorCode(code), "because", None);
            let error = of_error("s.t", &error, &Secrets::default());
            assert_eq!((error.class, error.uncertain), (class, false));
            assert_eq!(
                error.message,
                format!("s.t answered with an error ({code}): because")
            );
        }
    }
}
