//! Whether a text that a person gave can be a secret, and what is odd about it. No word here
//! repeats any of the text.

use crate::environment::is_well_known;
use crate::{SHORTEST_MASKED_BYTES, SecretText};

/// The longest secret that is kept, in bytes: a token with many claims fits.
pub const SECRET_MAX_BYTES: usize = 16 * 1024;

/// The longest key of a provider, in bytes: it has to fit into one header.
pub const KEY_MAX_BYTES: usize = 4 * 1024;

/// Why a text can't be a secret.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unfit {
    /// There is nothing in it.
    #[error("It is empty.")]
    Blank,
    /// It is longer than any secret.
    #[error("It has {bytes} bytes; the longest that is taken has {limit_bytes}.")]
    TooLong {
        /// How long it is.
        bytes: usize,
        /// The longest that is taken.
        limit_bytes: usize,
    },
    /// It has more than one line.
    #[error("It has more than one line.")]
    LineBreak,
    /// It has a character that no keyboard writes.
    #[error("It has a control character in it.")]
    Control,
    /// It has a space in it, as no provider's key does.
    #[error("It has a space in it.")]
    Space,
    /// It stands in quotation marks.
    #[error("It stands in quotation marks.")]
    Quoted,
    /// It has a character that no header takes: often it is a key that some page has masked.
    #[error("It has a character that no key has, such as a dot that hides a letter.")]
    Foreign,
}

impl Unfit {
    /// What the person can do.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Blank => "Copy the key from the provider's page, then paste it.",
            Self::TooLong { .. } => "Copy the key alone, and nothing around it.",
            Self::LineBreak | Self::Control => "Copy the key again, as one line.",
            Self::Space => "Copy the key alone, without a name or a word before it.",
            Self::Quoted => "Leave the quotation marks out.",
            Self::Foreign => "Show the whole key on the provider's page before copying it.",
        }
    }
}

/// What is odd about a secret that is taken all the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Oddity {
    /// It is written as the keys of somebody else are.
    #[error("This looks like a key of {whose}.")]
    LooksLike {
        /// Whose keys begin like this: `Anthropic`.
        whose: &'static str,
    },
    /// It is so short that masking it would mask ordinary words.
    #[error("This is too short to be masked where it is repeated.")]
    Short,
}

/// A secret that a person gave.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Given {
    /// The secret, without the white space around it.
    pub secret: SecretText,
    /// What is odd about it; it is for the person to say whether it is meant.
    pub oddities: Vec<Oddity>,
}

/// How the keys of a provider begin.
struct Shape {
    begins: &'static str,
    /// The names under which the provider is configured.
    providers: &'static [&'static str],
    whose: &'static str,
}

const fn shape(
    begins: &'static str,
    providers: &'static [&'static str],
    whose: &'static str,
) -> Shape {
    Shape {
        begins,
        providers,
        whose,
    }
}

/// A bare `sk-` is not among them: several providers have it.
const SHAPES: &[Shape] = &[
    shape("AIza", &["gemini", "google"], "Google"),
    shape("csk-", &["cerebras"], "Cerebras"),
    shape("fw_", &["fireworks"], "Fireworks"),
    shape("ghp_", &[], "GitHub"),
    shape("github_pat_", &[], "GitHub"),
    shape("gsk_", &["groq"], "Groq"),
    shape("hf_", &["huggingface"], "Hugging Face"),
    shape("nvapi-", &["nvidia"], "NVIDIA"),
    shape("pplx-", &["perplexity"], "Perplexity"),
    shape("sk-ant-", &["anthropic"], "Anthropic"),
    shape("sk-or-", &["openrouter"], "OpenRouter"),
    shape("sk-proj-", &["openai"], "OpenAI"),
    shape("sk-svcacct-", &["openai"], "OpenAI"),
    shape("tgp_v1_", &["together"], "Together"),
    shape("xai-", &["xai"], "xAI"),
    shape("xoxb-", &[], "Slack"),
];

/// Checks any secret.
///
/// # Errors
/// When it can't be kept.
pub fn any_secret(text: &str) -> Result<Given, Unfit> {
    let secret = SecretText::new(text);
    keepable(&secret)?;
    Ok(Given {
        oddities: shortness(&secret).into_iter().collect(),
        secret,
    })
}

/// Checks the key of a provider.
///
/// # Errors
/// When it can't be one.
pub fn provider_key(provider: &str, text: &str) -> Result<Given, Unfit> {
    let secret = SecretText::new(text);
    header(&secret)?;
    let oddities = foreign_shape(provider, secret.expose())
        .into_iter()
        .chain(shortness(&secret));
    Ok(Given {
        oddities: oddities.collect(),
        secret,
    })
}

/// Whether a text that was meant for something else, such as a name, is a key: it begins as keys
/// do, and is as long as they are.
pub fn looks_like_a_key(text: &str) -> bool {
    /// The shortest key of any provider that is known here, in bytes.
    const KEY_MIN_BYTES: usize = 16;
    let begins = |begins: &str| text.starts_with(begins);
    text.len() >= KEY_MIN_BYTES
        && (begins("sk-") || SHAPES.iter().any(|shape| begins(shape.begins)))
}

/// Whether every place that keeps secrets can keep it.
pub(crate) fn keepable(secret: &SecretText) -> Result<(), Unfit> {
    let text = secret.expose();
    if text.trim().is_empty() {
        return Err(Unfit::Blank);
    }
    not_longer(text, SECRET_MAX_BYTES)?;
    if text.contains(['\n', '\r']) {
        return Err(Unfit::LineBreak);
    }
    if text.contains(char::is_control) {
        return Err(Unfit::Control);
    }
    Ok(())
}

/// Whether a header can carry it.
pub(crate) fn header(secret: &SecretText) -> Result<(), Unfit> {
    keepable(secret)?;
    let text = secret.expose();
    not_longer(text, KEY_MAX_BYTES)?;
    if text.starts_with(['"', '\'', '“', '`']) || text.ends_with(['"', '\'', '”', '`']) {
        return Err(Unfit::Quoted);
    }
    if text.contains(char::is_whitespace) {
        return Err(Unfit::Space);
    }
    if !text.is_ascii() {
        return Err(Unfit::Foreign);
    }
    Ok(())
}

fn not_longer(text: &str, limit_bytes: usize) -> Result<(), Unfit> {
    let bytes = text.len();
    if bytes > limit_bytes {
        return Err(Unfit::TooLong { bytes, limit_bytes });
    }
    Ok(())
}

fn shortness(secret: &SecretText) -> Option<Oddity> {
    (secret.expose().len() < SHORTEST_MASKED_BYTES).then_some(Oddity::Short)
}

/// Only for providers that many people use: one of the person's own may pass on anybody's key.
fn foreign_shape(provider: &str, key: &str) -> Option<Oddity> {
    if !is_well_known(provider) {
        return None;
    }
    SHAPES
        .iter()
        .find(|shape| key.starts_with(shape.begins) && !shape.providers.contains(&provider))
        .map(|shape| Oddity::LooksLike { whose: shape.whose })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_can_be_no_key_is_refused_with_its_reason() {
        let fault = |text: &str| provider_key("openai", text).unwrap_err();
        assert_eq!(fault(" \n"), Unfit::Blank);
        assert_eq!(fault("sk-1\nsk-2"), Unfit::LineBreak);
        assert_eq!(fault("sk-1\u{7}2"), Unfit::Control);
        assert_eq!(fault("Bearer sk-12345678"), Unfit::Space);
        assert_eq!(fault("\"sk-12345678\""), Unfit::Quoted);
        assert_eq!(fault("sk-12••••••5678"), Unfit::Foreign);
        let bytes = KEY_MAX_BYTES + 1;
        assert_eq!(
            fault(&"k".repeat(bytes)),
            Unfit::TooLong {
                bytes,
                limit_bytes: KEY_MAX_BYTES
            }
        );
    }

    #[test]
    fn a_secret_of_a_server_may_have_what_a_key_may_not() {
        let given = any_secret(" Bearer größe-12 ").unwrap();
        assert_eq!(given.secret.expose(), "Bearer größe-12");
        assert_eq!(given.oddities, []);
        assert_eq!(any_secret("one\ntwo").unwrap_err(), Unfit::LineBreak);
        assert!(matches!(
            any_secret(&"k".repeat(SECRET_MAX_BYTES + 1)),
            Err(Unfit::TooLong { .. })
        ));
    }

    #[test]
    fn a_key_of_somebody_else_is_taken_with_a_word() {
        let whose = |provider: &str, key: &str| {
            let given = provider_key(provider, key).unwrap();
            given.oddities.into_iter().next()
        };
        let anthropic = Some(Oddity::LooksLike { whose: "Anthropic" });
        assert_eq!(whose("openai", "sk-ant-api03-abcdef"), anthropic);
        assert_eq!(whose("anthropic", "sk-ant-api03-abcdef"), None);
        assert_eq!(whose("google", "AIzaSyD-abcdefghijk"), None);
        assert_eq!(whose("deepseek", "sk-abcdefghijkl"), None);
        // Such a provider may be a gateway that takes the keys of others.
        assert_eq!(whose("gateway", "sk-ant-api03-abcdef"), None);
    }

    #[test]
    fn a_key_too_short_to_be_masked_is_taken_with_a_word() {
        let given = provider_key("local", "secret").unwrap();
        assert_eq!(given.oddities, [Oddity::Short]);
    }

    #[test]
    fn a_key_where_a_name_belongs_is_noticed() {
        for key in [
            "sk-0123456789abcdef",
            "AIzaSyD-abcdefghijk",
            "gsk_0123456789abcdef",
        ] {
            assert!(looks_like_a_key(key), "{key}");
        }
        for name in ["anthropic", "sk-team", "mcp.exa.token", "xai-gateway"] {
            assert!(!looks_like_a_key(name), "{name}");
        }
    }

    #[test]
    fn what_is_said_of_a_text_repeats_nothing_of_it() {
        for text in ["zzz\nzzz", "zzz zzz", "\"zzz\"", "zzz\u{1}zzz", "zzz•zzz"] {
            let unfit = provider_key("openai", text).unwrap_err();
            let said = format!("{unfit} {unfit:?} {}", unfit.remedy());
            assert!(!said.contains("zzz"), "{said}");
        }
    }
}
