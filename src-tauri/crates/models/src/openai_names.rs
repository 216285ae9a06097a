//! What OpenAI's models can do, by their names: the API says so only by refusing.

use longrein_core::dialect::Thinking;

/// A family of models that take the same parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    /// Does not reason: takes a temperature, no effort, and no reasoning back.
    Plain,
    /// The o-series and gpt-oss: can't stop reasoning.
    Always,
    /// GPT-5: least effort is `minimal`.
    Five,
    /// GPT-5.1 and later: `none` stops it.
    Later,
    /// Not OpenAI's.
    Other,
}

impl Family {
    /// The family of a model, whatever provider stands before its name.
    pub fn of(model: &str) -> Self {
        let name = model.rsplit('/').next().unwrap_or(model);
        let begins_with_digit =
            |text: &str| text.starts_with(|letter: char| letter.is_ascii_digit());
        if name.starts_with("gpt-oss") || name.strip_prefix('o').is_some_and(begins_with_digit) {
            return Self::Always;
        }
        if name.starts_with("chatgpt-") || name.contains("-chat-latest") {
            return Self::Plain;
        }
        let Some(version) = name.strip_prefix("gpt-") else {
            return Self::Other;
        };
        let number = |text: &str| {
            let end = text
                .find(|letter: char| !letter.is_ascii_digit())
                .unwrap_or(text.len());
            text[..end].parse::<u32>().unwrap_or(0)
        };
        match number(version) {
            0..=4 => Self::Plain,
            5 if !version.starts_with("5.") => Self::Five,
            _ => Self::Later,
        }
    }

    /// Whether the model reasons, as far as its name says.
    pub fn reasons(self) -> bool {
        self != Self::Plain
    }

    /// Whether a temperature would be refused.
    pub fn refuses_temperature(self) -> bool {
        matches!(self, Self::Always | Self::Five | Self::Later)
    }

    /// The word for an effort; `None` where none is taken.
    pub fn effort(self, thinking: Thinking) -> Option<&'static str> {
        match (self, thinking) {
            (Self::Plain, _) => None,
            (Self::Always, Thinking::Off) => Some("low"),
            (Self::Five, Thinking::Off) => Some("minimal"),
            (Self::Later | Self::Other, Thinking::Off) => Some("none"),
            (_, Thinking::Low) => Some("low"),
            (_, Thinking::Medium) => Some("medium"),
            (_, Thinking::High) => Some("high"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_family_is_read_from_the_name() {
        for (name, family) in [
            ("gpt-4.1-mini", Family::Plain),
            ("gpt-4o", Family::Plain),
            ("gpt-5-chat-latest", Family::Plain),
            ("o3", Family::Always),
            ("o4-mini-2025-04-16", Family::Always),
            ("openai/gpt-oss-120b", Family::Always),
            ("gpt-5", Family::Five),
            ("gpt-5-mini-2025-08-07", Family::Five),
            ("gpt-5.1", Family::Later),
            ("openai/gpt-5.6-sol", Family::Later),
            ("gpt-6", Family::Later),
            ("grok-4.7", Family::Other),
            ("olmo-3", Family::Other),
        ] {
            assert_eq!(Family::of(name), family, "{name}");
        }
    }

    #[test]
    fn what_can_not_be_switched_off_is_turned_down() {
        let off = |name| Family::of(name).effort(Thinking::Off);
        assert_eq!(off("o3"), Some("low"));
        assert_eq!(off("gpt-5-nano"), Some("minimal"));
        assert_eq!(off("gpt-5.4"), Some("none"));
        assert_eq!(off("gpt-4.1"), None);
    }
}
