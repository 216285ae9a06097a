//! How a model is told how hard to think: by a level from Gemini 3 on, by a budget before, and
//! not at all before that.
//!
//! After ai.google.dev/gemini-api/docs/thinking, read in November 2026.

use longrein_core::dialect::Thinking;

/// The least budget of a model that can't stop thinking.
const BUDGET_MIN: u32 = 128;

/// The largest budget that all models with one take.
const BUDGET_MAX: u32 = 24_576;

/// What a model takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Thinker {
    way: Way,
    /// Whether it is a small model, which can think less than others.
    is_flash: bool,
    /// Whether its levels are only low and high.
    is_two_levelled: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    None,
    Budget,
    Level,
}

impl Thinker {
    /// What a model takes, by its name.
    pub fn of(model: &str) -> Self {
        let model = model.to_ascii_lowercase();
        let way = match version(&model) {
            _ if !model.contains("gemini") => Way::None,
            // A name without a number is of the newest.
            None => Way::Level,
            Some((3.., _)) => Way::Level,
            Some((2, 5)) => Way::Budget,
            Some(_) => Way::None,
        };
        Self {
            way,
            is_flash: model.contains("flash"),
            is_two_levelled: model.contains("gemini-3-pro"),
        }
    }

    /// Whether a call must carry a signature when it goes back.
    pub fn signs(self) -> bool {
        self.way == Way::Level
    }

    /// The configuration as JSON; `None` where the model takes none.
    pub fn config(self, thinking: Thinking, max_output_tokens: u32) -> Option<String> {
        let is_off = thinking == Thinking::Off;
        let setting = match self.way {
            Way::None => return None,
            Way::Level => {
                let level = match thinking {
                    Thinking::Off if self.is_flash => "minimal",
                    Thinking::Off | Thinking::Low => "low",
                    Thinking::Medium if self.is_two_levelled => "high",
                    Thinking::Medium => "medium",
                    Thinking::High => "high",
                };
                format!(r#""thinkingLevel":"{level}""#)
            }
            Way::Budget => {
                format!(
                    r#""thinkingBudget":{}"#,
                    self.budget(thinking, max_output_tokens)
                )
            }
        };
        Some(format!(r#"{{{setting},"includeThoughts":{}}}"#, !is_off))
    }

    /// The part of the output that may be spent on thinking: the limit covers both, and the answer
    /// needs room.
    fn budget(self, thinking: Thinking, max_output_tokens: u32) -> u32 {
        let share = match thinking {
            Thinking::Off if self.is_flash => return 0,
            Thinking::Off => return BUDGET_MIN,
            Thinking::Low => max_output_tokens / 4,
            Thinking::Medium => max_output_tokens / 2,
            Thinking::High => max_output_tokens / 4 * 3,
        };
        share.clamp(BUDGET_MIN, BUDGET_MAX)
    }
}

/// The version in a name like `gemini-2.5-flash` or `gemini-4-argon`.
fn version(model: &str) -> Option<(u32, u32)> {
    let rest = model.split_once("gemini-")?.1;
    let number = rest.split('-').next()?;
    let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(model: &str, thinking: Thinking) -> String {
        let config = Thinker::of(model).config(thinking, 8_192);
        config.unwrap_or_default()
    }

    #[test]
    fn new_models_have_levels() {
        let medium = r#"{"thinkingLevel":"medium","includeThoughts":true}"#;
        for model in ["gemini-3.8-flash", "gemini-4-argon", "gemini-flash-latest"] {
            assert_eq!(sent(model, Thinking::Medium), medium, "{model}");
        }
        assert_eq!(
            sent("gemini-3-pro-preview", Thinking::Medium),
            r#"{"thinkingLevel":"high","includeThoughts":true}"#
        );
        assert_eq!(
            sent("gemini-3.8-flash", Thinking::Off),
            r#"{"thinkingLevel":"minimal","includeThoughts":false}"#
        );
        assert_eq!(
            sent("gemini-4-argon", Thinking::Off),
            r#"{"thinkingLevel":"low","includeThoughts":false}"#
        );
    }

    #[test]
    fn older_models_have_budgets_and_the_oldest_nothing() {
        assert_eq!(
            sent("gemini-2.5-pro", Thinking::Low),
            r#"{"thinkingBudget":2048,"includeThoughts":true}"#
        );
        assert_eq!(
            sent("gemini-2.5-flash", Thinking::Off),
            r#"{"thinkingBudget":0,"includeThoughts":false}"#
        );
        assert_eq!(
            sent("gemini-2.5-pro", Thinking::Off),
            r#"{"thinkingBudget":128,"includeThoughts":false}"#
        );
        assert_eq!(sent("gemini-2.0-flash", Thinking::High), "");
        assert_eq!(sent("gemma-3-27b-it", Thinking::High), "");
    }
}
