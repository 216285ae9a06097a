//! A page between its markup and its text: blocks of words, in the order of reading.

/// One block.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Block {
    /// What it stands in, from the outside in.
    pub nest: Vec<Nest>,
    pub kind: BlockKind,
}

/// What a block stands in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Nest {
    Quote,
    Item {
        /// `-` or `3.`
        marker: String,
        /// Whether the block is the item's first.
        first: bool,
    },
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum BlockKind {
    Paragraph(Vec<Span>),
    /// With its level, 1 to 6.
    Heading(u8, Vec<Span>),
    Code {
        language: Option<String>,
        text: String,
    },
    Table(Table),
    Rule,
}

#[derive(Clone, PartialEq, Default, Debug)]
pub(super) struct Table {
    pub rows: Vec<Vec<Vec<Span>>>,
    /// Whether the first row names the columns.
    pub has_header: bool,
}

/// Words in one style.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Span {
    pub words: Words,
    pub style: Style,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Words {
    Text(String),
    Break,
    /// What an image shows. It is no text of the page.
    Image(String),
    /// A formula in TeX.
    Formula(String),
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Style {
    pub strong: bool,
    pub emphasis: bool,
    pub code: bool,
    /// The number of the link that the words are.
    pub link: Option<u32>,
}

/// Collects the words of one block, with white space folded as a browser does.
#[derive(Default)]
pub(super) struct Line {
    spans: Vec<Span>,
    /// Whether the next words stand right at the beginning or behind a space.
    after_space: bool,
}

impl Line {
    pub fn new() -> Self {
        Self {
            spans: Vec::new(),
            after_space: true,
        }
    }

    /// Adds text; white space at the start of a line or behind other white space is dropped.
    pub fn text(&mut self, text: &str, style: Style) {
        let mut folded = String::with_capacity(text.len());
        for letter in text.chars() {
            // No-break spaces are kept: they are the author's.
            if !matches!(letter, ' ' | '\n' | '\t' | '\r' | '\u{c}') {
                folded.push(letter);
                self.after_space = false;
            } else if !self.after_space {
                folded.push(' ');
                self.after_space = true;
            }
        }
        if folded.is_empty() {
            return;
        }
        match self.spans.last_mut() {
            Some(Span {
                words: Words::Text(words),
                style: same,
            }) if *same == style => words.push_str(&folded),
            _ => self.spans.push(Span {
                words: Words::Text(folded),
                style,
            }),
        }
    }

    /// Adds what is no text.
    pub fn push(&mut self, words: Words, style: Style) {
        self.after_space = matches!(words, Words::Break);
        if self.after_space {
            self.trim();
        }
        self.spans.push(Span { words, style });
    }

    /// A space between words, where there is none yet.
    pub fn gap(&mut self) {
        self.text(" ", Style::default());
    }

    /// Divides two items that stand in one line.
    pub fn divide(&mut self) {
        self.trim();
        if !self.spans.is_empty() {
            self.after_space = false;
            self.text("; ", Style::default());
        }
    }

    /// Takes the line's words, without white space at the ends; `None` when there are none.
    pub fn take(&mut self) -> Option<Vec<Span>> {
        self.trim();
        while matches!(self.spans.last(), Some(span) if span.words == Words::Break) {
            self.spans.pop();
            self.trim();
        }
        self.after_space = true;
        let mut spans = std::mem::take(&mut self.spans);
        let breaks = spans
            .iter()
            .take_while(|span| span.words == Words::Break)
            .count();
        spans.drain(..breaks);
        (!spans.is_empty()).then_some(spans)
    }

    fn trim(&mut self) {
        while let Some(Span {
            words: Words::Text(words),
            ..
        }) = self.spans.last_mut()
        {
            words.truncate(words.trim_end_matches(' ').len());
            if !words.is_empty() {
                return;
            }
            self.spans.pop();
        }
    }
}

/// The plain words of spans.
pub(super) fn plain(spans: &[Span]) -> String {
    let mut text = String::new();
    for span in spans {
        match &span.words {
            Words::Text(words) => text.push_str(words),
            Words::Break => text.push('\n'),
            Words::Image(_) => {}
            Words::Formula(tex) => text.push_str(tex),
        }
    }
    text
}

/// The words of a table's cell: one line.
pub(super) fn plain_cell(spans: &[Span]) -> String {
    plain(spans)
        .split('\n')
        .map(str::trim)
        .collect::<Vec<_>>()
        .join(" ")
}
