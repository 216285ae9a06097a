//! A text with its escapes undone, byte by byte. Each byte knows the place that it came from.

/// How a text was escaped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Escape {
    /// As in an address: `%2F`.
    Percent,
    /// As in a string of JSON: `\"`, `\u0041`.
    Json,
}

/// The longest escape, in bytes: a character of JSON as two surrogates.
const ESCAPE_MAX_BYTES: usize = 12;

/// How much longer one level of escapes makes a byte, at most: `\u0041`.
pub(super) const ESCAPE_GROWTH_MAX: usize = 6;

impl Escape {
    /// The byte with which each escape begins.
    pub(super) fn sign(self) -> u8 {
        match self {
            Self::Percent => b'%',
            Self::Json => b'\\',
        }
    }

    /// Whether an escape of some kind begins with this byte.
    pub(super) fn is_sign(byte: u8) -> bool {
        byte == Self::Percent.sign() || byte == Self::Json.sign()
    }
}

/// A byte of a text, and where it stood before its escapes were undone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Glyph {
    pub(super) byte: u8,
    /// The place of its first byte.
    pub(super) from: u64,
    /// The place behind its last byte.
    pub(super) to: u64,
}

impl Glyph {
    pub(super) fn plain(byte: u8, at: u64) -> Self {
        Self {
            byte,
            from: at,
            to: at + 1,
        }
    }

    pub(super) fn was_escaped(self) -> bool {
        self.to - self.from > 1
    }
}

/// Undoes one level of escapes.
pub(super) struct Decoder {
    escape: Escape,
    /// What may become an escape; at most [`ESCAPE_MAX_BYTES`].
    pending: Vec<Glyph>,
}

enum Reading {
    /// It may still become an escape.
    Open,
    /// It is one.
    Is(char),
    /// It is a byte of its own, as only an address can spell it.
    IsByte(u8),
    /// It is none.
    IsNot,
}

impl Decoder {
    pub(super) fn new(escape: Escape) -> Self {
        Self {
            escape,
            pending: Vec::with_capacity(ESCAPE_MAX_BYTES),
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.pending.is_empty()
    }

    /// Where what may become an escape begins.
    pub(super) fn open_from(&self) -> Option<u64> {
        self.pending.first().map(|glyph| glyph.from)
    }

    /// Takes a byte, and gives those that are now known.
    #[inline]
    pub(super) fn push(&mut self, glyph: Glyph, out: &mut impl FnMut(Glyph)) {
        if self.pending.is_empty() && glyph.byte != self.escape.sign() {
            out(glyph);
            return;
        }
        self.push_open(glyph, out);
    }

    /// Takes a byte of what may be an escape.
    fn push_open(&mut self, glyph: Glyph, out: &mut impl FnMut(Glyph)) {
        self.pending.push(glyph);
        match self.read() {
            Reading::Open => {}
            Reading::Is(letter) => {
                let mut buffer = [0; 4];
                self.give(letter.encode_utf8(&mut buffer).as_bytes(), out);
            }
            Reading::IsByte(byte) => self.give(&[byte], out),
            Reading::IsNot => self.give_up(out),
        }
    }

    /// Nothing follows: what is pending is no escape.
    pub(super) fn finish(&mut self, out: &mut impl FnMut(Glyph)) {
        // Each round gives at least one byte.
        while !self.pending.is_empty() {
            self.give_up(out);
        }
    }

    /// What was pending is these bytes; each of them has the place of all of it.
    fn give(&mut self, bytes: &[u8], out: &mut impl FnMut(Glyph)) {
        let (Some(first), Some(last)) = (self.pending.first(), self.pending.last()) else {
            return;
        };
        let (from, to) = (first.from, last.to);
        self.pending.clear();
        for byte in bytes {
            out(Glyph {
                byte: *byte,
                from,
                to,
            });
        }
    }

    /// The first pending byte stands for itself; an escape may begin in the others.
    fn give_up(&mut self, out: &mut impl FnMut(Glyph)) {
        let pending = std::mem::replace(&mut self.pending, Vec::with_capacity(ESCAPE_MAX_BYTES));
        for (at, glyph) in pending.into_iter().enumerate() {
            if at == 0 {
                out(glyph);
            } else {
                self.push(glyph, out);
            }
        }
    }

    fn read(&self) -> Reading {
        let mut bytes = [0; ESCAPE_MAX_BYTES];
        for (byte, glyph) in bytes.iter_mut().zip(&self.pending) {
            *byte = glyph.byte;
        }
        let bytes = &bytes[..self.pending.len()];
        match self.escape {
            Escape::Percent => read_percent(bytes),
            Escape::Json => read_json(bytes),
        }
    }
}

fn read_percent(bytes: &[u8]) -> Reading {
    match hex(&bytes[1..]) {
        None => Reading::IsNot,
        Some(value) if bytes.len() == 3 => {
            u8::try_from(value).map_or(Reading::IsNot, Reading::IsByte)
        }
        Some(_) => Reading::Open,
    }
}

fn read_json(bytes: &[u8]) -> Reading {
    let letter = match bytes {
        [_] => return Reading::Open,
        [_, b'u', ..] => return read_unicode(bytes),
        [_, letter @ (b'"' | b'\\' | b'/'), ..] => char::from(*letter),
        [_, b'b', ..] => '\u{8}',
        [_, b'f', ..] => '\u{c}',
        [_, b'n', ..] => '\n',
        [_, b'r', ..] => '\r',
        [_, b't', ..] => '\t',
        _ => return Reading::IsNot,
    };
    Reading::Is(letter)
}

/// `\u0041`, or a character as two surrogates.
fn read_unicode(bytes: &[u8]) -> Reading {
    const ONE: usize = 6;
    let (first, second) = bytes.split_at(bytes.len().min(ONE));
    let Some(unit) = hex(&first[2..]) else {
        return Reading::IsNot;
    };
    if first.len() < ONE {
        return Reading::Open;
    }
    if !(0xd800..0xdc00).contains(&unit) {
        return char::from_u32(unit).map_or(Reading::IsNot, Reading::Is);
    }
    let begins_well = second.iter().zip(b"\\u").all(|(is, wanted)| is == wanted);
    match hex(second.get(2..).unwrap_or_default()) {
        Some(low) if begins_well && second.len() == ONE => {
            let low = low.checked_sub(0xdc00).filter(|low| *low < 0x400);
            let letter = low.map(|low| 0x10000 + ((unit - 0xd800) << 10) + low);
            let letter = letter.and_then(char::from_u32);
            letter.map_or(Reading::IsNot, Reading::Is)
        }
        Some(_) if begins_well => Reading::Open,
        _ => Reading::IsNot,
    }
}

/// The value of these digits; nothing is 0.
fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |value, digit| {
        Some(value * 16 + char::from(*digit).to_digit(16)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(escape: Escape, text: &str) -> (String, Vec<(u64, u64)>) {
        let mut decoder = Decoder::new(escape);
        let mut glyphs = Vec::new();
        for (at, byte) in (0..).zip(text.bytes()) {
            decoder.push(Glyph::plain(byte, at), &mut |glyph| glyphs.push(glyph));
        }
        decoder.finish(&mut |glyph| glyphs.push(glyph));
        let bytes = glyphs.iter().map(|glyph| glyph.byte).collect();
        let places = glyphs.iter().map(|glyph| (glyph.from, glyph.to)).collect();
        (String::from_utf8(bytes).unwrap(), places)
    }

    #[test]
    fn escapes_of_an_address_are_undone_in_either_case() {
        let of = |text: &str| decoded(Escape::Percent, text).0;
        assert_eq!(of("a%2fb%2Fc%C3%BC"), "a/b/cü");
        assert_eq!(of("50 % of %2 %%41 %zz%4"), "50 % of %2 %A %zz%4");
    }

    #[test]
    fn escapes_of_json_are_undone() {
        let of = |text: &str| decoded(Escape::Json, text).0;
        assert_eq!(of(r#"a\"\\\/\u0041\u00fc\n"#), "a\"\\/Aü\n");
        assert_eq!(of(r"\ud83d\uDE00."), "😀.");
        assert_eq!(
            of(r"\x \u12 \ud83d\n \ud83d\u0041 \udc00 \"),
            "\\x \\u12 \\ud83d\n \\ud83dA \\udc00 \\"
        );
    }

    #[test]
    fn a_byte_knows_where_its_escape_stood() {
        assert_eq!(
            decoded(Escape::Percent, "a%2Fb").1,
            [(0, 1), (1, 4), (4, 5)]
        );
        assert_eq!(
            decoded(Escape::Json, r"\u00fc\x").1,
            [(0, 6), (0, 6), (6, 7), (7, 8)]
        );
    }
}
