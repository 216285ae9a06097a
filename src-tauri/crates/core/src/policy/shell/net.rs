//! Programs that reach a host which is not written as an address.

use super::Reader;
use super::options::Options;
use super::word::Word;
use crate::policy::hosts;

/// Options of curl and like programs that take a value which is no address.
const CURL: Options = Options {
    short: "#0123456aBfgGiIjJklLMnNOpqRsSvVZA:b:c:C:d:D:e:E:F:h:H:m:o:P:Q:r:t:T:u:U:w:x:X:y:Y:z:",
    long: &[
        "anyauth",
        "append",
        "basic",
        "compressed",
        "create-dirs",
        "digest",
        "fail",
        "fail-early",
        "fail-with-body",
        "ftp-create-dirs",
        "get",
        "globoff",
        "head",
        "http1.0",
        "http1.1",
        "http2",
        "http3",
        "include",
        "insecure",
        "ipv4",
        "ipv6",
        "junk-session-cookies",
        "list-only",
        "location",
        "location-trusted",
        "next",
        "no-buffer",
        "no-progress-meter",
        "ntlm",
        "parallel",
        "path-as-is",
        "progress-bar",
        "remote-header-name",
        "remote-name",
        "remote-name-all",
        "remote-time",
        "retry-all-errors",
        "retry-connrefused",
        "show-error",
        "silent",
        "ssl-reqd",
        "tcp-nodelay",
        "tlsv1.2",
        "tlsv1.3",
        "tr-encoding",
        "use-ascii",
        "verbose",
        "version",
        "help",
        "cacert=",
        "capath=",
        "cert=",
        "cert-type=",
        "ciphers=",
        "connect-timeout=",
        "cookie=",
        "cookie-jar=",
        "data=",
        "data-ascii=",
        "data-binary=",
        "data-raw=",
        "data-urlencode=",
        "dump-header=",
        "form=",
        "form-string=",
        "header=",
        "interface=",
        "json=",
        "key=",
        "keepalive-time=",
        "limit-rate=",
        "max-filesize=",
        "max-redirs=",
        "max-time=",
        "oauth2-bearer=",
        "output=",
        "output-dir=",
        "pass=",
        "proto=",
        "proto-default=",
        "proto-redir=",
        "proxy=",
        "preproxy=",
        "socks4=",
        "socks4a=",
        "socks5=",
        "socks5-hostname=",
        "proxy-header=",
        "proxy-user=",
        "range=",
        "rate=",
        "referer=",
        "request=",
        "request-target=",
        "retry=",
        "retry-delay=",
        "retry-max-time=",
        "speed-limit=",
        "speed-time=",
        "stderr=",
        "time-cond=",
        "trace=",
        "trace-ascii=",
        "upload-file=",
        "url=",
        "url-query=",
        "user=",
        "user-agent=",
        "write-out=",
    ],
};

const WGET: Options = Options {
    short: "bcdEFHkKLmNnpqrSvxV46a:A:B:D:I:l:o:O:P:Q:R:t:T:U:w:X:",
    long: &[
        "background",
        "backup-converted",
        "continue",
        "convert-links",
        "debug",
        "delete-after",
        "force-directories",
        "help",
        "https-only",
        "inet4-only",
        "inet6-only",
        "mirror",
        "no-cache",
        "no-check-certificate",
        "no-clobber",
        "no-cookies",
        "no-directories",
        "no-host-directories",
        "no-parent",
        "no-verbose",
        "page-requisites",
        "quiet",
        "recursive",
        "server-response",
        "show-progress",
        "span-hosts",
        "spider",
        "timestamping",
        "verbose",
        "version",
        "accept=",
        "append-output=",
        "base=",
        "body-data=",
        "body-file=",
        "bind-address=",
        "ca-certificate=",
        "cut-dirs=",
        "connect-timeout=",
        "directory-prefix=",
        "domains=",
        "exclude-domains=",
        "header=",
        "level=",
        "limit-rate=",
        "load-cookies=",
        "max-redirect=",
        "method=",
        "output-document=",
        "output-file=",
        "password=",
        "post-data=",
        "post-file=",
        "quota=",
        "read-timeout=",
        "referer=",
        "reject=",
        "save-cookies=",
        "timeout=",
        "tries=",
        "user=",
        "user-agent=",
        "wait=",
        "waitretry=",
    ],
};

const SSH: Options = Options {
    short: "46AaCfGgKkMNnqsTtVvXxYyB:b:c:D:E:e:I:i:J:L:l:m:O:o:p:Q:R:S:W:w:",
    long: &[],
};

/// Programs every operand of which may be a host.
const LOOSE: &[&str] = &[
    "aria2c",
    "axel",
    "dig",
    "drill",
    "elinks",
    "ftp",
    "host",
    "links",
    "lynx",
    "mtr",
    "nc",
    "ncat",
    "netcat",
    "nmap",
    "nslookup",
    "ping",
    "ping6",
    "telnet",
    "traceroute",
    "w3m",
    "wget2",
    "whois",
];

/// Clients of data bases and directories, which take a host by option.
const CLIENTS: &[&str] = &[
    "clickhouse-client",
    "ldapsearch",
    "mongosh",
    "mysql",
    "mysqldump",
    "pg_dump",
    "psql",
    "redis-cli",
];

impl Reader {
    /// Where a program reaches beside the addresses among its words.
    pub(super) fn reaches(&mut self, program: &str, words: &[Word], depth: usize) {
        for word in words {
            self.place(word);
        }
        let read = match program {
            "curl" => self.web(&CURL, words),
            "wget" => self.web(&WGET, words),
            "ssh" => self.ssh(words, depth),
            "scp" | "sftp" | "rsync" => self.copies(words),
            "git" => git_place(words),
            "http" | "https" | "httpie" | "xh" | "xhs" => self.httpie(words),
            "openssl" => self.behind(&["-connect", "-proxy"], words),
            name if CLIENTS.contains(&name) => self.behind(&["-h", "--host"], words),
            name if LOOSE.contains(&name) => self.loose(words),
            _ => Some(()),
        };
        if read.is_none() {
            self.unclear(format!(
                "where {program} reaches is not written out in a way that is read"
            ));
        }
    }

    /// A word that is a place elsewhere for any program: `scheme://host`, `user@host:path`.
    fn place(&mut self, word: &Word) {
        let scheme = word.text.split_once("://").map(|(scheme, _)| scheme);
        let is_scheme = scheme.is_some_and(|scheme| {
            scheme.starts_with(|first: char| first.is_ascii_alphabetic())
                && scheme
                    .chars()
                    .all(|letter| letter.is_ascii_alphanumeric() || "+.-".contains(letter))
        });
        if is_scheme {
            self.address(hosts::operand(&word.text, "https"));
        } else if let Some(found) = hosts::copied(&word.text, false) {
            self.address(found);
        }
    }

    /// Options and operands in any order; each operand is an address.
    fn web(&mut self, options: &Options, words: &[Word]) -> Option<()> {
        const PLACES: &[&str] = &[
            "-x",
            "--proxy",
            "--preproxy",
            "--socks4",
            "--socks4a",
            "--socks5",
            "--socks5-hostname",
            "--url",
            "-B",
            "--base",
        ];
        let mut rest = words;
        loop {
            let given = options.read(rest)?;
            for place in given.values(PLACES) {
                self.address(hosts::operand(&place.text, "http"));
            }
            let Some((operand, more)) = given.operands.split_first() else {
                return Some(());
            };
            self.address(hosts::operand(&operand.text, "http"));
            rest = more;
        }
    }

    /// `ssh [options] host [options] [command]`. The command is read by a shell at the other end.
    fn ssh(&mut self, words: &[Word], depth: usize) -> Option<()> {
        let given = SSH.read(words)?;
        let (host, rest) = given.operands.split_first()?;
        let behind = SSH.read(rest)?;
        for given in [&given, &behind] {
            let redirects = |word: &Word| {
                let setting = word.text.to_ascii_lowercase();
                let turning = ["command", "proxy", "hostname", "forward", "include"];
                !word.is_literal || turning.iter().any(|word| setting.contains(word))
            };
            let has_tunnel = given.has(&["-D", "-L", "-R", "-w", "-W"]);
            if has_tunnel || given.values(&["-o"]).any(redirects) {
                return None;
            }
            for place in given.values(&["-J"]) {
                self.address(hosts::operand(&place.text, "ssh"));
            }
        }
        let mut ports = given.values(&["-p"]).chain(behind.values(&["-p"]));
        let place = match ports.next() {
            Some(port) if port.text != "22" && !host.text.contains("://") => {
                format!("{}:{}", host.text, port.text)
            }
            _ => host.text.clone(),
        };
        self.address(hosts::operand(&place, "ssh"));
        if behind.operands.is_empty() {
            // Without a command it opens a shell that reads its input.
            return (given.has(&["-N", "-V", "-G"]) || behind.has(&["-N"])).then_some(());
        }
        self.joined(behind.operands, depth)
    }

    fn copies(&mut self, words: &[Word]) -> Option<()> {
        for word in words.iter().filter(|word| !word.text.starts_with('-')) {
            if word.is_unknown_from_start() {
                return None;
            }
            if let Some(found) = hosts::copied(&word.text, true) {
                self.address(found);
            }
        }
        Some(())
    }

    fn httpie(&mut self, words: &[Word]) -> Option<()> {
        let is_method = |text: &str| text.chars().all(|letter| letter.is_ascii_uppercase());
        let place = words.iter().find(|word| {
            let text = word.text.as_str();
            let is_number = text.chars().all(|digit| digit.is_ascii_digit());
            !text.starts_with('-') && !is_method(text) && !is_number
        })?;
        let text = match place.text.strip_prefix(':') {
            // `:8080/x` is this machine.
            Some(port) => format!("localhost:{port}"),
            None => place.text.clone(),
        };
        self.address(hosts::operand(&text, "http"));
        Some(())
    }

    /// A host as the value of an option.
    fn behind(&mut self, options: &[&str], words: &[Word]) -> Option<()> {
        for (at, word) in words.iter().enumerate() {
            let value = if options.contains(&word.text.as_str()) {
                words.get(at + 1).map(|value| value.text.as_str())
            } else {
                let attached = word.text.split_once('=');
                attached
                    .filter(|(name, _)| options.contains(name))
                    .map(|(_, value)| value)
            };
            if let Some(value) = value {
                self.address(hosts::operand(value, "tcp"));
            }
        }
        Some(())
    }

    fn loose(&mut self, words: &[Word]) -> Option<()> {
        for word in words {
            let text = word.text.trim_start_matches('@');
            let is_number = text
                .chars()
                .all(|digit| digit.is_ascii_digit() || digit == '-');
            if text.starts_with(['-', '+']) || is_number {
                continue;
            }
            self.address(hosts::operand(text, "tcp"));
        }
        Some(())
    }
}

/// Where git reaches has to be written out when it reaches somewhere by a word.
fn git_place(words: &[Word]) -> Option<()> {
    const REACHING: &[&str] = &[
        "clone",
        "fetch",
        "ls-remote",
        "pull",
        "push",
        "remote",
        "submodule",
    ];
    let mut operands = words.iter().filter(|word| !word.text.starts_with('-'));
    let reaches = operands
        .next()
        .is_some_and(|word| REACHING.contains(&word.text.as_str()));
    let is_unknown = reaches && operands.any(Word::is_unknown_from_start);
    (!is_unknown).then_some(())
}
