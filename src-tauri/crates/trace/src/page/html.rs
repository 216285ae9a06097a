//! HTML that is written: nothing but our own marks goes in unescaped.

use serde_json::Value;

use crate::words;

/// A page as it grows.
#[derive(Default)]
pub(super) struct Html {
    pub(super) text: String,
}

impl Html {
    /// Marks of our own.
    pub(super) fn raw(&mut self, marks: &str) {
        self.text.push_str(marks);
    }

    /// Words, in an element or in the quotes of an attribute.
    pub(super) fn escaped(&mut self, words: &str) {
        for letter in words.chars() {
            match letter {
                '&' => self.raw("&amp;"),
                '<' => self.raw("&lt;"),
                '>' => self.raw("&gt;"),
                '"' => self.raw("&quot;"),
                '\'' => self.raw("&#39;"),
                letter => self.text.push(letter),
            }
        }
    }

    /// An element of a class with words in it; nothing where there are none.
    pub(super) fn element(&mut self, name: &str, class: &str, words: &str) {
        if words.is_empty() {
            return;
        }
        self.raw(&format!("<{name} class=\"{class}\" dir=\"auto\">"));
        self.escaped(words);
        self.raw(&format!("</{name}>"));
    }

    /// Words under a heading that opens them.
    pub(super) fn folded(&mut self, heading: &str, words: &str) {
        if words.is_empty() {
            return;
        }
        self.raw("<details><summary>");
        self.escaped(heading);
        self.raw("</summary>");
        self.element("pre", "words", words);
        self.raw("</details>");
    }

    /// A list under a heading; nothing where it is empty.
    pub(super) fn list<S: AsRef<str>>(&mut self, heading: &str, lines: &[S]) {
        if lines.is_empty() {
            return;
        }
        self.element("h4", "of-list", heading);
        self.raw("<ul>");
        for line in lines {
            self.element("li", "line", line.as_ref());
        }
        self.raw("</ul>");
    }

    /// Whether a criterion holds, in a word.
    pub(super) fn verdict(&mut self, holds: bool) {
        let (class, word) = match holds {
            true => ("verdict good", "holds"),
            false => ("verdict bad", "fails"),
        };
        self.element("span", class, word);
        self.raw(" ");
    }

    /// A moment.
    pub(super) fn time(&mut self, at_ms: i64) {
        let (machine, person) = (words::machine_moment(at_ms), words::moment(at_ms));
        self.raw(&format!("<time datetime=\"{machine}\">{person}</time>"));
    }

    /// JSON within a script: nothing in it ends the element or begins a comment.
    pub(super) fn json(&mut self, value: &Value) {
        let text = value.to_string();
        self.raw(
            &text
                .replace('<', "\\u003c")
                .replace('>', "\\u003e")
                .replace('&', "\\u0026")
                .replace('\u{2028}', "\\u2028")
                .replace('\u{2029}', "\\u2029"),
        );
    }
}
