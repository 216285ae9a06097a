//! Lines that would run something: in shell scripts, in the shell blocks of a text, and where a
//! script of another language starts a process.

use std::sync::LazyLock;

use regex::Regex;

use super::FileKind;
use super::facts::Facts;

/// The names that a code block of a shell has.
const SHELL_BLOCKS: &[&str] = &[
    "sh",
    "bash",
    "shell",
    "zsh",
    "console",
    "shell-session",
    "fish",
    "powershell",
    "ps1",
    "cmd",
    "bat",
    "terminal",
];
/// Words that steer a shell script and run nothing by themselves.
const STEERING: &[&str] = &[
    "then", "else", "fi", "do", "done", "esac", ";;", "{", "}", "(", ")", "end",
];

/// Where a process is started, by language family.
static STARTS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        \bsubprocess\b | \bos\.(?:system|popen|exec[lv]p?e?|spawn\w*|startfile)\b | \bpty\.spawn\b
        | \basyncio\.create_subprocess | \bchild_process\b | \b(?:exec|spawn|execFile)(?:Sync)?\s*\(
        | \bBun\.spawn | \bDeno\.(?:run|Command)\b | \bexeca\b | \bshelljs\b
        | \bKernel\.(?:system|exec)\b | \bOpen3\b | \bIO\.popen\b | %x\{ | \bshell_exec\s*\(
        | \bproc_open\s*\( | \bpassthru\s*\( | \bCommand::new\b | \bexec\.Command\b
        | \bStart-Process\b | \bInvoke-Expression\b | \bsystem2?\s*\(",
    )
    .expect("a fixed pattern is well formed")
});

pub(super) fn find(file: &str, kind: &FileKind, text: &str, facts: &mut Facts) {
    match kind {
        FileKind::Script { language } if is_shell(language) => {
            for (at, line) in text.lines().enumerate() {
                if runs(line) {
                    facts.command(file, at + 1, line);
                }
            }
        }
        FileKind::Script { .. } => {
            for (at, line) in text.lines().enumerate() {
                if STARTS.is_match(line) {
                    facts.command(file, at + 1, line);
                }
            }
        }
        _ => in_text(file, text, facts),
    }
}

pub(super) fn is_shell(language: &str) -> bool {
    ["shell", "batch", "PowerShell"].contains(&language)
}

/// Whether a line of a shell script does more than steer it.
fn runs(line: &str) -> bool {
    let line = line.trim();
    !(line.is_empty()
        || line.starts_with('#')
        || line.starts_with("::")
        || STEERING.contains(&line))
}

/// The lines of the shell blocks of a text, and those that show a prompt in other blocks.
fn in_text(file: &str, text: &str, facts: &mut Facts) {
    let mut block: Option<Block<'_>> = None;
    for (at, line) in text.lines().enumerate() {
        let bare = line.trim_start().trim_start_matches(['>', ' ']);
        let fence = if bare.starts_with("```") {
            "```"
        } else {
            "~~~"
        };
        if bare.starts_with(fence) {
            let rest = bare.trim_start_matches(['`', '~']).trim();
            block = match block {
                Some(open) if open.fence != fence || !rest.is_empty() => Some(open),
                Some(_) => None,
                None => Some(Block {
                    fence,
                    is_shell: is_shell_block(rest),
                }),
            };
            continue;
        }
        let Some(open) = &block else { continue };
        let prompted = bare.strip_prefix("$ ").or_else(|| bare.strip_prefix("> "));
        if let Some(command) = prompted.or_else(|| open.is_shell.then_some(bare))
            && runs(command)
        {
            facts.command(file, at + 1, command);
        }
    }
}

struct Block<'t> {
    fence: &'t str,
    is_shell: bool,
}

fn is_shell_block(words: &str) -> bool {
    let name = words
        .split([' ', '{', ',', ':'])
        .next()
        .unwrap_or("")
        .to_ascii_lowercase();
    SHELL_BLOCKS.contains(&name.as_str())
}
