//! Programs that run a command for many things: what they put in is not known beforehand.

use super::Reader;
use super::options::Options;
use super::word::Word;

/// What is put in the place of, or behind, the words of such a command.
const PUT_IN: &str = "$@";

impl Reader {
    pub(super) fn xargs(&mut self, words: &[Word], depth: usize) -> Option<()> {
        const XARGS: Options = Options {
            short: "0oprtxa:d:E:e::I:i::J:L:l::n:P:R:s:S:",
            long: &[
                "null",
                "open-tty",
                "interactive",
                "no-run-if-empty",
                "verbose",
                "exit",
                "arg-file=",
                "delimiter=",
                "eof",
                "replace",
                "max-lines",
                "max-args=",
                "max-procs=",
                "max-chars=",
                "process-slot-var=",
            ],
        };
        let given = XARGS.read(words)?;
        let replaced: Vec<&Word> = given.values(&["-I", "-i", "-J", "--replace"]).collect();
        let marks: Vec<String> = match (&replaced[..], given.has(&["-I", "-i", "-J", "--replace"]))
        {
            ([], true) => vec!["{}".to_owned()],
            (marks, _) => marks
                .iter()
                .map(|mark| {
                    if mark.text.is_empty() {
                        "{}".to_owned()
                    } else {
                        mark.text.clone()
                    }
                })
                .collect(),
        };
        if given.operands.is_empty() {
            return Some(());
        }
        let mut inner: Vec<Word> = given
            .operands
            .iter()
            .map(|word| put_in(word, &marks))
            .collect();
        if marks.is_empty() {
            inner.push(Word::unknown(PUT_IN));
        }
        self.simple(inner, depth + 1);
        Some(())
    }

    /// `find … -exec COMMAND ;`, for each of the ways to say so.
    pub(super) fn find(&mut self, words: &[Word], depth: usize) -> Option<()> {
        let mut rest = words;
        while let Some((word, after)) = rest.split_first() {
            rest = after;
            // What is not written out at all may be any of these.
            let is_written =
                word.is_literal || word.text.contains(|letter: char| letter.is_ascii());
            is_written.then_some(())?;
            if !matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
                continue;
            }
            let is_end = |word: &Word| matches!(word.text.as_str(), ";" | "+");
            let end = after.iter().position(is_end).unwrap_or(after.len());
            self.for_each(&after[..end], "{}", depth);
            rest = &after[end..];
        }
        Some(())
    }

    /// `fd … -x COMMAND ;`.
    pub(super) fn fd(&mut self, words: &[Word], depth: usize) -> Option<()> {
        let mut rest = words;
        while let Some((word, after)) = rest.split_first() {
            rest = after;
            let text = word.text.as_str();
            if !matches!(text, "-x" | "-X" | "--exec" | "--exec-batch") {
                // Its options may be joined, and then so are these.
                let joined = text.starts_with("--exec=") || text.starts_with("--exec-batch=");
                let letters = text.starts_with('-') && !text.starts_with("--");
                let runs = joined || (letters && text.contains(['x', 'X']));
                (word.is_literal && !runs).then_some(())?;
                continue;
            }
            let end = after.iter().position(|word| word.text == ";");
            let end = end.unwrap_or(after.len());
            self.for_each(&after[..end], "{", depth);
            rest = &after[end..];
        }
        Some(())
    }

    /// A command that is run for what was found: put in at a mark, or else behind.
    fn for_each(&mut self, words: &[Word], mark: &str, depth: usize) {
        if words.is_empty() {
            return;
        }
        let marks = [mark.to_owned()];
        let mut inner: Vec<Word> = words.iter().map(|word| put_in(word, &marks)).collect();
        inner.push(Word::unknown(PUT_IN));
        self.simple(inner, depth + 1);
    }

    /// GNU parallel reads its command as a shell does, for each of its arguments.
    pub(super) fn parallel(&mut self, words: &[Word], depth: usize) -> Option<()> {
        const PARALLEL: Options = Options {
            short: "0kmqtuvXj:P:n:N:L:s:a:d:C:I:",
            long: &[
                "bar",
                "dry-run",
                "eta",
                "group",
                "halt=",
                "jobs=",
                "joblog=",
                "keep-order",
                "line-buffer",
                "max-args=",
                "no-notice",
                "null",
                "progress",
                "retries=",
                "tag",
                "timeout=",
                "ungroup",
                "verbose",
                "will-cite",
            ],
        };
        let given = PARALLEL.read(words)?;
        let is_source = |word: &Word| word.text.starts_with(":::");
        let operands = given.operands;
        let end = operands
            .iter()
            .position(is_source)
            .unwrap_or(operands.len());
        let inner = &operands[..end];
        let is_plain = inner.iter().all(|word| word.is_literal) && !given.has(&["-I", "-q"]);
        // Without a command, the arguments are the commands.
        if inner.is_empty() || !is_plain || inner[0].text.contains('{') {
            return None;
        }
        let texts: Vec<String> = inner.iter().map(|word| without_marks(&word.text)).collect();
        self.script(&format!("{} {PUT_IN}", texts.join(" ")), depth + 1);
        Some(())
    }

    /// What git runs by itself: its own commands that take one, and settings that name one.
    pub(super) fn git(&mut self, words: &[Word], depth: usize) -> Option<()> {
        const SETS: &[&str] = &["-c", "--config-env", "--exec-path"];
        const NAMES: &[&str] = &[
            "--upload-pack",
            "--receive-pack",
            "--exec",
            "--extcmd",
            "-x",
        ];
        let mut own = words.iter().take_while(|word| word.text.starts_with('-'));
        if own.any(|word| SETS.iter().any(|set| word.text.starts_with(set))) {
            return None;
        }
        let named = |word: &Word| {
            let name = word.text.split('=').next().unwrap_or_default();
            NAMES.contains(&name) || word.text.starts_with("ext::")
        };
        if words.iter().any(named) {
            return None;
        }
        let at = words.iter().position(|word| !word.text.starts_with('-'));
        let rest = at.map_or(&[][..], |at| &words[at..]);
        let texts: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
        match texts[..] {
            ["bisect", "run", ..] => self.simple(rest.get(2..)?.to_vec(), depth + 1),
            ["submodule", "foreach", ..] => self.joined(without_flags(&rest[2..]), depth)?,
            [
                "filter-branch" | "daemon" | "instaweb" | "config" | "difftool" | "mergetool",
                ..,
            ] if texts.len() > 1 && texts.iter().any(|text| runs_when_set(text)) => {
                return None;
            }
            _ => {}
        }
        Some(())
    }
}

/// Settings and options of git that name a program.
fn runs_when_set(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let ends = [
        "command",
        "cmd",
        "pager",
        "editor",
        "helper",
        "program",
        "hookspath",
        "-filter",
    ];
    text.starts_with("alias.")
        || text.starts_with("filter.")
        || text.starts_with("include")
        || text.contains(".insteadof")
        || ends.iter().any(|end| text.ends_with(end))
}

fn without_flags(words: &[Word]) -> &[Word] {
    let flags = words.iter().take_while(|word| word.text.starts_with("--"));
    &words[flags.count()..]
}

/// A word in which something is put in the place of a mark.
fn put_in(word: &Word, marks: &[String]) -> Word {
    if marks.iter().any(|mark| word.text.contains(mark.as_str())) {
        word.replaced()
    } else {
        word.clone()
    }
}

/// A text with `{}`, `{.}`, `{1}` as something that is not known.
fn without_marks(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        plain.push_str(before);
        match after.split_once('}') {
            Some((_, behind)) => {
                plain.push_str(PUT_IN);
                rest = behind;
            }
            None => {
                plain.push('{');
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    plain
}
