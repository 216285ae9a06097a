//! Programs that run other programs: what they would run is a command like any other.

use super::Reader;
use super::options::{Given, Options};
use super::word::Word;

/// A program that runs the command that follows its options.
struct Launcher {
    names: &'static [&'static str],
    options: Options,
    /// Operands before the command.
    skips: usize,
}

const fn plain(names: &'static [&'static str], short: &'static str) -> Launcher {
    Launcher {
        names,
        options: Options { short, long: &[] },
        skips: 0,
    }
}

const LAUNCHERS: &[Launcher] = &[
    plain(&["builtin", "busybox", "fakeroot", "nohup", "toybox"], ""),
    plain(&["command"], "p"),
    plain(&["exec"], "cla:"),
    plain(&["doas"], "nu:"),
    plain(&["catchsegv", "dbus-run-session", "setarch"], ""),
    plain(&["caffeinate"], "disumt:w:"),
    Launcher {
        names: &["env"],
        options: Options {
            short: "i0vu:C:",
            long: &["ignore-environment", "null", "debug", "unset=", "chdir="],
        },
        skips: 0,
    },
    Launcher {
        names: &["sudo"],
        options: Options {
            short: "ABbEHknPSu:g:h:p:C:D:R:T:U:r:t:",
            long: &[
                "askpass",
                "background",
                "preserve-env",
                "set-home",
                "reset-timestamp",
                "non-interactive",
                "preserve-groups",
                "stdin",
                "user=",
                "group=",
                "host=",
                "prompt=",
                "close-from=",
                "chdir=",
                "chroot=",
                "command-timeout=",
            ],
        },
        skips: 0,
    },
    Launcher {
        names: &["nice"],
        options: Options {
            short: "#n:",
            long: &["adjustment="],
        },
        skips: 0,
    },
    Launcher {
        names: &["ionice"],
        options: Options {
            short: "tc:n:",
            long: &["ignore", "class=", "classdata="],
        },
        skips: 0,
    },
    Launcher {
        names: &["setsid"],
        options: Options {
            short: "cfw",
            long: &["ctty", "fork", "wait"],
        },
        skips: 0,
    },
    Launcher {
        names: &["stdbuf"],
        options: Options {
            short: "i:o:e:",
            long: &["input=", "output=", "error="],
        },
        skips: 0,
    },
    Launcher {
        names: &["time"],
        options: Options {
            short: "apqvf:o:",
            long: &[
                "append",
                "portability",
                "quiet",
                "verbose",
                "format=",
                "output=",
            ],
        },
        skips: 0,
    },
    Launcher {
        names: &["timeout", "gtimeout"],
        options: Options {
            short: "fvk:s:",
            long: &[
                "foreground",
                "preserve-status",
                "verbose",
                "kill-after=",
                "signal=",
            ],
        },
        skips: 1,
    },
    Launcher {
        names: &["taskset"],
        options: Options {
            short: "ac",
            long: &["all-tasks", "cpu-list"],
        },
        skips: 1,
    },
    Launcher {
        names: &["chrt"],
        options: Options {
            short: "abdfimorRv",
            long: &["batch", "fifo", "idle", "other", "rr"],
        },
        skips: 1,
    },
    Launcher {
        names: &["chroot"],
        options: Options {
            short: "",
            long: &["userspec=", "groups=", "skip-chdir"],
        },
        skips: 1,
    },
    Launcher {
        names: &["flock"],
        options: Options {
            short: "sxneoFuvw:E:",
            long: &[
                "shared",
                "exclusive",
                "nonblock",
                "close",
                "no-fork",
                "unlock",
                "verbose",
                "timeout=",
                "conflict-exit-code=",
            ],
        },
        skips: 1,
    },
    Launcher {
        names: &["strace"],
        options: Options {
            short: "CcdfFhiknqrtTvVwxyzDYZa:b:e:E:I:o:O:P:s:S:u:U:X:",
            long: &["follow-forks", "output=", "trace=", "string-limit="],
        },
        skips: 0,
    },
];

/// Programs with a command of their own that runs another program.
const RUNNERS: &[(&str, &str)] = &[
    ("bundle", "exec"),
    ("hatch", "run"),
    ("pdm", "run"),
    ("pipenv", "run"),
    ("poetry", "run"),
    ("rye", "run"),
    ("uv", "run"),
];

impl Reader {
    /// What a simple command runs in turn.
    pub(super) fn launches(&mut self, words: &[Word], depth: usize) {
        let Some((name, rest)) = words.split_first() else {
            return;
        };
        let program = program(&name.text);
        let read = match program.as_str() {
            "xargs" => self.xargs(rest, depth),
            "find" => self.find(rest, depth),
            "fd" | "fdfind" => self.fd(rest, depth),
            "parallel" => self.parallel(rest, depth),
            "watch" => self.watch(rest, depth),
            "eval" => self.joined(rest, depth),
            "trap" => self.trap(rest, depth),
            "su" | "runuser" | "script" => self.with_text(rest, depth),
            "git" => self.git(rest, depth),
            name if RUNNERS.iter().any(|(runner, _)| *runner == name) => {
                self.runner(name, rest, depth)
            }
            "command" if rest.first().is_some_and(asks_only) => Some(()),
            _ => self.launcher(&program, rest, depth),
        };
        if read.is_none() {
            self.unclear(format!(
                "what {program} runs is not written out in a way that is read"
            ));
        }
        self.code(&program, rest, depth);
        self.reaches(&program, rest, depth);
    }

    fn launcher(&mut self, program: &str, words: &[Word], depth: usize) -> Option<()> {
        let Some(launcher) = LAUNCHERS
            .iter()
            .find(|launcher| launcher.names.contains(&program))
        else {
            return Some(());
        };
        let given: Given<'_> = launcher.options.read(words)?;
        let mut inner = given.operands;
        if launcher.skips > 0 && !inner.is_empty() {
            // A value that is not written out may be several words, or none.
            let skipped = inner.get(..launcher.skips)?;
            skipped.iter().all(|word| word.is_literal).then_some(())?;
            inner = &inner[launcher.skips..];
        }
        if matches!(program, "env" | "sudo") {
            let sets = |word: &&Word| word.text.contains('=');
            let count = inner.iter().take_while(sets).count();
            for word in &inner[..count] {
                self.addresses_in(&word.text);
            }
            inner = &inner[count..];
        }
        match inner {
            [] => {}
            [option, text, ..]
                if program == "flock" && matches!(option.text.as_str(), "-c" | "--command") =>
            {
                self.text(text, depth)?;
            }
            words => self.simple(words.to_vec(), depth + 1),
        }
        Some(())
    }

    /// `uv run PROGRAM`. Options before the program are not known here.
    fn runner(&mut self, program: &str, words: &[Word], depth: usize) -> Option<()> {
        let is_plain = |word: &Word| word.is_literal && !word.text.starts_with('-');
        match words {
            [own, inner @ ..] if RUNNERS.contains(&(program, own.text.as_str())) => {
                inner.first().is_none_or(is_plain).then_some(())?;
                if !inner.is_empty() {
                    self.simple(inner.to_vec(), depth + 1);
                }
                Some(())
            }
            [own, ..] => is_plain(own).then_some(()),
            [] => Some(()),
        }
    }

    /// A word that a shell will read as a command.
    pub(super) fn text(&mut self, word: &Word, depth: usize) -> Option<()> {
        word.is_literal.then(|| self.script(&word.text, depth + 1))
    }

    /// Words that are joined by blanks and read as a command.
    pub(super) fn joined(&mut self, words: &[Word], depth: usize) -> Option<()> {
        let words = match words {
            [first, rest @ ..] if first.is_literal && first.text == "--" => rest,
            words => words,
        };
        words.iter().all(|word| word.is_literal).then_some(())?;
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        self.script(&texts.join(" "), depth + 1);
        Some(())
    }

    fn trap(&mut self, words: &[Word], depth: usize) -> Option<()> {
        match words.first() {
            None => Some(()),
            Some(word) if matches!(word.text.as_str(), "-" | "" | "-l" | "-p") => Some(()),
            Some(word) if word.text == "--" => self.text(words.get(1)?, depth),
            Some(word) => self.text(word, depth),
        }
    }

    /// `su -c TEXT`, `script -c TEXT`: without a text they open a shell.
    fn with_text(&mut self, words: &[Word], depth: usize) -> Option<()> {
        let at = words.iter().position(|word| {
            word.text == "--command"
                || (word.text.starts_with('-')
                    && !word.text.starts_with("--")
                    && word.text.ends_with('c'))
        })?;
        let known = |word: &Word| word.is_literal;
        words.iter().all(known).then_some(())?;
        self.text(words.get(at + 1)?, depth)
    }

    fn watch(&mut self, words: &[Word], depth: usize) -> Option<()> {
        const WATCH: Options = Options {
            short: "bcdegptwxn:q:",
            long: &[
                "beep",
                "chgexit",
                "color",
                "differences",
                "errexit",
                "exec",
                "interval=",
                "no-title",
                "precise",
            ],
        };
        let given = WATCH.read(words)?;
        if given.operands.is_empty() {
            return Some(());
        }
        if given.has(&["-x", "--exec"]) {
            self.simple(given.operands.to_vec(), depth + 1);
            return Some(());
        }
        self.joined(given.operands, depth)
    }
}

/// `command -v name` says where a program is and runs nothing.
fn asks_only(word: &Word) -> bool {
    word.is_literal && matches!(word.text.as_str(), "-v" | "-V")
}

/// The name of a program without its folder.
pub(super) fn program(name: &str) -> String {
    let name = name.rsplit('/').next().unwrap_or(name);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    name.to_ascii_lowercase()
}
