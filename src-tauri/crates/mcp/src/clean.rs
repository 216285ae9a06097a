//! What a server prints, made safe to show: no escape sequences, no control characters, no
//! secret that it was given.

/// What stands in the place of a secret.
const MASK: &str = "•••";

/// Values shorter than this occur by chance and are no secrets worth the damage of masking.
const SECRET_BYTES_MIN: usize = 6;

/// Removes escape sequences and control characters but line feeds and tabs.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => skip_escape(&mut letters),
            '\n' | '\t' => plain.push(letter),
            '\r' if letters.peek() == Some(&'\n') => {}
            '\r' => plain.push('\n'),
            _ if letter.is_control() => {}
            _ => plain.push(letter),
        }
    }
    plain
}

/// Skips the rest of an escape sequence: a control sequence up to its final letter, an operating
/// system command up to its end, or the one letter of a short sequence.
fn skip_escape(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match letters.next() {
        Some('[') => {
            while let Some(letter) = letters.next_if(|letter| !letter.is_control()) {
                if ('\u{40}'..='\u{7e}').contains(&letter) {
                    return;
                }
            }
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(letter) = letters.next_if(|letter| *letter != '\n') {
                if letter == '\u{7}' {
                    return;
                }
                if letter == '\u{1b}' {
                    letters.next_if_eq(&'\\');
                    return;
                }
            }
        }
        _ => {}
    }
}

/// Whether a character shows nothing and yet says something to a model: zero width, direction,
/// tags, selectors of variants and other format characters.
pub(crate) fn is_hidden(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0e}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Removes what a person would not see.
pub(crate) fn without_hidden(text: &str) -> String {
    text.chars().filter(|letter| !is_hidden(*letter)).collect()
}

/// The first `limit` bytes, cut on a character boundary, with an ellipsis when something is gone.
pub(crate) fn head(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(limit)])
}

/// The values that a server was given and that nothing else may show.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    /// Takes the values of the granted environment, the longest first, so that a secret within
    /// another one leaves no rest.
    pub(crate) fn of<'a>(values: impl Iterator<Item = &'a String>) -> Self {
        let mut secrets: Vec<String> = values
            .filter(|value| value.len() >= SECRET_BYTES_MIN)
            .cloned()
            .collect();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self(secrets)
    }

    /// Replaces every secret in `text`.
    pub(crate) fn mask(&self, text: String) -> String {
        self.0.iter().fold(text, |text, secret| {
            if text.contains(secret.as_str()) {
                text.replace(secret.as_str(), MASK)
            } else {
                text
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_and_control_characters_are_gone_and_words_stay() {
        for (raw, shown) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}after", "after"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("a\0b\u{8}c\u{9b}d", "abcd"),
            ("one\r\ntwo\rthree", "one\ntwo\nthree"),
            ("ends in \u{1b}", "ends in "),
            ("cut \u{1b}[38;5", "cut "),
        ] {
            assert_eq!(plain(raw), shown, "{raw:?}");
        }
    }

    #[test]
    fn a_text_is_cut_on_a_character_boundary() {
        assert_eq!(head("häh", 2), "h…");
        assert_eq!(head("häh", 4), "häh");
    }

    #[test]
    fn secrets_are_masked_and_short_values_are_not() {
        let values = [
            "sk-secret".to_owned(),
            "sk-secret-long".to_owned(),
            "no".to_owned(),
        ];
        let secrets = Secrets::of(values.iter());
        assert_eq!(
            secrets.mask("sk-secret-long and sk-secret, no".to_owned()),
            "••• and •••, no"
        );
    }
}
