//! Ids of calls. Each provider has its own idea of what an id may look like, and a conversation
//! may have come from another one.

use longrein_protocol::BlobHash;
use longrein_runtime::ports::ReplyBlock;

use crate::json::quoted;

/// Which ids a provider takes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum IdShape {
    /// Any, up to 40 bytes: OpenAI's limit, which no other server undercuts.
    #[default]
    Short,
    /// Letters, digits, `_` and `-`, up to 64 bytes.
    Word,
    /// Exactly nine letters and digits, as Mistral demands.
    Nine,
}

impl IdShape {
    /// An id in this shape: the id itself where it fits, else one made of its hash, so that a
    /// call and its result meet again.
    pub(crate) fn of(self, id: &str) -> String {
        let word = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        let fits = match self {
            Self::Short => (1..=40).contains(&id.len()),
            Self::Word => (1..=64).contains(&id.len()) && id.bytes().all(word),
            Self::Nine => id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        };
        if fits {
            return id.to_owned();
        }
        let hash = BlobHash::of(id.as_bytes()).to_string();
        match self {
            Self::Nine => hash[..9].to_owned(),
            Self::Short | Self::Word => format!("call_{}", &hash[..24]),
        }
    }
}

/// What ids begin with that are made here because the provider gave none.
pub(crate) const MADE: &str = "call_made_";

/// Makes the ids of calls unique: within the reply, and against the results that the request
/// already holds, where an id stands after `key`. A call whose id had to be replaced loses its
/// provider's own form, which holds the old one.
pub(crate) fn make_unique(blocks: &mut [ReplyBlock], body: &[u8], key: &str) {
    let seed = BlobHash::of(body).to_string();
    let mut taken: Vec<String> = Vec::new();
    for block in blocks {
        let ReplyBlock::ToolUse { id, raw, .. } = block else {
            continue;
        };
        let is_used = !id.is_empty() && (taken.contains(id) || occurs(body, key, id));
        if is_used {
            *raw = None;
        }
        if is_used || id.is_empty() {
            *id = format!("{MADE}{}_{}", &seed[..12], taken.len() + 1);
        }
        taken.push(id.clone());
    }
}

/// Whether a request already has an id after a key.
fn occurs(body: &[u8], key: &str, id: &str) -> bool {
    let wanted = format!(r#""{key}":{}"#, quoted(id));
    body.windows(wanted.len())
        .any(|window| window == wanted.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_a_provider_would_refuse_becomes_one_that_it_takes() {
        assert_eq!(IdShape::Nine.of("abcDEF123"), "abcDEF123");
        assert_eq!(IdShape::Nine.of("call_abc").len(), 9);
        assert_eq!(IdShape::Nine.of("call_abc"), IdShape::Nine.of("call_abc"));
        assert_ne!(IdShape::Nine.of("call_abc"), IdShape::Nine.of("call_abd"));
        assert_eq!(IdShape::Word.of("toolu_01-x"), "toolu_01-x");
        assert!(!IdShape::Word.of("functions.find:0").contains([':', '.']));
        assert_eq!(IdShape::Short.of("functions.find:0"), "functions.find:0");
        assert!(IdShape::Short.of(&"x".repeat(41)).len() <= 40);
        assert!(!IdShape::Short.of("").is_empty());
    }
}
