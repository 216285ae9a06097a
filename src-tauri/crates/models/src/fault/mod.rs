//! What went wrong with a provider, in a class that the driver acts on and in words that a
//! person acts on.

mod said;
mod wait;

use longrein_protocol::block::ModelErrorClass;
use longrein_runtime::ports::ModelError;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;

pub(crate) use said::Said;

use crate::secret::Secret;

/// How much of a provider's own words is kept, in characters.
const SAID_LIMIT: usize = 400;

/// Who was asked, as error texts name it.
#[derive(Clone, Debug)]
pub(crate) struct Provider {
    /// The name in the configuration.
    pub name: String,
    /// The model asked for; empty where no model is meant.
    pub model: String,
    /// The base address with its secrets masked.
    pub shown_url: String,
    /// The key, so that it can be masked in what the provider says.
    pub key: Option<Secret>,
    /// The name of the format that it is to speak.
    pub format: &'static str,
    /// What base addresses of this format end in, for a person who looks for a mistake.
    pub address_hint: &'static str,
}

impl Provider {
    /// A fault that is put in our own words.
    pub fn fault(&self, class: ModelErrorClass, message: String, remedy: String) -> ModelError {
        ModelError {
            class,
            message,
            remedy,
            retry_after: None,
            unreachable: false,
            unsent: false,
        }
    }

    /// There was nobody to talk to.
    pub fn unreachable(&self, why: &str, remedy: String) -> ModelError {
        let message = format!("Nothing answers at {} ({why}).", self.shown_url);
        ModelError {
            unreachable: true,
            ..self.fault(ModelErrorClass::Network, message, remedy)
        }
    }

    /// The connection broke or fell silent.
    pub fn broken(&self, what: &str) -> ModelError {
        self.fault(
            ModelErrorClass::Network,
            format!("{} {what}.", self.shown_url),
            format!(
                "Try again; if it stays so, look at the connection to provider {}.",
                self.name
            ),
        )
    }

    /// The answer is not in the format.
    pub fn malformed(&self, what: &str) -> ModelError {
        self.fault(
            ModelErrorClass::Malformed,
            format!("{} {what}.", self.shown_url),
            format!(
                "Check that provider {} speaks the {} format.",
                self.name, self.format
            ),
        )
    }

    /// The person ended the request.
    pub fn cancelled(&self) -> ModelError {
        self.fault(
            ModelErrorClass::Network,
            format!(
                "The request to {} was ended before its answer was complete.",
                self.shown_url
            ),
            "Resume the run to send it again.".to_owned(),
        )
    }

    /// The provider answered with an error status.
    pub fn refused(&self, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> ModelError {
        let said = Said::read(body);
        let answered = format!("answered {}", status.as_u16());
        let class = said.class(status.as_u16());
        let class = class.unwrap_or(ModelErrorClass::BadRequest);
        let mut error = self.explain(class, &answered, &said);
        error.retry_after = wait::retry_after(headers).or(said.wait);
        if class == ModelErrorClass::RateLimited {
            error.retry_after = match said.is_daily {
                // What such an answer says of seconds is about the next try, not about the quota.
                true => Some(wait::until_next_day(headers)),
                false => error.retry_after.or_else(|| wait::until_reset(headers)),
            };
        }
        error
    }

    /// The provider put an error into a response that began well.
    pub fn refused_inside(&self, said: &Said) -> ModelError {
        let class = said.class_inside();
        let mut error = self.explain(class, "broke its answer off with an error", said);
        error.retry_after = said.wait;
        error
    }

    fn explain(&self, class: ModelErrorClass, answered: &str, said: &Said) -> ModelError {
        let words = self.clean(&said.message);
        let words = match words.chars().last() {
            None => ".".to_owned(),
            Some('.' | '!' | '?' | '…') => format!(": {words}"),
            Some(_) => format!(": {words}."),
        };
        let Self {
            name,
            model,
            shown_url,
            address_hint,
            ..
        } = self;
        let message = format!("{shown_url} {answered}{words}");
        let remedy = match class {
            ModelErrorClass::Auth => format!(
                "Set a key of provider {name} in the settings or with: longrein keys set {name}. Or set the variable LONGREIN_{}_API_KEY, or check the key's credit and its right to this model.",
                name.to_ascii_uppercase().replace('-', "_")
            ),
            ModelErrorClass::RateLimited => {
                format!("Wait, or raise the rate limit of provider {name}.")
            }
            ModelErrorClass::Overloaded | ModelErrorClass::Network => {
                format!("Try again later, or look at the log of provider {name}.")
            }
            ModelErrorClass::ContextTooLong => {
                "Set window_tokens of the agent's model to the window that it really has."
                    .to_owned()
            }
            ModelErrorClass::ContentRefused => {
                "Put the task in other words, or use another model.".to_owned()
            }
            ModelErrorClass::MediaRefused => {
                "Give it smaller or other images and documents, or use a model that takes them."
                    .to_owned()
            }
            ModelErrorClass::UnknownModel if model.is_empty() => {
                format!("Check base_url of provider {name}; most end in {address_hint}.")
            }
            ModelErrorClass::UnknownModel => format!(
                "Check that provider {name} has a model “{model}” (see longrein models {name}) \
                 and that its base_url is right; most end in {address_hint}."
            ),
            ModelErrorClass::BadRequest | ModelErrorClass::Malformed => format!(
                "Provider {name} does not take this request; a newer server or another model may."
            ),
        };
        self.fault(class, message, remedy)
    }

    /// A provider's words as they may be shown: one line, capped, no control characters, no key.
    pub fn clean(&self, words: &str) -> String {
        let masked = match &self.key {
            Some(key) => key.mask_in(words),
            None => words.to_owned(),
        };
        let mut clean = String::new();
        for (count, word) in masked
            .split(|letter: char| letter.is_whitespace() || is_unsafe(letter))
            .filter(|word| !word.is_empty())
            .enumerate()
        {
            if count > 0 {
                clean.push(' ');
            }
            clean.push_str(word);
        }
        if let Some((end, _)) = clean.char_indices().nth(SAID_LIMIT) {
            clean.truncate(end);
            clean.push('…');
        }
        clean
    }
}

/// Control characters, and those that turn the direction of what follows.
fn is_unsafe(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests;
