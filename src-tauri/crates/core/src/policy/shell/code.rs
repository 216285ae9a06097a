//! Programs whose arguments or input are code. A shell's own is read; any other is unclear.

use super::Reader;
use super::options::Options;
use super::word::Word;

/// Shells whose language is near enough to the one that is read.
const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "ash", "mksh", "rbash"];

/// Programs that run what can't be seen here: another language, a file, an input, a screen, a command
/// behind options that are not known here.
const OPAQUE: &[&str] = &[
    ".",
    "alias",
    "at",
    "batch",
    "bwrap",
    "capsh",
    "chpst",
    "cmd",
    "coproc",
    "cpulimit",
    "crontab",
    "csh",
    "direnv",
    "dtach",
    "emacs",
    "enable",
    "entr",
    "expect",
    "faketime",
    "fc",
    "firejail",
    "fish",
    "gdb",
    "hash",
    "hyperfine",
    "let",
    "lldb",
    "ltrace",
    "nix-shell",
    "nsenter",
    "nu",
    "numactl",
    "osascript",
    "perf",
    "pkexec",
    "powershell",
    "proxychains",
    "proxychains4",
    "pwsh",
    "rlwrap",
    "runcon",
    "screen",
    "setpriv",
    "socat",
    "source",
    "sshpass",
    "start-stop-daemon",
    "systemd-inhibit",
    "systemd-run",
    "tclsh",
    "tcsh",
    "tmux",
    "torsocks",
    "unbuffer",
    "unshare",
    "valgrind",
    "watchexec",
    "winpty",
    "wsl",
    "xonsh",
];

/// What sets variables by their names.
const SETTING: &[&str] = &["getopts", "mapfile", "printf", "read", "readarray"];

/// Options of programs that name a program, or change where one reaches.
const RUNNING_OPTIONS: &[(&str, &[&str])] = &[
    ("ack", &["--pager"]),
    (
        "curl",
        &[
            "-K",
            "--config",
            "--connect-to",
            "--resolve",
            "--unix-socket",
            "--abstract-unix-socket",
            "--dns-servers",
            "--doh-url",
            "--variable",
            "--expand-url",
        ],
    ),
    ("ed", &["-"]),
    ("ex", &["-c", "-S", "+"]),
    ("less", &["+"]),
    ("make", &["--eval", "SHELL="]),
    ("man", &["-P", "--pager", "-H"]),
    ("mapfile", &["-C"]),
    ("nc", &["-e", "-c", "--exec", "--sh-exec", "--lua-exec"]),
    ("ncat", &["-e", "-c", "--exec", "--sh-exec", "--lua-exec"]),
    ("netcat", &["-e", "-c"]),
    ("nvim", &["-c", "-S", "--cmd", "+"]),
    ("readarray", &["-C"]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("scp", &["-S", "-o", "-F"]),
    ("sftp", &["-S", "-o", "-F", "-b"]),
    ("sort", &["--compress-program"]),
    ("split", &["--filter"]),
    (
        "tar",
        &[
            "--to-command",
            "--checkpoint-action",
            "--use-compress-program",
            "--rsh-command",
            "--rmt-command",
            "--info-script",
            "--new-volume-script",
            "-I",
            "-F",
        ],
    ),
    ("vi", &["-c", "-S", "--cmd", "+"]),
    ("vim", &["-c", "-S", "--cmd", "+"]),
    (
        "wget",
        &[
            "-e",
            "--execute",
            "-i",
            "--input-file",
            "--config",
            "--use-askpass",
        ],
    ),
    ("zip", &["-T", "-TT", "--unzip-command"]),
];

/// An interpreter of another language.
struct Interpreter {
    name: &'static str,
    /// Letters of options that are followed by code.
    code: &'static str,
    /// Letters of options that take a value which is no code.
    valued: &'static str,
    /// Long options that are followed by code.
    long: &'static [&'static str],
}

const fn interpreter(name: &'static str, code: &'static str, valued: &'static str) -> Interpreter {
    Interpreter {
        name,
        code,
        valued,
        long: &[],
    }
}

const INTERPRETERS: &[Interpreter] = &[
    interpreter("python", "c", "WX"),
    interpreter("pypy", "c", "WX"),
    interpreter("perl", "eEMmI", ""),
    interpreter("ruby", "erI", "CEK"),
    interpreter("lua", "el", ""),
    interpreter("luajit", "elj", ""),
    interpreter("php", "rBREdz", "ct"),
    interpreter("rscript", "e", ""),
    interpreter("julia", "eEL", "pt"),
    interpreter("groovy", "e", ""),
    interpreter("scala", "e", ""),
    interpreter("elixir", "erpS", ""),
    Interpreter {
        name: "node",
        code: "epr",
        valued: "C",
        long: &[
            "--eval",
            "--print",
            "--require",
            "--import",
            "--loader",
            "--experimental-loader",
        ],
    },
    Interpreter {
        name: "nodejs",
        code: "epr",
        valued: "C",
        long: &["--eval", "--print", "--require", "--import", "--loader"],
    },
    Interpreter {
        name: "bun",
        code: "epr",
        valued: "",
        long: &["--eval", "--print", "--preload"],
    },
    Interpreter {
        name: "deno",
        code: "",
        valued: "",
        long: &[],
    },
];

impl Reader {
    pub(super) fn code(&mut self, program: &str, words: &[Word], depth: usize) {
        if SHELLS.contains(&program) {
            if self.shell(program, words, depth).is_none() {
                let why = "a shell runs what is not written out in the command";
                self.unclear(format!("{why} ({program})"));
            }
            return;
        }
        if OPAQUE.contains(&program) {
            self.unclear(format!("what {program} runs can't be seen in the command"));
        }
        let options = RUNNING_OPTIONS.iter().find(|(name, _)| *name == program);
        if let Some((_, options)) = options {
            let named = words.iter().find(|word| gives(word, options));
            if let Some(word) = named {
                let shown = crate::policy::text::short(&word.shown());
                self.unclear(format!("{program} may run a program by “{shown}”"));
            }
        }
        let language =
            program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        let interpreter = INTERPRETERS
            .iter()
            .find(|interpreter| interpreter.name == language);
        if interpreter.is_some_and(|interpreter| !interpreter.runs_file(words)) {
            self.unclear(format!("{program} runs code that is not read"));
        }
        // `printf` only sets one with this option; its other words are data.
        let sets = program != "printf" || words.first().is_some_and(|word| word.text == "-v");
        if SETTING.contains(&program) && sets && words.iter().any(sets_for_programs) {
            self.unclear(format!("{program} sets a variable that programs may read"));
        }
        if matches!(program, "awk" | "gawk" | "mawk" | "nawk") && !is_quiet_awk(words) {
            self.unclear(format!("{program} runs a program that may run others"));
        }
        if matches!(program, "sed" | "gsed") && words.iter().any(sed_runs) {
            self.unclear(format!("{program} may run what it reads"));
        }
    }

    /// `sh -c TEXT`, or `sh FILE`. Anything else reads commands from where they can't be seen.
    fn shell(&mut self, program: &str, words: &[Word], depth: usize) -> Option<()> {
        const SHELL: Options = Options {
            short: "abcefhilmnprtuvxBCEHPTo:O:",
            long: &[
                "login",
                "noprofile",
                "norc",
                "posix",
                "restricted",
                "verbose",
                "version",
                "help",
            ],
        };
        let given = SHELL.read(words)?;
        if given.has(&["--version", "--help"]) {
            return Some(());
        }
        let first = given.operands.first()?;
        if given.has(&["-c"]) {
            if !is_read_alike(program, &first.text) {
                self.unclear(format!(
                    "{program} may read its text in another way than bash"
                ));
            }
            // The words behind the text are its `$0`, `$1`: data.
            return self.text(first, depth);
        }
        // `+x` turns an option off, and more may follow it.
        let is_file = first.is_literal && !first.text.starts_with(['-', '+']);
        let is_file = is_file && !first.text.starts_with("/dev/");
        is_file.then_some(())
    }
}

impl Interpreter {
    /// Whether a file or a module is run, as `./program` would be.
    fn runs_file(&self, words: &[Word]) -> bool {
        let mut words = words.iter();
        if self.name == "deno" {
            let first = words.next();
            return first.is_some_and(|word| {
                word.is_literal && !matches!(word.text.as_str(), "eval" | "repl" | "-")
            });
        }
        while let Some(word) = words.next() {
            let text = word.text.as_str();
            if !word.is_literal || text == "-" {
                return false;
            }
            if matches!(text, "--version" | "--help" | "-V" | "-h")
                || (text == "-v" && self.name != "perl")
            {
                return true;
            }
            let Some(option) = text.strip_prefix('-') else {
                return !text.starts_with("/dev/");
            };
            if text.starts_with("--") {
                let name = text.split('=').next().unwrap_or(text);
                if self.long.contains(&name) {
                    return false;
                }
                continue;
            }
            if self.name.starts_with("py") && option.starts_with('m') {
                return true;
            }
            if option.contains(|letter| self.code.contains(letter)) {
                return false;
            }
            if option.ends_with(|letter| self.valued.contains(letter)) {
                words.next();
            }
        }
        // Without a file, the code comes from the input.
        false
    }
}

/// Whether a word is the name of a variable that programs may read.
fn sets_for_programs(word: &Word) -> bool {
    let is_name = word
        .text
        .chars()
        .all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_');
    let begins = word
        .text
        .starts_with(|first: char| first.is_ascii_uppercase() || first == '_');
    (is_name && begins) || (!word.is_literal && word.is_unknown_from_start())
}

/// Whether a shell reads a text as bash does. Plainer ones know fewer signs, and run what stands
/// within them; richer ones know more.
fn is_read_alike(program: &str, text: &str) -> bool {
    const BASH_ONLY: &[&str] = &[
        "$'", "$\"", "&>", "|&", "[[", "((", "<<<", "<(", ">(", ";&", ";;&", "coproc", "function",
        "select",
    ];
    match program {
        "bash" | "rbash" => true,
        "sh" | "dash" | "ash" => !BASH_ONLY.iter().any(|sign| text.contains(sign)),
        _ => text
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || " _./-'\"&|;:,@%\n".contains(letter)),
    }
}

/// Whether a word is one of these options, alone, with its value, or among other letters.
fn gives(word: &Word, options: &[&str]) -> bool {
    let text = word.text.as_str();
    options.iter().any(|option| match option.strip_prefix('-') {
        Some(letter) if letter.chars().count() == 1 => {
            let cluster = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
            let letters = cluster.map(|rest| rest.split(['=', '/', '.']).next().unwrap_or(rest));
            letters.is_some_and(|letters| letters.contains(letter))
        }
        _ => text.starts_with(option),
    })
}

/// Whether an awk program only reads and prints.
fn is_quiet_awk(words: &[Word]) -> bool {
    const AWK: Options = Options {
        short: "F:v:f:",
        long: &[
            "field-separator=",
            "assign=",
            "file=",
            "posix",
            "traditional",
        ],
    };
    let Some(given) = AWK.read(words) else {
        return false;
    };
    if given.has(&["-f", "--file"]) {
        return true;
    }
    let Some(program) = given.operands.first() else {
        return true;
    };
    let text = program.text.replace("||", "");
    // `print … > file`; elsewhere the sign compares.
    let mut prints = text.split("print").skip(1);
    let writes = prints.any(|rest| {
        let end = rest.find([';', '}', '\n']).unwrap_or(rest.len());
        rest[..end].contains('>')
    });
    let runs = ["system", "getline", "|", "@load", "@include"];
    program.is_literal && !writes && !runs.iter().any(|word| text.contains(word))
}

/// Whether a word may be a sed script that runs commands: `e`, or the flag `e` of `s`.
fn sed_runs(word: &Word) -> bool {
    let text = word.text.trim_start_matches(|letter: char| {
        letter.is_ascii_digit() || matches!(letter, ',' | '$' | '~' | '!' | ' ')
    });
    if text == "e" || text.starts_with("e ") || text.contains(";e") || text.contains("\ne") {
        return true;
    }
    let Some(mark) = text.strip_prefix('s').and_then(|rest| rest.chars().next()) else {
        return false;
    };
    if mark.is_alphanumeric() || mark == '\\' {
        return false;
    }
    let flags = text.rsplit(mark).next().unwrap_or_default();
    flags
        .split([';', '}', '\n'])
        .next()
        .unwrap_or_default()
        .contains('e')
}
