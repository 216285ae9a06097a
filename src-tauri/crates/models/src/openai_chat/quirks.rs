//! In what the servers that speak the chat format differ. One row per server; what is not named
//! here is served by [`PLAIN`].

use crate::ids::IdShape;

/// How a server wants to be spoken to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quirks {
    /// The server's name.
    pub name: &'static str,
    /// How the output limit is called.
    pub limit: LimitName,
    /// Whether `stream_options` may be sent; without it the usage comes by itself.
    pub stream_options: bool,
    /// How a model is told how hard to think.
    pub thinking: ThinkingSwitch,
    /// What the ids of calls may look like.
    pub ids: IdShape,
    /// Which reasoning goes back.
    pub returns: Returns,
    /// Whether a person's message may not follow the result of an action.
    pub bridges_results: bool,
    /// Whether a document can be sent, as a part of the type `file`.
    pub files: bool,
    /// Whether a recording can be sent, as a part of the type `input_audio`.
    pub audio: bool,
}

/// How a provider calls the limit of a response's tokens.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum LimitName {
    /// `max_tokens`: what every compatible server understands.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`: what OpenAI itself demands for its newer models.
    MaxCompletionTokens,
}

/// How a model is told how hard to think.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThinkingSwitch {
    /// There is no way that is known.
    None,
    /// `reasoning_effort`, with the words that the family of the model takes.
    Family,
    /// `reasoning_effort`, and `none` for off.
    Effort,
    /// `reasoning_effort` with `high` and `none` only.
    HighOrNone,
    /// `reasoning_effort` for gpt-oss, `default` and `none` for Qwen, nothing for others.
    Groq,
    /// `reasoning_effort`, and `reasoning: {"enabled": false}` for off.
    EffortOrToggle,
    /// `reasoning: {"effort": …}`, and `{"enabled": false}` for off.
    Reasoning,
    /// `thinking: {"type": …}` with `reasoning_effort`.
    TypeAndEffort,
    /// `chat_template_kwargs`, which the model's own template reads.
    Template,
}

/// Which reasoning goes back in the history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Returns {
    /// None: the server refuses the field, or has no use for it.
    Nothing,
    /// What came, beside the calls that it led to.
    BesideCalls,
    /// What came, in every message.
    Always,
    /// `reasoning_content` in every message, empty where there was none.
    AlwaysSomething,
}

/// A server that nothing more is known of.
pub const PLAIN: Quirks = Quirks {
    name: "",
    limit: LimitName::MaxTokens,
    stream_options: true,
    thinking: ThinkingSwitch::Effort,
    ids: IdShape::Short,
    returns: Returns::BesideCalls,
    bridges_results: false,
    files: false,
    audio: false,
};

/// platform.openai.com/docs/api-reference/chat: `max_tokens` is refused by reasoning models,
/// which take `reasoning_effort` and have nothing to be sent back; parts of messages are `text`,
/// `image_url`, `input_audio` and `file`.
pub const OPENAI: Quirks = Quirks {
    name: "openai",
    limit: LimitName::MaxCompletionTokens,
    thinking: ThinkingSwitch::Family,
    returns: Returns::Nothing,
    files: true,
    audio: true,
    ..PLAIN
};

/// openrouter.ai/docs: `reasoning: {effort | enabled}`; `reasoning_details` are passed back
/// unmodified; `usage.cost` comes without being asked for; documents are read for models that
/// can't read them (guides: multimodal, PDFs and audio).
pub const OPENROUTER: Quirks = Quirks {
    name: "openrouter",
    thinking: ThinkingSwitch::Reasoning,
    returns: Returns::Always,
    files: true,
    audio: true,
    ..PLAIN
};

/// api-docs.deepseek.com/guides/thinking_mode: thinking is on by default and switched by
/// `thinking: {type}`; in a turn with tools every later request must hold `reasoning_content`,
/// `""` where it was empty, or it is answered 400.
pub const DEEPSEEK: Quirks = Quirks {
    name: "deepseek",
    thinking: ThinkingSwitch::TypeAndEffort,
    returns: Returns::AlwaysSomething,
    ..PLAIN
};

/// `stream_options` and `max_completion_tokens` are “extra inputs” and refused (seen in
/// dnakov/anon-kode#53 and editor-code-assistant/eca#231); ids have nine letters and digits
/// (BibekBhusal0/zen-custom-js#7); “Unexpected role 'user' after role 'tool'”
/// (zed-industries/zed#37021); `reasoning_effort` is `high` or `none` (docs.mistral.ai).
pub const MISTRAL: Quirks = Quirks {
    name: "mistral",
    stream_options: false,
    thinking: ThinkingSwitch::HighOrNone,
    ids: IdShape::Nine,
    returns: Returns::Nothing,
    bridges_results: true,
    ..PLAIN
};

/// console.groq.com/docs/reasoning and its API reference: `max_tokens` is deprecated; efforts
/// differ by model; unknown fields of messages are refused.
pub const GROQ: Quirks = Quirks {
    name: "groq",
    limit: LimitName::MaxCompletionTokens,
    thinking: ThinkingSwitch::Groq,
    returns: Returns::Nothing,
    ..PLAIN
};

/// docs.x.ai: `max_tokens` is deprecated; the chat format has no field for reasoning to come
/// back, for which openai-responses is the format to use; reasoning is counted outside of
/// `completion_tokens`, and the cost comes in ticks (both are read wherever they occur).
pub const XAI: Quirks = Quirks {
    name: "xai",
    limit: LimitName::MaxCompletionTokens,
    returns: Returns::Nothing,
    ..PLAIN
};

/// docs.together.ai: `reasoning_effort`, and `reasoning: {"enabled": false}` for hybrid models.
pub const TOGETHER: Quirks = Quirks {
    name: "together",
    thinking: ThinkingSwitch::EffortOrToggle,
    ..PLAIN
};

/// docs.ollama.com/api/openai-compatibility: takes `stream_options`, `max_tokens` and
/// `reasoning_effort`. The window can't be set by this endpoint; see [`crate::ollama`].
pub const OLLAMA: Quirks = Quirks {
    name: "ollama",
    ..PLAIN
};

/// lmstudio.ai/docs: no parameter for thinking in the chat format.
pub const LM_STUDIO: Quirks = Quirks {
    name: "lm-studio",
    thinking: ThinkingSwitch::None,
    ..PLAIN
};

/// llama.cpp's tools/server/README: `chat_template_kwargs`; `reasoning_content` comes and goes;
/// `image_url` and `input_audio` where the model has a projector for them.
pub const LLAMA_CPP: Quirks = Quirks {
    name: "llama.cpp",
    thinking: ThinkingSwitch::Template,
    audio: true,
    ..PLAIN
};

/// docs.vllm.ai (reasoning outputs, multimodal inputs): `chat_template_kwargs`; `image_url` and
/// `input_audio`.
pub const VLLM: Quirks = Quirks {
    name: "vllm",
    thinking: ThinkingSwitch::Template,
    audio: true,
    ..PLAIN
};

/// Servers that are known by the end of their host's name.
const HOSTS: [(&str, Quirks); 9] = [
    ("api.openai.com", OPENAI),
    ("openrouter.ai", OPENROUTER),
    ("api.deepseek.com", DEEPSEEK),
    ("api.mistral.ai", MISTRAL),
    ("api.groq.com", GROQ),
    ("api.x.ai", XAI),
    ("api.together.xyz", TOGETHER),
    ("api.together.ai", TOGETHER),
    ("ollama.com", OLLAMA),
];

/// Servers of one's own, by the name that a person gave the provider.
const NAMES: [(&str, Quirks); 6] = [
    ("ollama", OLLAMA),
    ("lm-studio", LM_STUDIO),
    ("lmstudio", LM_STUDIO),
    ("llama", LLAMA_CPP),
    ("vllm", VLLM),
    ("openrouter", OPENROUTER),
];

/// Servers of one's own, by the port that they take unless told otherwise.
const PORTS: [(u16, Quirks); 4] = [
    (11_434, OLLAMA),
    (1_234, LM_STUDIO),
    (8_080, LLAMA_CPP),
    (8_000, VLLM),
];

/// What names of Mistral's own models hold. Their templates are as strict as Mistral's server,
/// wherever they run.
const MISTRALS: [&str; 5] = ["mistral", "ministral", "magistral", "devstral", "codestral"];

/// The quirks of a server: by its host, else by the name that the provider was given, else by its
/// port.
pub(crate) fn find(provider: &str, host: &str, port: Option<u16>, model: &str) -> Quirks {
    let is_host = |end: &str| {
        host.strip_suffix(end)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    let by_host = HOSTS.iter().find(|(end, _)| is_host(end));
    let provider = provider.to_ascii_lowercase();
    let by_name = NAMES.iter().find(|(start, _)| provider.starts_with(start));
    let by_port = PORTS.iter().find(|(known, _)| Some(*known) == port);
    let quirks = by_host
        .map(|(_, quirks)| *quirks)
        .or_else(|| by_name.map(|(_, quirks)| *quirks))
        .or_else(|| by_port.map(|(_, quirks)| *quirks))
        .unwrap_or(PLAIN);
    let model = model.to_ascii_lowercase();
    let is_mistral = MISTRALS.iter().any(|name| model.contains(name));
    Quirks {
        bridges_results: quirks.bridges_results || is_mistral,
        ..quirks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_known_by_its_host_its_name_or_its_port() {
        let name = |provider, host, port| find(provider, host, Some(port), "any").name;
        assert_eq!(name("mine", "api.openai.com", 443), "openai");
        assert_eq!(name("mine", "eu.api.openai.com", 443), "openai");
        assert_eq!(name("mine", "notapi.openai.com", 443), "");
        assert_eq!(name("ollama", "openrouter.ai", 443), "openrouter");
        assert_eq!(name("vllm-big", "10.0.0.4", 9000), "vllm");
        assert_eq!(name("local", "127.0.0.1", 11_434), "ollama");
        assert_eq!(name("local", "127.0.0.1", 1_234), "lm-studio");
        assert_eq!(name("local", "127.0.0.1", 8_080), "llama.cpp");
        assert_eq!(name("other", "llm.example", 443), "");
    }

    #[test]
    fn mistrals_models_are_strict_wherever_they_run() {
        let bridges = |model| find("p", "openrouter.ai", None, model).bridges_results;
        assert!(bridges("mistralai/Devstral-Small-2"));
        assert!(!bridges("qwen/qwen3.8-27b"));
    }
}
