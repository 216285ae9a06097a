//! The parameters that say how hard to think, which differ by model and are refused by the others.
//!
//! After platform.claude.com (adaptive thinking; migration guides of Opus 5, Opus 5.5 and
//! Sonnet 5.5), read in November 2026.

use longrein_core::dialect::Thinking;

/// The least budget that is taken.
const BUDGET_MIN: u32 = 1_024;

/// How a model thinks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Thinker {
    way: Way,
    off: Off,
    /// Whether a temperature is taken.
    takes_temperature: bool,
}

/// How a model is told to think.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// It does not.
    None,
    /// With a budget of tokens.
    Budget,
    /// By itself, with an effort.
    Adaptive,
}

/// How a model is told not to think.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Off {
    /// By saying nothing.
    Silence,
    /// `disabled`.
    Disabled,
    /// `between_tools`, which is the least that it can do.
    BetweenTools,
    /// It always thinks; a low effort is the least.
    LowEffort,
}

impl Thinker {
    /// What a model does, by its name. A model that is not Anthropic's is served by one of the
    /// many that speak its format, and all of these take the oldest way.
    pub fn of(model: &str) -> Self {
        let model = model.to_ascii_lowercase();
        if !model.contains("claude") {
            return Self {
                way: Way::Budget,
                off: Off::Disabled,
                takes_temperature: true,
            };
        }
        let version = version(&model);
        let way = match version {
            Some(version) if version < (3, 7) => Way::None,
            Some(version) if version < (4, 6) => Way::Budget,
            _ => Way::Adaptive,
        };
        let is = |name: &str| model.contains(name);
        let off = match version {
            Some(version) if version < (5, 0) => Off::Silence,
            Some((5, 0)) if is("opus") || is("sonnet") => Off::Disabled,
            Some(_) if is("sonnet") => Off::BetweenTools,
            _ => Off::LowEffort,
        };
        Self {
            way,
            off,
            takes_temperature: version.is_some_and(|version| version < (4, 7)),
        }
    }

    /// Whether a temperature may be sent.
    pub fn takes_temperature(self, thinking: Option<Thinking>) -> bool {
        let thinks = self.way != Way::None
            && matches!(
                thinking,
                Some(Thinking::Low | Thinking::Medium | Thinking::High)
            );
        self.takes_temperature && !thinks
    }

    /// What is said of thinking.
    pub fn parameters(self, thinking: Thinking, max_output_tokens: u32) -> Told {
        let effort = match thinking {
            Thinking::Off => return self.off(),
            Thinking::Low => "low",
            Thinking::Medium => "medium",
            Thinking::High => "high",
        };
        match self.way {
            Way::None => Told::default(),
            // Without `display` the words of the reasoning are left out.
            Way::Adaptive => Told {
                thinking: r#","thinking":{"type":"adaptive","display":"summarized"}"#.to_owned(),
                effort: Some(effort),
            },
            Way::Budget => match budget(thinking, max_output_tokens) {
                Some(budget) => Told::thinking(&format!(
                    r#","thinking":{{"type":"enabled","budget_tokens":{budget}}}"#
                )),
                None => Told::default(),
            },
        }
    }

    fn off(self) -> Told {
        match self.off {
            Off::Silence => Told::default(),
            Off::Disabled => Told::thinking(r#","thinking":{"type":"disabled"}"#),
            Off::BetweenTools => Told::thinking(r#","thinking":{"type":"between_tools"}"#),
            Off::LowEffort => Told {
                thinking: String::new(),
                effort: Some("low"),
            },
        }
    }
}

/// What a request says of thinking.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Told {
    /// The parameter `thinking` with a comma before it; may be empty.
    pub thinking: String,
    /// The effort, which stands in `output_config`.
    pub effort: Option<&'static str>,
}

impl Told {
    fn thinking(parameter: &str) -> Self {
        Self {
            thinking: parameter.to_owned(),
            effort: None,
        }
    }
}

/// The part of the output that may be spent on thinking: the limit covers both, and the answer
/// needs room. `None` where there is none for the least.
fn budget(thinking: Thinking, max_output_tokens: u32) -> Option<u32> {
    let share = match thinking {
        Thinking::Off => return None,
        Thinking::Low => max_output_tokens / 4,
        Thinking::Medium => max_output_tokens / 2,
        Thinking::High => max_output_tokens / 4 * 3,
    };
    (max_output_tokens >= BUDGET_MIN * 2).then_some(share.max(BUDGET_MIN))
}

/// The version in a name like `claude-opus-4-5-20251101` or `claude-3-7-sonnet-latest`. Dates are
/// longer than versions.
fn version(model: &str) -> Option<(u32, u32)> {
    let name = &model[model.find("claude")?..];
    let numbers = name
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|part| part.len() <= 2)
        .filter_map(|part| part.parse::<u32>().ok())
        .collect::<Vec<_>>();
    let major = *numbers.first()?;
    Some((major, numbers.get(1).copied().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(model: &str, thinking: Thinking) -> String {
        words(Thinker::of(model).parameters(thinking, 8_192))
    }

    fn words(told: Told) -> String {
        let effort = told
            .effort
            .map(|effort| format!(r#","output_config":{{"effort":"{effort}"}}"#));
        told.thinking + &effort.unwrap_or_default()
    }

    #[test]
    fn old_models_think_with_a_budget_that_leaves_room_for_the_answer() {
        for model in [
            "claude-3-7-sonnet-latest",
            "claude-opus-4-5",
            "claude-sonnet-4-20250514",
        ] {
            assert_eq!(
                sent(model, Thinking::Medium),
                r#","thinking":{"type":"enabled","budget_tokens":4096}"#
            );
            assert_eq!(sent(model, Thinking::Off), "");
        }
        let little = Thinker::of("claude-haiku-4-5").parameters(Thinking::High, 2_000);
        assert_eq!(words(little), "");
        assert_eq!(sent("claude-3-5-haiku-latest", Thinking::High), "");
    }

    #[test]
    fn new_models_think_by_an_effort_and_show_it() {
        for model in [
            "claude-opus-4-6",
            "claude-sonnet-5-5",
            "claude-fable-5-2",
            "claude-mythos-preview",
        ] {
            assert_eq!(
                sent(model, Thinking::High),
                r#","thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"high"}"#
            );
        }
    }

    #[test]
    fn off_is_said_as_each_model_takes_it() {
        assert_eq!(sent("claude-opus-4-8", Thinking::Off), "");
        let disabled = r#","thinking":{"type":"disabled"}"#;
        assert_eq!(sent("claude-opus-5", Thinking::Off), disabled);
        assert_eq!(sent("claude-sonnet-5", Thinking::Off), disabled);
        assert_eq!(
            sent("claude-sonnet-5-5", Thinking::Off),
            r#","thinking":{"type":"between_tools"}"#
        );
        let low = r#","output_config":{"effort":"low"}"#;
        for model in [
            "claude-opus-5-5",
            "claude-fable-5-1",
            "claude-mythos-5",
            "claude-haiku-5-5",
        ] {
            assert_eq!(sent(model, Thinking::Off), low);
        }
        assert_eq!(sent("glm-5.3", Thinking::Off), disabled);
    }

    #[test]
    fn a_temperature_is_sent_only_to_models_that_take_one_and_do_not_think() {
        let takes = |model, thinking| Thinker::of(model).takes_temperature(thinking);
        assert!(takes("claude-sonnet-4-6", None));
        assert!(takes("claude-sonnet-4-6", Some(Thinking::Off)));
        assert!(!takes("claude-sonnet-4-6", Some(Thinking::Low)));
        assert!(!takes("claude-opus-4-7", None));
        assert!(!takes("claude-mythos-preview", None));
        assert!(takes("deepseek-flash", None));
    }
}
