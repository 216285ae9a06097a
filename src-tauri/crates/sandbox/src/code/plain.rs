//! Output of commands as text: what acts on a terminal is taken out, a line that was written over
//! is what it was in the end.

/// Text that can be read: no escape sequences, no control characters but line ends and tabs.
pub(super) fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut plain = String::with_capacity(text.len());
    let mut line = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => skip_sequence(&mut letters),
            '\n' => {
                plain.push_str(&line);
                plain.push('\n');
                line.clear();
            }
            '\r' if matches!(letters.peek(), Some('\n') | None) => {}
            // A progress bar writes its line again and again.
            '\r' => line.clear(),
            '\u{8}' => {
                line.pop();
            }
            '\t' => line.push('\t'),
            letter if letter.is_control() || turns(letter) => line.push('\u{fffd}'),
            letter => line.push(letter),
        }
    }
    plain.push_str(&line);
    plain
}

/// What turns the reading direction.
fn turns(letter: char) -> bool {
    matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The longest sequence that is taken for one.
const SEQUENCE_MAX: usize = 256;

fn skip_sequence(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match letters.next() {
        // A control sequence ends with a letter or a sign above it.
        Some('[') => {
            for _ in 0..SEQUENCE_MAX {
                match letters.next() {
                    Some('@'..='~') | None => return,
                    Some(_) => {}
                }
            }
        }
        // A command of the system, such as a title or a link, ends with a bell or a string's end.
        Some(']') => {
            for _ in 0..SEQUENCE_MAX {
                match letters.next() {
                    Some('\u{7}') | None => return,
                    Some('\u{1b}') => {
                        letters.next();
                        return;
                    }
                    Some(_) => {}
                }
            }
        }
        _ => {}
    }
}

/// Takes bytes in pieces and gives them as text, without cutting a character.
#[derive(Default)]
pub(super) struct Pieces {
    rest: Vec<u8>,
}

/// The most bytes of a character.
const CHARACTER_MAX: usize = 4;

impl Pieces {
    /// What can be shown after one more piece.
    pub(super) fn push(&mut self, bytes: &[u8]) -> String {
        self.rest.extend_from_slice(bytes);
        let whole = self.rest.len() - unfinished(&self.rest);
        let rest = self.rest.split_off(whole);
        let shown = text(&self.rest);
        self.rest = rest;
        shown
    }
}

/// How many bytes at the end begin a character that is not whole.
fn unfinished(bytes: &[u8]) -> usize {
    for (before, byte) in bytes.iter().rev().take(CHARACTER_MAX - 1).enumerate() {
        let there = before + 1;
        let needed = match byte {
            // It goes on with a character.
            0x80..=0xbf => continue,
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => 1,
        };
        return if needed > there { there } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_on_a_terminal_is_taken_out() {
        let shown = text(b"\x1b[1;31mred\x1b[0m\tx\x00y\r\n\x1b]0;title\x07end");
        assert_eq!(shown, "red\tx\u{fffd}y\nend");
    }

    #[test]
    fn a_line_that_is_written_over_is_what_it_was_in_the_end() {
        assert_eq!(text(b"10 %\r50 %\r100 %\nok"), "100 %\nok");
        assert_eq!(text(b"ab\x08c"), "ac");
    }

    #[test]
    fn bytes_that_are_no_text_are_marked_and_end_nothing() {
        assert_eq!(text(b"a\xff\xfeb"), "a\u{fffd}\u{fffd}b");
    }

    #[test]
    fn a_character_is_not_cut_between_two_pieces() {
        for cut in 1.."aé€𝄞b".len() {
            let bytes = "aé€𝄞b".as_bytes();
            let mut pieces = Pieces::default();
            let mut all = pieces.push(&bytes[..cut]);
            all.push_str(&pieces.push(&bytes[cut..]));
            assert_eq!(all, "aé€𝄞b", "cut at {cut}");
        }
    }
}
