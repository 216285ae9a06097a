//! Server-sent events out of bytes that may be cut anywhere.

/// The longest line that is taken, in bytes. A provider that sends a longer one is broken.
const LINE_LIMIT: usize = 8 * 1024 * 1024;

/// Cuts a byte stream into the data of its events. Works on bytes and decodes whole lines only,
/// so that it does not matter where the network cut a character.
#[derive(Default)]
pub(crate) struct EventReader {
    /// The line that is being read.
    line: Vec<u8>,
    /// The data of the event that is being read.
    data: Option<String>,
    /// Whether the byte before was a carriage return, whose line feed belongs to it.
    after_return: bool,
    started: bool,
}

/// A line is longer than any provider's.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LineTooLong;

impl EventReader {
    /// Takes more bytes and adds the data of every event that they complete to `events`.
    pub fn push(&mut self, bytes: &[u8], events: &mut Vec<String>) -> Result<(), LineTooLong> {
        for &byte in bytes {
            let after_return = std::mem::replace(&mut self.after_return, byte == b'\r');
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => self.end_line(events),
                _ if self.line.len() == LINE_LIMIT => return Err(LineTooLong),
                _ => self.line.push(byte),
            }
        }
        Ok(())
    }

    /// The stream has ended: what is left counts, since some servers leave out the last blank
    /// line.
    pub fn finish(&mut self, events: &mut Vec<String>) {
        if !self.line.is_empty() {
            self.end_line(events);
        }
        events.extend(self.data.take());
    }

    fn end_line(&mut self, events: &mut Vec<String>) {
        let line = String::from_utf8_lossy(&self.line);
        let first = !std::mem::replace(&mut self.started, true);
        let line = if first {
            line.strip_prefix('\u{feff}').unwrap_or(&line)
        } else {
            &line
        };
        if line.is_empty() {
            events.extend(self.data.take());
        } else if let Some(value) = line.strip_prefix("data:") {
            let value = value.strip_prefix(' ').unwrap_or(value);
            match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            }
        }
        // Comments and other fields carry nothing that a chat stream needs.
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<String> {
        let mut reader = EventReader::default();
        let mut events = Vec::new();
        for piece in pieces {
            reader.push(piece, &mut events).unwrap();
        }
        reader.finish(&mut events);
        events
    }

    #[test]
    fn every_cut_gives_the_same_events() {
        let stream = "\u{feff}data: {\"ä\":1}\r\n\r\n: keep-alive\n\ndata:{\"木\":2}\n\n\
                      event: x\rdata: a\rdata: b\r\rdata: [DONE]"
            .as_bytes();
        let whole = read(&[stream]);
        assert_eq!(whole, ["{\"ä\":1}", "{\"木\":2}", "a\nb", "[DONE]"]);
        for first in 0..stream.len() {
            for second in first..stream.len() {
                let cut = [&stream[..first], &stream[first..second], &stream[second..]];
                assert_eq!(read(&cut), whole, "cut at {first} and {second}");
            }
        }
    }

    #[test]
    fn a_comment_alone_is_no_event() {
        assert!(read(&[b": OPENROUTER PROCESSING\n\n"]).is_empty());
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let mut reader = EventReader::default();
        let mut events = Vec::new();
        let line = vec![b'x'; LINE_LIMIT];
        assert_eq!(reader.push(&line, &mut events), Ok(()));
        assert_eq!(reader.push(b"x", &mut events), Err(LineTooLong));
    }
}
