//! What stands inside the encrypted file: a line for each secret, its name first. A person who
//! has the passphrase can read it with any program that reads age.

use std::collections::BTreeMap;

use zeroize::Zeroizing;

use crate::check::keepable;
use crate::{SecretName, SecretText};

/// Secrets by name.
pub(super) type Secrets = BTreeMap<SecretName, SecretText>;

/// What the first line begins with; the version follows.
const TITLE: &str = "longrein secrets ";
const VERSION: &str = "1";

/// Why a text is not what was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// A newer version wrote it.
    Newer,
    /// Something else is wrong.
    Damaged(&'static str),
}

/// The text of these secrets.
pub(super) fn write(secrets: &Secrets) -> Zeroizing<String> {
    let lines = secrets.iter();
    let length: usize = lines
        .map(|(name, secret)| name.as_str().len() + secret.expose().len() + 2)
        .sum();
    // Made as long as it gets, so that growing leaves no copy behind.
    let mut text = Zeroizing::new(String::with_capacity(
        TITLE.len() + VERSION.len() + 1 + length,
    ));
    text.push_str(TITLE);
    text.push_str(VERSION);
    text.push('\n');
    for (name, secret) in secrets {
        text.push_str(name.as_str());
        text.push(' ');
        text.push_str(secret.expose());
        text.push('\n');
    }
    text
}

/// The secrets of a text.
pub(super) fn read(bytes: &[u8]) -> Result<Secrets, Fault> {
    const NO_TEXT: Fault = Fault::Damaged("what it holds is no text");
    const NO_LIST: Fault = Fault::Damaged("what it holds is no list of secrets");
    let text = std::str::from_utf8(bytes).map_err(|_| NO_TEXT)?;
    let (title, lines) = text.split_once('\n').ok_or(NO_LIST)?;
    let version = title.strip_prefix(TITLE).ok_or(NO_LIST)?;
    if version != VERSION {
        return Err(Fault::Newer);
    }
    let mut secrets = Secrets::new();
    for line in lines.split_terminator('\n') {
        let (name, text) = line.split_once(' ').ok_or(NO_LIST)?;
        let name = SecretName::new(name).map_err(|_| NO_LIST)?;
        let secret = SecretText::exact(text);
        keepable(&secret).map_err(|_| NO_LIST)?;
        if secrets.insert(name, secret).is_some() {
            return Err(NO_LIST);
        }
    }
    Ok(secrets)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(pairs: &[(&str, &str)]) -> Secrets {
        let pairs = pairs.iter();
        pairs
            .map(|(name, text)| (SecretName::new(name).unwrap(), SecretText::exact(*text)))
            .collect()
    }

    #[test]
    fn what_was_written_is_read() {
        let some = secrets(&[("openai", "sk-1 2  "), ("mcp.exa", "größe=\"x\"")]);
        let text = write(&some);
        assert_eq!(
            text.as_str(),
            "longrein secrets 1\nmcp.exa größe=\"x\"\nopenai sk-1 2  \n"
        );
        assert_eq!(text.len(), text.capacity());
        assert_eq!(read(text.as_bytes()).unwrap(), some);
        assert_eq!(read(write(&secrets(&[])).as_bytes()).unwrap(), secrets(&[]));
    }

    #[test]
    fn what_was_not_written_is_told_apart() {
        assert_eq!(read(b"longrein secrets 2\nx"), Err(Fault::Newer));
        let others: [&[u8]; 7] = [
            b"",
            b"longrein secrets 1",
            b"something else\n",
            b"longrein secrets 1\nname\n",
            b"longrein secrets 1\na/b c\n",
            b"longrein secrets 1\na b\na c\n",
            b"longrein secrets 1\na \xff\n",
        ];
        for bytes in others {
            assert!(matches!(read(bytes), Err(Fault::Damaged(_))), "{bytes:?}");
        }
    }
}
