//! Selectors: words of a rule that stand for tools by what they may do.

use longrein_protocol::tool::Effect;

/// What a selector stands for. The effect is the one after the agent's table of tools; a tool that
/// declares none is irreversible.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Selector {
    /// What only reads.
    Read,
    /// What changes something that can be taken back, in the workspace or outside.
    Write,
    /// What changes something for good.
    Destructive,
}

/// The selectors, as people write them.
pub(crate) const SELECTORS: &[(&str, Selector)] = &[
    ("@read", Selector::Read),
    ("@write", Selector::Write),
    ("@destructive", Selector::Destructive),
];

impl Selector {
    /// Takes a pattern apart: `@read`, or `server.@read` for the tools of one server. `None` where
    /// it is none.
    pub(crate) fn of(pattern: &str) -> Option<(Option<&str>, Self)> {
        let (server, word) = match pattern.split_once('.') {
            Some((server, word)) => (Some(server), word),
            None => (None, pattern),
        };
        let (_, selector) = SELECTORS.iter().find(|(name, _)| *name == word)?;
        Some((server, *selector))
    }

    fn covers(self, effect: Effect) -> bool {
        match self {
            Self::Read => effect == Effect::Read,
            Self::Write => matches!(effect, Effect::Workspace | Effect::Reversible),
            Self::Destructive => effect == Effect::Irreversible,
        }
    }

    /// What it stands for, after the words for whose tools are meant.
    pub(crate) fn in_words(self) -> &'static str {
        match self {
            Self::Read => "that only reads",
            Self::Write => "that changes something that can be taken back",
            Self::Destructive => "that changes something outside for good",
        }
    }
}

/// Whether a selector covers a tool of this effect; `None` where the pattern is no selector.
pub(super) fn selects(pattern: &str, tool: &str, effect: Effect) -> Option<bool> {
    let (server, selector) = Selector::of(pattern)?;
    let of = tool.split_once('.').map(|(server, _)| server);
    Some(selector.covers(effect) && server.is_none_or(|server| of == Some(server)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_covers_what_has_its_effect_of_all_tools_or_of_one_server() {
        let covered = |pattern, tool| {
            [
                Effect::Read,
                Effect::Workspace,
                Effect::Reversible,
                Effect::Irreversible,
            ]
            .map(|effect| selects(pattern, tool, effect).unwrap())
        };
        assert_eq!(covered("@read", "lab.weigh"), [true, false, false, false]);
        assert_eq!(covered("@write", "write_file"), [false, true, true, false]);
        assert_eq!(
            covered("@destructive", "lab.burn"),
            [false, false, false, true]
        );
        assert_eq!(
            covered("lab.@read", "lab.weigh"),
            [true, false, false, false]
        );
        assert_eq!(covered("lab.@read", "arm.look"), [false; 4]);
        assert_eq!(covered("lab.@read", "read_file"), [false; 4]);
    }

    #[test]
    fn what_is_no_selector_selects_nothing() {
        for pattern in ["lab.*", "lab.weigh", "@reed", "lab.@", "@read.lab", "read"] {
            assert_eq!(
                selects(pattern, "lab.weigh", Effect::Read),
                None,
                "{pattern}"
            );
        }
    }
}
