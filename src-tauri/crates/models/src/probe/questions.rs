//! The questions, and how they become bytes.

use longrein_core::dialect::{Attached, Dialect, End, Head, Message, Parameters, Place, Thinking};
use longrein_protocol::tool::{Reach, Recovery, Repeat};
use longrein_protocol::{Effect, MediaKind, ToolSpec};
use serde_json::json;

/// Enough words that they come in pieces.
pub(super) const COUNT: &str = "Count from one to twenty in words, in one line.";

/// Something that wants one call.
pub(super) const ONE_CITY: &str =
    "How warm is it in Oslo now? Find out with the tool; do not guess.";

/// Something that wants two.
pub(super) const TWO_CITIES: &str =
    "How warm is it in Oslo and in Lima now? Ask the tool for both cities at once.";

/// Something that is easier with a thought.
pub(super) const RIDDLE: &str = "A bat and a ball cost 1.10 together; the bat costs 1.00 more than the ball. What does the ball cost?";

/// Something that wants a picture.
pub(super) const COLOUR: &str =
    "What colour is this picture? Answer with one English word, or say that you see none.";

/// The colour of [`PICTURE`].
pub(super) const PICTURE_COLOUR: &str = "red";

/// A square of 64 by 64 red pixels as PNG in base64; some models refuse smaller ones.
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAS0lEQVR42u3PQQkAAAgAsetfWiP4FgYrsKZeS0BAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEDgsqnc8OJg6Ln3AAAAAElFTkSuQmCC";

/// About how many tokens a model counts for it: the least that any does for an image.
const PICTURE_TOKENS: u32 = 258;

/// The only tool.
pub(super) const TOOL: &str = "temperature";

/// What an answer may have. Models that reason need room before they say a word.
const OUTPUT_TOKENS: u32 = 2_048;

/// How many lines the long front has: more tokens than any provider's least for its cache.
const FRONT_LINES: u32 = 280;

/// A question.
pub(super) struct Question<'a> {
    pub system: &'a str,
    pub text: &'a str,
    pub tools: Vec<ToolSpec>,
    pub thinking: Option<Thinking>,
    /// Whether the picture comes with it.
    pub with_picture: bool,
}

impl<'a> Question<'a> {
    /// Without tools.
    pub fn plain(text: &'a str) -> Self {
        Self {
            system: "Answer briefly.",
            text,
            tools: Vec::new(),
            thinking: None,
            with_picture: false,
        }
    }

    /// With the picture.
    pub fn with_picture(text: &'a str) -> Self {
        Self {
            with_picture: true,
            ..Self::plain(text)
        }
    }

    /// With the tool.
    pub fn with_tool(text: &'a str) -> Self {
        Self {
            tools: vec![tool()],
            ..Self::plain(text)
        }
    }

    /// The body of the request.
    pub fn bytes(&self, model: &str, dialect: &dyn Dialect) -> String {
        let head = dialect.head(Head {
            model,
            system: self.system,
            tools: &self.tools,
            index: "",
        });
        let mut body: String = head.into_iter().map(|(_, piece)| piece).collect();
        let place = Place {
            index: 0,
            after: None,
            is_tail: false,
        };
        let text = self.text.to_owned();
        let media = match self.with_picture {
            true => vec![picture()],
            false => Vec::new(),
        };
        body += &dialect.placed(place, &Message::User { text, media });
        let end = End {
            messages: 1,
            has_tail: false,
        };
        let parameters = Parameters {
            max_output_tokens: OUTPUT_TOKENS,
            temperature: None,
            thinking: self.thinking,
            answer: None,
        };
        body + &dialect.closing_after(end, parameters)
    }
}

fn picture() -> Attached {
    Attached {
        kind: MediaKind::Image,
        media_type: "image/png".to_owned(),
        name: "square.png".to_owned(),
        base64: PICTURE.into(),
        tokens: PICTURE_TOKENS,
    }
}

fn tool() -> ToolSpec {
    ToolSpec {
        name: TOOL.to_owned(),
        description: "Measures the temperature in a city, in degrees Celsius.".to_owned(),
        schema: json!({
            "type": "object",
            "properties": {"city": {"type": "string", "description": "The city's name."}},
            "required": ["city"],
            "additionalProperties": false,
        }),
        effect: Effect::Read,
        repeat: Repeat::Repeatable,
        timeout_ms: 1,
        result_tokens: 1,
        path_arguments: Vec::new(),
        reach: Reach::default(),
        recovery: Recovery::default(),
        untrusted: false,
    }
}

/// A system text that is long enough to be kept.
pub(super) fn long_front() -> String {
    let mut text = String::from("Answer briefly. These are the shelves of a library:\n");
    for number in 1..=FRONT_LINES {
        text.push_str(&format!(
            "Shelf {number} holds books of the year {}.\n",
            1_400 + number
        ));
    }
    text
}
