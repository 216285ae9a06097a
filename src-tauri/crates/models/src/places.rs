//! Providers that are known by the name that a person gives them: where they are and what they
//! speak, so that `[providers.anthropic]` says enough.

use crate::format::Format;

/// A provider that many people use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WellKnown {
    /// The name in `config.toml`.
    pub name: &'static str,
    /// Where it answers, for each of [`Self::formats`].
    pub base_url: &'static str,
    /// What it speaks there, the usual format first.
    pub formats: &'static [Format],
}

const CHAT: &[Format] = &[Format::OpenAiChat];
const CHAT_AND_RESPONSES: &[Format] = &[Format::OpenAiChat, Format::OpenAiResponses];
/// With the chat format, reasoning does not come back and is lost between two steps.
const RESPONSES_FIRST: &[Format] = &[Format::OpenAiResponses, Format::OpenAiChat];
const GOOGLE: &str = "https://generativelanguage.googleapis.com/v1beta";
const LM_STUDIO: &str = "http://127.0.0.1:1234/v1";

/// Every one, by name. Each address is the one in the provider's own reference.
pub const WELL_KNOWN: &[WellKnown] = &[
    known(
        "anthropic",
        "https://api.anthropic.com/v1",
        &[Format::Anthropic],
    ),
    known("deepseek", "https://api.deepseek.com", CHAT),
    known("gemini", GOOGLE, &[Format::Gemini]),
    known("google", GOOGLE, &[Format::Gemini]),
    known("groq", "https://api.groq.com/openai/v1", CHAT_AND_RESPONSES),
    known("llama", "http://127.0.0.1:8080/v1", CHAT),
    known("lm-studio", LM_STUDIO, CHAT_AND_RESPONSES),
    known("lmstudio", LM_STUDIO, CHAT_AND_RESPONSES),
    known("mistral", "https://api.mistral.ai/v1", CHAT),
    known("ollama", "http://127.0.0.1:11434/v1", CHAT),
    known("openai", "https://api.openai.com/v1", RESPONSES_FIRST),
    known("openrouter", "https://openrouter.ai/api/v1", CHAT),
    known("together", "https://api.together.xyz/v1", CHAT),
    known("vllm", "http://127.0.0.1:8000/v1", CHAT_AND_RESPONSES),
    known("xai", "https://api.x.ai/v1", RESPONSES_FIRST),
];

const fn known(
    name: &'static str,
    base_url: &'static str,
    formats: &'static [Format],
) -> WellKnown {
    WellKnown {
        name,
        base_url,
        formats,
    }
}

/// The provider of this name.
pub fn well_known(name: &str) -> Option<&'static WellKnown> {
    WELL_KNOWN.iter().find(|known| known.name == name)
}

/// Where a provider answers that has no address in `config.toml`; `None` where it has no usual
/// one. Whoever speaks the format of one maker is that maker, unless the name says otherwise.
pub fn usual_base_url(provider: &str, format: Format) -> Option<&'static str> {
    match (well_known(provider), format) {
        (Some(known), _) => known.formats.contains(&format).then_some(known.base_url),
        (None, Format::OpenAiChat) => None,
        (None, _) => Some(format.base_url()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_well_known_name_says_where_and_what() {
        assert!(WELL_KNOWN.is_sorted_by_key(|known| known.name));
        for known in WELL_KNOWN {
            assert_eq!(well_known(known.name), Some(known));
            assert!(!known.base_url.ends_with('/'), "{}", known.name);
            let format = known.formats[0];
            assert_eq!(usual_base_url(known.name, format), Some(known.base_url));
        }
    }

    #[test]
    fn a_name_of_ones_own_has_the_address_of_the_formats_maker_or_none() {
        let work = |format| usual_base_url("work", format);
        assert_eq!(
            work(Format::Anthropic),
            Some("https://api.anthropic.com/v1")
        );
        // Nearly everybody speaks this one.
        assert_eq!(work(Format::OpenAiChat), None);
        // A question for one provider never goes to another.
        assert_eq!(usual_base_url("deepseek", Format::Anthropic), None);
    }
}
