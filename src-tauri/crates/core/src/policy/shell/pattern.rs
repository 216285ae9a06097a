//! Rules that speak of commands: by the first words of a simple command.

use super::word::{is_known, quoted};

/// Whether a rule speaks of something.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(in crate::policy) enum Fit {
    /// It does not.
    No,
    /// That is only known when it runs.
    May,
    /// It does.
    Yes,
}

/// The most words of an offered rule.
const BEGINNING_WORDS: usize = 6;

/// Programs whose second word says what kind of thing is meant, and whose third what is done.
const TWO_LEVELS: &[(&str, &[&str])] = &[
    ("aws", &[]),
    ("az", &[]),
    (
        "docker",
        &[
            "compose",
            "container",
            "image",
            "network",
            "system",
            "volume",
        ],
    ),
    ("gcloud", &[]),
    ("gh", &[]),
    (
        "git",
        &[
            "bisect",
            "notes",
            "remote",
            "stash",
            "submodule",
            "worktree",
        ],
    ),
    ("npm", &["run", "exec"]),
    ("pnpm", &["run", "exec"]),
    (
        "podman",
        &[
            "compose",
            "container",
            "image",
            "network",
            "system",
            "volume",
        ],
    ),
    ("yarn", &["run", "exec"]),
];

/// Whether a command certainly begins with the words of a rule. The words of the command are as
/// they are recorded.
pub(in crate::policy) fn begins(pattern: &str, words: &[String]) -> bool {
    let wanted = words_of(pattern);
    !wanted.is_empty()
        && wanted.len() <= words.len()
        && wanted
            .iter()
            .zip(words)
            .all(|(wanted, word)| wanted == word && is_known(word))
}

/// Whether a command begins with the words of a rule that asks or denies, or may when it runs: the
/// program by its full path or in other letters, a word that is not written out, options before
/// the words that matter.
pub(in crate::policy) fn may_begin(pattern: &str, words: &[String]) -> Fit {
    let wanted = words_of(pattern);
    let (Some((program, wanted)), Some((name, words))) =
        (wanted.split_first(), words.split_first())
    else {
        return Fit::No;
    };
    if !is_known(name) {
        return Fit::May;
    }
    if !is_program(program, name) {
        return Fit::No;
    }
    for (at, wanted) in wanted.iter().enumerate() {
        let Some(word) = words.get(at) else {
            return Fit::No;
        };
        if word == wanted {
            continue;
        }
        // An option may take a value or none, so which word comes next can't be said.
        let is_open = !is_known(word) || word.starts_with('-');
        return if is_open && may_follow(wanted, &words[at..]) {
            Fit::May
        } else {
            Fit::No
        };
    }
    Fit::Yes
}

fn may_follow(wanted: &str, words: &[String]) -> bool {
    words.iter().any(|word| word == wanted || !is_known(word))
}

fn is_program(wanted: &str, name: &str) -> bool {
    let bare = |text: &str| {
        let text = text.rsplit('/').next().unwrap_or(text).to_ascii_lowercase();
        text.strip_suffix(".exe")
            .map_or(text.clone(), str::to_owned)
    };
    wanted == name || bare(wanted) == bare(name)
}

/// The words of a rule, each as a recorded word is: quotes keep blanks together.
fn words_of(pattern: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in pattern.chars() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (Some(_), letter) => word.get_or_insert_default().push(letter),
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, letter) if letter.is_whitespace() => words.extend(word.take()),
            (None, letter) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words.iter().map(|word| quoted(word)).collect()
}

/// The beginning of a command that "always" would allow: the program and what it is told to do.
/// `None` when that is not written out. A command whose first word is an option is taken whole,
/// since the option may change everything after it.
pub(in crate::policy) fn beginning(words: &[String]) -> Option<String> {
    let program = words.first()?;
    let second = words.get(1).map(String::as_str);
    let kinds = TWO_LEVELS.iter().find(|(name, _)| name == program);
    let count = match (second, kinds) {
        (None, _) => 1,
        (Some(second), _) if second.starts_with('-') => words.len(),
        (Some(second), Some((_, kinds))) if kinds.is_empty() || kinds.contains(&second) => {
            words.len().min(3)
        }
        (Some(_), _) => 2,
    };
    let taken = &words[..count];
    let is_offered = count <= BEGINNING_WORDS && taken.iter().all(|word| is_known(word));
    let text = taken.join(" ");
    // What a rule says must read back as the same words.
    (is_offered && words_of(&text) == taken).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_rule_that_allows_wants_the_very_words() {
        for (pattern, command, expected) in [
            ("git log", "git log", true),
            ("git log", "git log --oneline", true),
            ("git", "git log", true),
            ("git log", "git", false),
            ("git log", "git logs", false),
            ("git log", "/usr/bin/git log", false),
            ("git log", "GIT log", false),
            ("git log", "git -C x log", false),
            ("git log", "git $x", false),
            ("git $x", "git $x", false),
            ("", "git", false),
            ("find . -name '*.rs'", "find . -name '*.rs'", true),
            ("find . -name *.rs", "find . -name *.rs", false),
        ] {
            assert_eq!(
                begins(pattern, &words(command)),
                expected,
                "{pattern} | {command}"
            );
        }
    }

    #[test]
    fn a_rule_that_denies_sees_through_paths_cases_options_and_variables() {
        for (pattern, command, expected) in [
            ("git push", "git push -f", Fit::Yes),
            ("git push", "/usr/bin/git push", Fit::Yes),
            ("git push", "GIT.exe push", Fit::Yes),
            ("git push", "git -C x push", Fit::May),
            ("git push", "git $x", Fit::May),
            ("git push", "git --no-pager $x", Fit::May),
            ("git push", "$x push", Fit::May),
            ("git push", "git log push", Fit::No),
            ("git push", "git -C x log", Fit::No),
            ("git push", "git", Fit::No),
            ("git push", "gitk push", Fit::No),
        ] {
            assert_eq!(
                may_begin(pattern, &words(command)),
                expected,
                "{pattern} | {command}"
            );
        }
    }

    #[test]
    fn an_offer_takes_the_program_and_what_it_is_told_to_do() {
        for (command, expected) in [
            ("git log --oneline -5", Some("git log")),
            ("git remote add x y", Some("git remote add")),
            ("npm run build --silent", Some("npm run build")),
            ("ls", Some("ls")),
            ("cat notes.txt", Some("cat notes.txt")),
            ("rm -rf build", Some("rm -rf build")),
            ("python3 -m pytest", Some("python3 -m pytest")),
            ("rm -f $x", None),
            ("git $x", None),
            ("git log $x", Some("git log")),
            ("rm -a -b -c -d -e -f -g", None),
        ] {
            assert_eq!(beginning(&words(command)).as_deref(), expected, "{command}");
        }
    }
}
