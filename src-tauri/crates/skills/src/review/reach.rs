//! Where a skill reaches: hosts, network libraries, variables of the environment, paths outside.

use std::sync::LazyLock;

use regex::Regex;

use super::commands::is_shell;
use super::facts::Facts;
use super::{FileKind, ReachKind};

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a fixed pattern is well formed")
}

static ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?i)\b(?:https?|wss?|ftps?|sftp|ssh|git|tcp|udp)://(?:[^\s/@"'<>]*@)?(?<host>[^\s/"'<>()\[\]{}`,;\\?#|]+)"#,
    )
});
static NUMBERS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?:^|[^\w.])(?<host>(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?)(?:[^\w.]|$)")
});
static NETWORK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?x)
        ^\s*(?:import|from)\s+(?<python>socket|ssl|requests|httpx|aiohttp|urllib3?(?:\.\w+)?|http\.client|http\.server|ftplib|smtplib|imaplib|poplib|telnetlib|xmlrpc(?:\.\w+)?|websockets?|paramiko|boto3)\b
        | (?:require\(\s*|from\s+|import\s+)["'](?<js>(?:node:)?(?:https?|net|tls|dgram|dns|http2)|axios|undici|node-fetch|got|ws|request)["']
        | \b(?<call>fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon)\s*\(
        | \b(?<tool>curl|wget|netcat|ncat|nc|scp|rsync|telnet|sftp|Invoke-WebRequest|Invoke-RestMethod)\s+[-\w"'$]"#,
    )
});
static VARIABLE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?x)
        \b(?:os\.)?environ(?:\.get\(|\.pop\(|\.setdefault\(|\[)\s*["'](?<python>\w+)
        | \bgetenv\(\s*["'](?<getenv>\w+)
        | \bprocess\.env(?:\.(?<js>\w+)|\[\s*["'](?<jsindex>\w+))
        | \bimport\.meta\.env\.(?<meta>\w+)
        | \bENV(?:\.fetch\(|\[)\s*["'](?<ruby>\w+)
        | \benv::var(?:_os)?\(\s*"(?<rust>\w+)
        | \$env:(?<power>\w+)
        | \$\{?(?<shell>[A-Z][A-Z0-9_]{2,})"#,
    )
});
static PATH: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?x)
        (?:^|[\s"'`(=:<>,\[])
        (?<path>
            ~/[\w.][^\s"'`)<>,;\]]*
          | \$\{?HOME\}?/[^\s"'`)<>,;\]]*
          | /(?:etc|var|usr|opt|root|home|proc|sys|dev|mnt|srv|boot|Users|Library|private)/[^\s"'`)<>,;\]]*
          | [A-Za-z]:\\[^\s"'`)<>,;\]]+
          | (?:\.\./)+[^\s"'`)<>,;\]]*
        )"#,
    )
});

/// What every program may name without reaching anywhere.
const HARMLESS_PATHS: &[&str] = &[
    "/dev/null",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/usr/bin/env",
];
/// What every shell sets.
const HARMLESS_VARIABLES: &[&str] = &[
    "PWD", "OLDPWD", "IFS", "RANDOM", "LINENO", "OPTARG", "OPTIND",
];

pub(super) fn find(file: &str, kind: &FileKind, text: &str, facts: &mut Facts) {
    let language = match kind {
        FileKind::Script { language } => Some(language.as_str()),
        _ => None,
    };
    // In other languages `$NAME` is no variable of the environment.
    let has_shell = language.is_none_or(is_shell);
    for (at, line) in text.lines().enumerate() {
        let at = at + 1;
        hosts(file, at, line, facts);
        if let Some(found) = NETWORK.captures(line) {
            let named = found.iter().skip(1).flatten().next();
            if let Some(named) = named {
                facts.reach(ReachKind::Network, named.as_str(), file, at);
            }
        }
        for found in VARIABLE.captures_iter(line) {
            let is_shell = found.name("shell").is_some();
            let named = found.iter().skip(1).flatten().next();
            if let Some(named) = named.filter(|_| has_shell || !is_shell)
                && !HARMLESS_VARIABLES.contains(&named.as_str())
            {
                facts.reach(ReachKind::Variable, named.as_str(), file, at);
            }
        }
        for found in PATH.captures_iter(line) {
            let path = found["path"].trim_end_matches(['.', ':']);
            // A first line `#!` names the interpreter, which is told as the language.
            let is_interpreter = at == 1 && line.starts_with("#!");
            if !is_interpreter && !HARMLESS_PATHS.contains(&path) {
                facts.reach(ReachKind::Path, path, file, at);
            }
        }
    }
}

fn hosts(file: &str, at: usize, line: &str, facts: &mut Facts) {
    for found in ADDRESS.captures_iter(line) {
        let host = found["host"].trim_end_matches(['.', ':', '*', '_']);
        if !host.is_empty() {
            facts.reach(ReachKind::Host, &host.to_ascii_lowercase(), file, at);
        }
    }
    for found in NUMBERS.captures_iter(line) {
        let host = &found["host"];
        let address = host.split(':').next().unwrap_or(host);
        let is_address = address.split('.').all(|part| part.parse::<u8>().is_ok());
        if is_address && !ADDRESS.is_match(line) {
            facts.reach(ReachKind::Host, host, file, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(language: Option<&str>, text: &str, expected: &[(ReachKind, &str)]) {
        let kind = match language {
            Some(language) => FileKind::Script {
                language: language.to_owned(),
            },
            None => FileKind::Text,
        };
        let mut facts = Facts::default();
        find("f", &kind, text, &mut facts);
        let found: Vec<(ReachKind, &str)> = facts
            .reaches
            .iter()
            .map(|reach| (reach.kind, reach.value.as_str()))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn hosts_libraries_variables_and_paths_are_named() {
        use ReachKind::{Host, Network, Path, Variable};
        check(
            None,
            "See https://user:pw@API.example.org:8443/v1?x=1 and http://10.0.0.1/.",
            &[(Host, "api.example.org:8443"), (Host, "10.0.0.1")],
        );
        check(
            Some("Python"),
            "import urllib.request\nkey = os.environ[\"EXA_KEY\"]\nopen('/etc/passwd')",
            &[
                (Network, "urllib.request"),
                (Variable, "EXA_KEY"),
                (Path, "/etc/passwd"),
            ],
        );
        check(
            Some("JavaScript"),
            "await fetch(u); process.env.TOKEN; `${NAME_OF}`",
            &[(Network, "fetch"), (Variable, "TOKEN")],
        );
        check(
            Some("shell"),
            "#!/usr/bin/env bash\ncurl -s $TARGET > /dev/null\ncat ~/.ssh/config ../../x",
            &[
                (Network, "curl"),
                (Variable, "TARGET"),
                (Path, "~/.ssh/config"),
                (Path, "../../x"),
            ],
        );
        check(None, "Version 1.2.3.4.5 and 999.1.1.1 are no hosts.", &[]);
    }
}
