//! From a typed line to an answer. A bare Enter is no answer, and neither is anything that is not
//! meant as one.

use longrein_protocol::event::Verdict;
use longrein_protocol::gate::Scope;

use crate::text;

/// The most letters that are shown of a line that is no answer.
const SHOWN_LETTERS: usize = 24;

/// Asks for arguments where no editor is named.
pub const EDIT_PROMPT: &str =
    "The arguments as one line of JSON (set EDITOR to edit them in place), or Ctrl-D:";
/// Asks how far a rule reaches.
pub const SCOPE_PROMPT: &str =
    "Always in this [r]un, in every run of this [a]gent, [e]verywhere, or [b]ack:";
/// Asks whether a rule holds in a tainted run.
pub const TAINTED_PROMPT: &str = "The run has read untrusted text, which may try to steer it. Let the rule hold all the same? y/N:";
/// Asks whether a result is accepted.
pub const ACCEPT_PROMPT: &str = "Accept it? [a]ccept, [s]end back, or later:";
/// Asks what became of an action.
pub const SETTLE_PROMPT: &str =
    "What became of it? [h]appened, [n]ot happened, [r]un it again, [s]top the run, or later:";

/// Asks whether an action may start.
pub fn approval_prompt(has_always: bool) -> &'static str {
    if has_always {
        "Let it start? [a]pprove, [e]dit, [d]eny, a[l]ways, or later:"
    } else {
        "Let it start? [a]pprove, [e]dit, [d]eny, or later:"
    }
}

/// Asks the question of a model.
pub fn question_prompt(options: &[String]) -> &'static str {
    if options.is_empty() {
        "Your answer, or Ctrl-D to leave it for later:"
    } else {
        "A number, or your own words, or Ctrl-D to leave it for later:"
    }
}

/// An answer to whether an action may start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Approving {
    /// It may.
    Approve,
    /// It may, with other arguments.
    Edit,
    /// It may, and so may the like of it.
    Always,
    /// It may not; the reason may be empty.
    Deny(String),
    /// Not now.
    Later,
}

/// See [`approval_prompt`].
pub fn approving(line: &str) -> Option<Approving> {
    let (word, rest) = split(line);
    match (word.as_str(), rest.is_empty()) {
        ("a" | "approve" | "yes", true) => Some(Approving::Approve),
        ("e" | "edit", true) => Some(Approving::Edit),
        ("l" | "always", true) => Some(Approving::Always),
        ("d" | "deny" | "no", _) => Some(Approving::Deny(rest)),
        ("later", true) => Some(Approving::Later),
        _ => None,
    }
}

/// An answer to whether a result is accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Accepting {
    /// It is.
    Accept,
    /// It is not; what is missing, which may be empty.
    SendBack(String),
    /// Not now.
    Later,
}

/// See [`ACCEPT_PROMPT`].
pub fn accepting(line: &str) -> Option<Accepting> {
    let (word, rest) = split(line);
    match (word.as_str(), rest.is_empty()) {
        ("a" | "accept" | "yes", true) => Some(Accepting::Accept),
        ("s" | "send", _) => {
            let words = rest.strip_prefix("back").unwrap_or(&rest);
            let words = words.trim_start_matches([':', ',']).trim();
            Some(Accepting::SendBack(words.to_owned()))
        }
        ("later", true) => Some(Accepting::Later),
        _ => None,
    }
}

/// An answer to what became of an action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Settling {
    /// This.
    Verdict(Verdict),
    /// The run ends for good.
    Stop,
    /// Not now.
    Later,
}

/// See [`SETTLE_PROMPT`].
pub fn settling(line: &str) -> Option<Settling> {
    match line.trim().to_lowercase().as_str() {
        "h" | "happened" => Some(Settling::Verdict(Verdict::Happened)),
        "n" | "not happened" | "not-happened" => Some(Settling::Verdict(Verdict::NotHappened)),
        "r" | "run it again" | "retry" => Some(Settling::Verdict(Verdict::Retry)),
        "s" | "stop" => Some(Settling::Stop),
        "later" => Some(Settling::Later),
        _ => None,
    }
}

/// See [`SCOPE_PROMPT`].
pub fn scope(line: &str) -> Option<Scope> {
    match line.trim().to_lowercase().as_str() {
        "r" | "run" => Some(Scope::Run),
        "a" | "agent" => Some(Scope::Agent),
        "e" | "everywhere" => Some(Scope::Everywhere),
        _ => None,
    }
}

/// The answer to a question: an option by its number, or the words themselves.
pub fn chosen(line: &str, options: &[String]) -> Option<String> {
    let line = line.trim();
    let place = line
        .parse::<usize>()
        .ok()
        .and_then(|place| place.checked_sub(1));
    match place.and_then(|place| options.get(place)) {
        Some(option) => Some(option.clone()),
        None => Some(line.to_owned()).filter(|line| !line.is_empty()),
    }
}

/// Whether a line says yes to a question that has no as its answer.
pub fn is_yes(line: &str) -> bool {
    matches!(line.trim().to_lowercase().as_str(), "y" | "yes")
}

/// Why a line is asked for again.
pub fn not_understood(line: &str) -> String {
    match text::brief(line, SHOWN_LETTERS).as_str() {
        "" => "An empty line is no answer.".to_owned(),
        line => format!("“{line}” is no answer."),
    }
}

/// The first word in lower case, without what follows it, and the rest.
fn split(line: &str) -> (String, String) {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let word = word.trim_end_matches([',', ':']).to_lowercase();
    (word, rest.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_letter_or_a_word_that_stands_alone_lets_an_action_start() {
        let deny = |reason: &str| Some(Approving::Deny(reason.to_owned()));
        let cases = [
            ("a", Some(Approving::Approve)),
            (" Approve\n", Some(Approving::Approve)),
            ("YES", Some(Approving::Approve)),
            ("", None),
            ("\n", None),
            ("y", None),
            ("a bit later", None),
            ("yes but not now", None),
            ("e", Some(Approving::Edit)),
            ("l", Some(Approving::Always)),
            ("always and for ever", None),
            ("d", deny("")),
            ("no: wrong channel", deny("wrong channel")),
            ("deny wrong channel", deny("wrong channel")),
            ("later", Some(Approving::Later)),
            ("what?", None),
        ];
        for (line, answer) in cases {
            assert_eq!(approving(line), answer, "{line:?}");
        }
    }

    #[test]
    fn a_result_is_accepted_by_a_word_and_sent_back_with_words() {
        let back = |words: &str| Some(Accepting::SendBack(words.to_owned()));
        let cases = [
            ("a", Some(Accepting::Accept)),
            ("accept", Some(Accepting::Accept)),
            ("accept it if you must", None),
            ("s", back("")),
            ("send back", back("")),
            ("send back: no prices", back("no prices")),
            ("s no prices", back("no prices")),
            ("later", Some(Accepting::Later)),
            ("", None),
        ];
        for (line, answer) in cases {
            assert_eq!(accepting(line), answer, "{line:?}");
        }
    }

    #[test]
    fn what_became_of_an_action_is_said_in_whole_words_or_by_their_letter() {
        let cases = [
            ("h", Some(Settling::Verdict(Verdict::Happened))),
            (
                "not happened",
                Some(Settling::Verdict(Verdict::NotHappened)),
            ),
            ("retry", Some(Settling::Verdict(Verdict::Retry))),
            ("s", Some(Settling::Stop)),
            ("later", Some(Settling::Later)),
            ("perhaps", None),
            ("", None),
        ];
        for (line, answer) in cases {
            assert_eq!(settling(line), answer, "{line:?}");
        }
    }

    #[test]
    fn a_question_is_answered_by_a_number_of_an_option_or_by_words() {
        let options = ["#lab".to_owned(), "#ann".to_owned()];
        let cases = [
            ("2", Some("#ann")),
            ("3", Some("3")),
            ("0", Some("0")),
            ("#other", Some("#other")),
            ("  ", None),
        ];
        for (line, answer) in cases {
            assert_eq!(chosen(line, &options).as_deref(), answer, "{line:?}");
        }
    }
}
