//! What a piece of a request says, without the marks of the provider's format. A piece is a part of
//! a JSON text that may begin or end in the middle, so it is read leniently: string by string.

/// Fields that say how a format works, and nothing to a reader.
const PLUMBING: &[&str] = &[
    "role",
    "type",
    "id",
    "call_id",
    "tool_call_id",
    "tool_use_id",
    "item_id",
    "model",
    "status",
    "signature",
    "thoughtSignature",
    "thought_signature",
    "encrypted_content",
    "media_type",
    "mimeType",
    "mime_type",
    "format",
    "detail",
    "filename",
];
/// Fields whose value speaks for itself.
const WORDS: &[&str] = &[
    "text",
    "content",
    "thinking",
    "reasoning",
    "reasoning_content",
    "arguments",
    "output",
    "result",
    "instructions",
    "system",
    "summary",
    "input",
    "name",
];
/// Fields that hold an image, a document or a recording.
const MEDIA: &[&str] = &[
    "data",
    "image_url",
    "file_data",
    "url",
    "file_uri",
    "fileUri",
];

/// The words of a piece, in its order; empty where it has none.
pub(super) fn words(wire: &str) -> String {
    let mut said: Vec<String> = Vec::new();
    let mut key = String::new();
    let mut rest = wire;
    while let Some(begin) = rest.find('"') {
        let literal = &rest[begin..];
        let Some(end) = end_of(literal) else { break };
        let text: String = serde_json::from_str(&literal[..end]).unwrap_or_default();
        rest = &literal[end..];
        if rest.trim_start().starts_with(':') {
            key = text;
            continue;
        }
        if let Some(line) = line(&key, text) {
            said.push(line);
        }
    }
    said.join("\n")
}

/// Where a string literal ends, its closing mark with it.
fn end_of(literal: &str) -> Option<usize> {
    let mut escaped = false;
    for (place, letter) in literal.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(place + 1),
            _ => {}
        }
    }
    None
}

fn line(key: &str, text: String) -> Option<String> {
    let is = |names: &[&str]| names.contains(&key);
    if text.is_empty() || is(PLUMBING) {
        None
    } else if is(MEDIA) && (key != "url" && key != "image_url" || text.starts_with("data:")) {
        Some(format!("[{} bytes of media]", text.len()))
    } else if is(WORDS) || key.is_empty() {
        Some(text)
    } else {
        Some(format!("{key}: {text}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_reads_as_its_words_in_every_format() {
        let chat = r#",{"role":"user","content":"Look \"here\"\nand there"}"#;
        assert_eq!(words(chat), "Look \"here\"\nand there");
        let call = r#",{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a.txt\"}"}}]}"#;
        assert_eq!(words(call), "read_file\n{\"path\":\"a.txt\"}");
        let blocks = r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"write_file","input":{"path":"a.txt"}}]}"#;
        assert_eq!(words(blocks), "write_file\npath: a.txt");
        let image = r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGVsbG8="}}"#;
        assert_eq!(words(image), "[8 bytes of media]");
    }

    #[test]
    fn a_piece_that_is_cut_off_or_holds_no_words_is_no_fault() {
        assert_eq!(words(r#"{"model":"m","messages":["#), "");
        assert_eq!(words(r#"],"max_tokens":100}"#), "");
        assert_eq!(words(r#"{"content":"it ends in the mid"#), "");
        assert_eq!(words(""), "");
    }
}
