//! What a provider's error body says, and which class of fault that is.

use std::time::Duration;

use longrein_protocol::block::ModelErrorClass;
use serde_json::Value;

use super::wait;

/// What a provider's error body says.
#[derive(Default, Debug)]
pub(crate) struct Said {
    /// The words.
    pub message: String,
    /// How long the provider asks to wait, where the body says so.
    pub wait: Option<Duration>,
    /// Whether what is used up comes back only with the next day.
    pub is_daily: bool,
    /// `code`, `type` and `status`, as far as they are given, in lower case.
    codes: Vec<String>,
    /// The status that some put into the body.
    status: Option<u16>,
}

/// What servers say of a request that is longer than the window, where their code does not say
/// it or not this alone. In lower case.
///
/// llama.cpp, LM Studio, vLLM (and DeepSeek, OpenRouter), Anthropic (twice), Gemini, xAI, Mistral,
/// Together, Ollama, OpenAI.
const TOO_LONG: [&str; 11] = [
    "exceeds the available context size",
    "greater than the context length",
    "maximum context length is",
    "prompt is too long",
    "exceed context limit",
    "exceeds the maximum number of tokens allowed",
    "maximum prompt length is",
    "too large for model with",
    "`inputs` tokens + `max_new_tokens`",
    "exceeds the context length",
    "exceeds the context window",
];

/// What providers say where credit has run out and the code says only that the request is bad.
const NO_CREDIT: [&str; 2] = ["credit balance is too low", "insufficient balance"];

/// What servers say of an image, a document or a recording that they do not take, where their code
/// does not say it. In lower case.
///
/// Anthropic (six), OpenAI (three), Gemini (three), OpenRouter, llama.cpp (two), Ollama, vLLM (two),
/// LM Studio, DeepSeek, Mistral.
const NO_MEDIA: [&str; 21] = [
    "image exceeds",
    "could not process image",
    "image dimensions exceed",
    "image was specified using",
    "could not process pdf",
    "pdf pages may be provided",
    "unsupported image",
    "not support image",
    "image types are supported",
    "unable to process input image",
    "unsupported mime type",
    "document has no pages",
    "support image input",
    "image input is not supported",
    "failed to load image",
    "data required for image input",
    "not a multimodal model",
    "image(s) may be provided",
    "does not support images",
    "unknown variant `image_url`",
    "image input is not enabled",
];

impl Said {
    /// Reads an error object, in the forms that servers use: `{"error": {…}}`, `{"error": "…"}`,
    /// `{"message": …}`, a list of one of these, or plain text.
    pub fn read(body: &[u8]) -> Self {
        match serde_json::from_slice::<Value>(body) {
            Ok(Value::Array(list)) => list.first().map(Self::of).unwrap_or_default(),
            Ok(value) => Self::of(&value),
            Err(_) => Self {
                message: without_markup(&String::from_utf8_lossy(body)),
                ..Self::default()
            },
        }
    }

    /// Reads the same from a value.
    pub fn of(value: &Value) -> Self {
        let error = value.get("error").unwrap_or(value);
        let text = |key: &str| error.get(key).and_then(Value::as_str);
        let message = error
            .as_str()
            .or_else(|| text("message"))
            .or_else(|| text("detail"));
        // OpenRouter wraps what the provider behind it said.
        let inner = error.pointer("/metadata/raw").and_then(Value::as_str);
        let message = [message, inner]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" ");
        let mut said = Self {
            message,
            codes: ["code", "type", "status"]
                .iter()
                .filter_map(|key| text(key))
                .map(str::to_ascii_lowercase)
                .collect(),
            status: error
                .get("code")
                .and_then(Value::as_u64)
                .and_then(|code| code.try_into().ok()),
            ..Self::default()
        };
        let details = error.get("details").and_then(Value::as_array);
        for detail in details.into_iter().flatten() {
            said.read_detail(detail);
        }
        said
    }

    /// What we say in the provider's place where it gives a reason instead of an error.
    pub fn new(code: &str, message: &str) -> Self {
        Self {
            message: message.to_owned(),
            codes: vec![code.to_owned()],
            ..Self::default()
        }
    }

    /// A detail of Google's: how long to wait, which quota, which reason.
    fn read_detail(&mut self, detail: &Value) {
        let text = |key: &str| detail.get(key).and_then(Value::as_str);
        self.wait = text("retryDelay").and_then(wait::duration).or(self.wait);
        self.codes
            .extend(text("reason").map(str::to_ascii_lowercase));
        let violations = detail.get("violations").and_then(Value::as_array);
        for violation in violations.into_iter().flatten() {
            let quota = violation.get("quotaId").and_then(Value::as_str);
            self.is_daily |= quota.is_some_and(|quota| quota.contains("PerDay"));
        }
    }

    /// The class of an error that came in the middle of an answer.
    pub fn class_inside(&self) -> ModelErrorClass {
        // What began well and says nothing of why it broke may work the next time.
        self.class(self.status.unwrap_or(0))
            .unwrap_or(ModelErrorClass::Overloaded)
    }

    /// The class of an error; `None` where nothing is known of it.
    pub fn class(&self, status: u16) -> Option<ModelErrorClass> {
        use ModelErrorClass as Class;
        let class = match self.class_by_code() {
            Some(class) => class,
            None => match status {
                401..=403 => Class::Auth,
                404 => Class::UnknownModel,
                408 => Class::Network,
                413 => Class::ContextTooLong,
                429 => Class::RateLimited,
                451 => Class::ContentRefused,
                500.. => Class::Overloaded,
                _ => return self.class_of_vague_code(status),
            },
        };
        Some(class)
    }

    /// The class where the code or the words say more than the status does.
    fn class_by_code(&self) -> Option<ModelErrorClass> {
        use ModelErrorClass as Class;
        const TABLE: [(&[&str], ModelErrorClass); 5] = [
            (
                &[
                    "invalid_image",
                    "invalid_image_format",
                    "invalid_base64_image",
                    "image_parse_error",
                    "image_too_large",
                    "image_too_small",
                    "image_file_too_large",
                    "unsupported_image_media_type",
                    "empty_image_file",
                ],
                Class::MediaRefused,
            ),
            (
                &[
                    "context_length_exceeded",
                    "exceed_context_size_error",
                    "request_too_large",
                ],
                Class::ContextTooLong,
            ),
            (
                // Waiting does not mend these, so they must not look like a rate limit.
                &[
                    "insufficient_quota",
                    "billing_not_active",
                    "billing_error",
                    "invalid_api_key",
                    "api_key_invalid",
                    "failed_precondition",
                ],
                Class::Auth,
            ),
            (
                &[
                    "content_filter",
                    "content_policy_violation",
                    "invalid_prompt",
                ],
                Class::ContentRefused,
            ),
            (
                &["model_not_found", "model_not_available"],
                Class::UnknownModel,
            ),
        ];
        let words = self.message.to_lowercase();
        let says = |list: &[&str]| list.iter().any(|piece| words.contains(piece));
        if says(&TOO_LONG) {
            return Some(Class::ContextTooLong);
        }
        if says(&NO_MEDIA) {
            return Some(Class::MediaRefused);
        }
        if says(&NO_CREDIT) {
            return Some(Class::Auth);
        }
        TABLE
            .iter()
            .find(|(codes, _)| self.has_code(codes))
            .map(|(_, class)| *class)
    }

    /// The class by codes that repeat what the status says; they matter inside a stream, which
    /// has none.
    fn class_of_vague_code(&self, status: u16) -> Option<ModelErrorClass> {
        use ModelErrorClass as Class;
        const TABLE: [(&[&str], ModelErrorClass); 5] = [
            (
                &[
                    "rate_limit_exceeded",
                    "rate_limit_error",
                    "resource_exhausted",
                ],
                Class::RateLimited,
            ),
            (
                &[
                    "server_error",
                    "overloaded_error",
                    "api_error",
                    "timeout_error",
                    "unavailable",
                    "internal",
                    "deadline_exceeded",
                ],
                Class::Overloaded,
            ),
            (
                &[
                    "authentication_error",
                    "permission_error",
                    "permission_denied",
                ],
                Class::Auth,
            ),
            (&["not_found_error", "not_found"], Class::UnknownModel),
            (
                &["invalid_request_error", "invalid_argument"],
                Class::BadRequest,
            ),
        ];
        let known = TABLE.iter().find(|(codes, _)| self.has_code(codes));
        known
            .map(|(_, class)| *class)
            .or((status != 0).then_some(Class::BadRequest))
    }

    fn has_code(&self, wanted: &[&str]) -> bool {
        self.codes
            .iter()
            .any(|code| wanted.contains(&code.as_str()))
    }
}

/// The words of an HTML error page, which proxies like to send.
fn without_markup(page: &str) -> String {
    if !page.trim_start().starts_with('<') {
        return page.to_owned();
    }
    let mut words = String::new();
    for piece in page.split('<') {
        let tag = piece.split('>').next().unwrap_or_default();
        if !tag.starts_with("style") && !tag.starts_with("script") {
            words.push_str(piece.split_once('>').map_or("", |(_, text)| text));
            words.push(' ');
        }
    }
    words
}
