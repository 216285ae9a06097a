//! The names of skills: what the specification allows.

use std::sync::LazyLock;

use regex::Regex;
use unicode_normalization::UnicodeNormalization;

/// The most characters of a name.
pub const NAME_LIMIT: usize = 64;

/// What is wrong with a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NameFault {
    /// It has more characters than allowed: this many.
    TooLong(usize),
    /// It has letters in upper case.
    UpperCase,
    /// It begins or ends with a hyphen.
    OuterHyphen,
    /// It has two hyphens in a row.
    DoubleHyphen,
    /// It has this character, which is neither letter, digit nor hyphen.
    Letter(char),
}

/// The name as names are compared: compatible forms of a letter are one.
pub(crate) fn folded(name: &str) -> String {
    name.trim().nfkc().collect()
}

/// What is wrong with a name that is not empty. Letters and digits of every script are let
/// through, as the specification and its reference validator do.
pub(crate) fn faults(name: &str) -> Vec<NameFault> {
    let name = folded(name);
    let mut faults = Vec::new();
    let length = name.chars().count();
    if length > NAME_LIMIT {
        faults.push(NameFault::TooLong(length));
    }
    if name != name.to_lowercase() {
        faults.push(NameFault::UpperCase);
    }
    if name.starts_with('-') || name.ends_with('-') {
        faults.push(NameFault::OuterHyphen);
    }
    if name.contains("--") {
        faults.push(NameFault::DoubleHyphen);
    }
    let stranger = name.chars().find(|&letter| !is_allowed(letter));
    faults.extend(stranger.map(NameFault::Letter));
    faults
}

/// Letters and numbers by their category: `char::is_alphanumeric` also takes marks that only join
/// to a letter.
static LETTER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[\p{L}\p{N}]$").expect("a fixed pattern is well formed"));

fn is_allowed(letter: char) -> bool {
    letter == '-' || LETTER.is_match(letter.encode_utf8(&mut [0; 4]))
}

/// Whether the specification allows this name.
pub fn is_valid(name: &str) -> bool {
    !name.trim().is_empty() && faults(name).is_empty()
}

/// A name that is allowed and comes near to `text`; `skill` where nothing of it is left.
pub(crate) fn near(text: &str) -> String {
    let mut name = String::new();
    for letter in folded(text).to_lowercase().chars() {
        if letter != '-' && is_allowed(letter) {
            name.push(letter);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
    }
    let name: String = name.chars().take(NAME_LIMIT).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "skill" } else { name }.to_owned()
}

/// The name by which a skill is found: the one that it states, else its folder's, each where it is
/// allowed; else what comes near. So a skill with a wrong name is used all the same, and no name
/// that is shown or asked for holds anything but letters, digits and hyphens.
pub(crate) fn used(stated: Option<&str>, folder: &str) -> String {
    let stated = stated.map(str::trim).filter(|name| !name.is_empty());
    let allowed = [stated, Some(folder)]
        .into_iter()
        .flatten()
        .find(|name| is_valid(name));
    match allowed {
        Some(name) => folded(name),
        None => near(stated.unwrap_or(folder)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_judged_as_the_specification_says() {
        for good in [
            "pdf-processing",
            "a",
            "7z",
            "データ",
            "straße-2",
            &"a".repeat(64),
        ] {
            assert_eq!(faults(good), [], "{good}");
        }
        assert_eq!(faults("PDF"), [NameFault::UpperCase]);
        assert_eq!(faults("-a"), [NameFault::OuterHyphen]);
        assert_eq!(faults("a-"), [NameFault::OuterHyphen]);
        assert_eq!(faults("a--b"), [NameFault::DoubleHyphen]);
        assert_eq!(faults("a_b"), [NameFault::Letter('_')]);
        assert_eq!(faults("a b"), [NameFault::Letter(' ')]);
        assert_eq!(faults("a\u{200b}b"), [NameFault::Letter('\u{200b}')]);
        assert_eq!(faults(&"a".repeat(65)), [NameFault::TooLong(65)]);
    }

    #[test]
    fn a_skill_with_a_wrong_name_is_found_by_one_that_is_allowed() {
        assert_eq!(used(Some("good"), "Folder"), "good");
        assert_eq!(used(Some("Bad Name"), "the-folder"), "the-folder");
        assert_eq!(used(None, "the-folder"), "the-folder");
        assert_eq!(used(Some("Bad  Name!"), "My Folder"), "bad-name");
        assert_eq!(used(Some("!!"), "??"), "skill");
    }
}
