//! What a file is, by its name and its first bytes.

use super::FileKind;

/// How many bytes are looked at to tell text from other bytes.
const HEAD_BYTES: usize = 8 * 1024;

/// Endings of scripts, and their languages.
const LANGUAGES: &[(&str, &str)] = &[
    ("bash", "shell"),
    ("bat", "batch"),
    ("cjs", "JavaScript"),
    ("cmd", "batch"),
    ("fish", "shell"),
    ("go", "Go"),
    ("js", "JavaScript"),
    ("jsx", "JavaScript"),
    ("ksh", "shell"),
    ("lua", "Lua"),
    ("mjs", "JavaScript"),
    ("mts", "TypeScript"),
    ("php", "PHP"),
    ("pl", "Perl"),
    ("ps1", "PowerShell"),
    ("psm1", "PowerShell"),
    ("py", "Python"),
    ("pyw", "Python"),
    ("r", "R"),
    ("rb", "Ruby"),
    ("rs", "Rust"),
    ("sh", "shell"),
    ("swift", "Swift"),
    ("ts", "TypeScript"),
    ("tsx", "TypeScript"),
    ("vbs", "VBScript"),
    ("zsh", "shell"),
];
/// Words of a first line `#!…`, and their languages.
const INTERPRETERS: &[(&str, &str)] = &[
    ("python", "Python"),
    ("bash", "shell"),
    ("zsh", "shell"),
    ("fish", "shell"),
    ("node", "JavaScript"),
    ("deno", "TypeScript"),
    ("bun", "TypeScript"),
    ("ruby", "Ruby"),
    ("perl", "Perl"),
    ("php", "PHP"),
    ("Rscript", "R"),
    ("lua", "Lua"),
    ("pwsh", "PowerShell"),
    ("sh", "shell"),
];
/// Endings of programs that can't be read here.
const PROGRAMS: &[&str] = &[
    "a", "apk", "app", "bin", "class", "com", "dll", "dylib", "exe", "jar", "lib", "msi", "node",
    "o", "pyc", "pyd", "pyo", "so", "wasm", "whl",
];
/// How programs begin.
const PROGRAM_MARKS: &[&[u8]] = &[
    b"\x7fELF",
    b"MZ",
    b"\0asm",
    b"\xfe\xed\xfa\xce",
    b"\xfe\xed\xfa\xcf",
    b"\xce\xfa\xed\xfe",
    b"\xcf\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
];
/// How archives begin.
const ARCHIVE_MARKS: &[&[u8]] = &[
    b"PK\x03\x04",
    b"\x1f\x8b",
    b"7z\xbc\xaf\x27\x1c",
    b"Rar!",
    b"BZh",
    b"\xfd7zXZ",
    b"\x28\xb5\x2f\xfd",
];
/// Zips that people know by what is in them.
const DOCUMENTS: &[&str] = &["docx", "xlsx", "pptx", "odt", "ods", "odp", "epub"];

pub(super) fn of(path: &str, bytes: &[u8]) -> FileKind {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name
        .rsplit_once('.')
        .map(|(_, ending)| ending.to_ascii_lowercase())
        .unwrap_or_default();
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    let begins = |marks: &[&[u8]]| marks.iter().any(|mark| head.starts_with(mark));
    let is_text = !head.contains(&0) && std::str::from_utf8(bytes).is_ok();
    if !is_text && (begins(PROGRAM_MARKS) || PROGRAMS.contains(&ending.as_str())) {
        return FileKind::Program;
    }
    if begins(ARCHIVE_MARKS) && !DOCUMENTS.contains(&ending.as_str()) {
        return FileKind::Archive;
    }
    if !is_text {
        return FileKind::Binary;
    }
    let by_ending = LANGUAGES
        .iter()
        .find(|(known, _)| *known == ending)
        .map(|(_, language)| *language);
    match interpreter(head).or(by_ending) {
        Some(language) => FileKind::Script {
            language: language.to_owned(),
        },
        None => FileKind::Text,
    }
}

/// The language of a first line `#!…`; one that is not known is named as it stands.
fn interpreter(head: &[u8]) -> Option<&'static str> {
    let line = head
        .strip_prefix(b"#!")?
        .split(|&byte| byte == b'\n')
        .next()?;
    let line = String::from_utf8_lossy(line);
    let named = INTERPRETERS.iter().find(|(word, _)| line.contains(word));
    Some(named.map_or("another language", |(_, language)| *language))
}

/// Whether the name is one that licences have.
pub(super) fn is_licence(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    ["license", "licence", "copying", "unlicense", "notice"]
        .iter()
        .any(|word| name.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, bytes: &[u8], expected: &str) {
        let kind = match of(path, bytes) {
            FileKind::Script { language } => language,
            other => format!("{other:?}"),
        };
        assert_eq!(kind, expected, "{path}");
    }

    #[test]
    fn files_are_told_by_name_and_first_bytes() {
        check("SKILL.md", b"---\nname: a", "Text");
        check("scripts/a.py", b"print()", "Python");
        check("scripts/run", b"#!/usr/bin/env bash\nls", "shell");
        check("scripts/run", b"#!/opt/odd\n", "another language");
        check("a.dat", b"\x7fELF\x02\x01\0\0", "Program");
        check("a.pyc", b"\x6f\x0d\0\0", "Program");
        check("a.zip", b"PK\x03\x04\0\0", "Archive");
        check("a.docx", b"PK\x03\x04\0\0", "Binary");
        check("a.png", b"\x89PNG\0", "Binary");
        check("odd.txt", b"MZ is how it begins", "Text");
    }
}
