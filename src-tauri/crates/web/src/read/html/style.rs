//! What an element's own style says of whether it can be seen. Style sheets are not read.

/// The longest style that is looked at, in bytes.
const STYLE_LIMIT_BYTES: usize = 4096;
/// Letters of at most so many pixels are dots.
const SMALLEST_SEEN_PX: f32 = 2.0;
/// What is moved so far is outside every screen.
const FAR_AWAY_PX: f32 = -900.0;
/// What is so faint can't be read.
const FAINTEST_SEEN: f32 = 0.05;
/// How far apart the parts of two colours may be that look alike.
const ALIKE: u8 = 16;
/// The usual size of letters.
const USUAL_PX: f32 = 16.0;

/// A colour that covers what is behind it.
pub(super) type Rgb = [u8; 3];

/// What an inline style says.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(super) struct Look {
    /// Nothing in it can be seen, whatever stands in it.
    pub gone: bool,
    /// What `visibility` says; it is handed down.
    pub visible: Option<bool>,
    /// The size of letters, handed down.
    pub tiny: Option<bool>,
    /// The colour of letters, handed down.
    pub color: Option<Color>,
    /// What is behind them.
    pub background: Option<Rgb>,
}

/// A colour of letters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Color {
    Transparent,
    Solid(Rgb),
}

impl Look {
    /// Reads the attribute `style`.
    pub fn of(style: &str) -> Self {
        let mut look = Self::default();
        let mut box_of = Box::default();
        for (name, value) in declarations(&without_comments(style)) {
            look.declare(&name, &value);
            box_of.declare(&name, &value);
        }
        look.gone |= box_of.is_empty();
        look
    }

    /// What holds for an element with this style inside one that looks like `outer`.
    pub fn inside(self, outer: Self) -> Self {
        Self {
            gone: self.gone,
            visible: self.visible.or(outer.visible),
            tiny: self.tiny.or(outer.tiny),
            color: self.color.or(outer.color),
            background: self.background.or(outer.background),
        }
    }

    /// Whether words that look like this can't be read.
    pub fn hides_words(self) -> bool {
        let same = match (self.color, self.background) {
            (Some(Color::Transparent), _) => true,
            (Some(Color::Solid(letters)), Some(behind)) => letters
                .iter()
                .zip(behind)
                .all(|(one, other)| one.abs_diff(other) <= ALIKE),
            _ => false,
        };
        self.gone || self.visible == Some(false) || self.tiny == Some(true) || same
    }

    fn declare(&mut self, name: &str, value: &str) {
        match name {
            "display" => self.gone |= value == "none",
            "content-visibility" => self.gone |= value == "hidden",
            "visibility" => {
                self.visible = Some(!matches!(value, "hidden" | "collapse"));
            }
            "opacity" => {
                let share = match value.strip_suffix('%') {
                    Some(percent) => percent.parse::<f32>().map(|percent| percent / 100.0),
                    None => value.parse::<f32>(),
                };
                self.gone |= share.is_ok_and(|share| share <= FAINTEST_SEEN);
            }
            "font-size" => self.tiny = pixels(value).map(|size| size < SMALLEST_SEEN_PX),
            "text-indent" => {
                self.gone |= pixels(value).is_some_and(|indent| indent <= FAR_AWAY_PX);
            }
            "color" | "-webkit-text-fill-color" => self.color = color(value),
            "background" | "background-color" => {
                // The shorthand says much besides a colour.
                let found = std::iter::once(value)
                    .chain(value.split_whitespace())
                    .find_map(color);
                if let Some(Color::Solid(solid)) = found {
                    self.background = Some(solid);
                }
            }
            "clip-path" => {
                self.gone |= matches!(
                    value.replace(' ', "").as_str(),
                    "inset(50%)" | "inset(100%)" | "circle(0)" | "circle(0px)" | "circle(0%)"
                );
            }
            "clip" => {
                let value = value.replace([' ', ','], "").replace("px", "");
                self.gone |= matches!(value.as_str(), "rect(0000)" | "rect(1111)");
            }
            "transform" => {
                let value = value.replace(' ', "");
                self.gone |= value.contains("scale(0)") || value.contains("scale(0,");
            }
            _ => {}
        }
    }
}

/// The room that an element has.
#[derive(Default)]
struct Box {
    no_room: bool,
    cuts: bool,
    positioned: bool,
    far: bool,
}

impl Box {
    fn declare(&mut self, name: &str, value: &str) {
        match name {
            "width" | "height" | "max-width" | "max-height" => {
                self.no_room |= pixels(value).is_some_and(|size| size <= 1.0);
            }
            "overflow" | "overflow-x" | "overflow-y" => {
                self.cuts |= value.contains("hidden") || value.contains("clip");
            }
            "position" => self.positioned = matches!(value, "absolute" | "fixed"),
            "left" | "top" | "right" | "bottom" | "margin-left" | "margin-top" => {
                self.far |= pixels(value).is_some_and(|offset| offset <= FAR_AWAY_PX);
            }
            _ => {}
        }
    }

    fn is_empty(&self) -> bool {
        (self.no_room && self.cuts) || (self.positioned && self.far)
    }
}

/// The style without comments, which could stand in the middle of a word.
fn without_comments(style: &str) -> String {
    let style = &style[..style.floor_char_boundary(STYLE_LIMIT_BYTES)];
    let mut kept = String::with_capacity(style.len());
    let mut rest = style;
    while let Some((before, comment)) = rest.split_once("/*") {
        kept.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    kept
}

/// Names and values, in lower case.
fn declarations(style: &str) -> impl Iterator<Item = (String, String)> + '_ {
    style.split(';').filter_map(|declaration| {
        let (name, value) = declaration.split_once(':')?;
        let value = value.trim().to_ascii_lowercase();
        let value = match value.split_once('!') {
            Some((value, _)) => value.trim_end().to_owned(),
            None => value,
        };
        Some((name.trim().to_ascii_lowercase(), value))
    })
}

/// A length, about, in pixels.
fn pixels(value: &str) -> Option<f32> {
    let digits = value
        .find(|letter: char| !letter.is_ascii_digit() && !"+-.".contains(letter))
        .unwrap_or(value.len());
    let number: f32 = value[..digits].parse().ok()?;
    match value[digits..].trim() {
        "" if number == 0.0 => Some(0.0),
        "px" => Some(number),
        "pt" => Some(number * 4.0 / 3.0),
        "em" | "rem" => Some(number * USUAL_PX),
        "%" => Some(number / 100.0 * USUAL_PX),
        "vw" | "vh" => Some(number * 10.0),
        _ => None,
    }
}

/// The colours that are said by name where something is to be hidden, hexadecimal ones and `rgb`.
fn color(value: &str) -> Option<Color> {
    let value = value.trim();
    let named = match value {
        "transparent" => return Some(Color::Transparent),
        "white" | "snow" | "ivory" => [255, 255, 255],
        "whitesmoke" => [245, 245, 245],
        "black" => [0, 0, 0],
        "gray" | "grey" => [128, 128, 128],
        "silver" => [192, 192, 192],
        "red" => [255, 0, 0],
        "green" => [0, 128, 0],
        "lime" => [0, 255, 0],
        "blue" => [0, 0, 255],
        "navy" => [0, 0, 128],
        "yellow" => [255, 255, 0],
        _ => {
            return match value.strip_prefix('#') {
                Some(digits) => hexadecimal(digits),
                None => functional(value),
            };
        }
    };
    Some(Color::Solid(named))
}

fn hexadecimal(digits: &str) -> Option<Color> {
    let digits: Vec<u8> = digits
        .chars()
        .map(|digit| {
            digit
                .to_digit(16)
                .and_then(|digit| u8::try_from(digit).ok())
        })
        .collect::<Option<_>>()?;
    let (solid, alpha) = match digits[..] {
        [r, g, b] => ([r * 17, g * 17, b * 17], 255),
        [r, g, b, a] => ([r * 17, g * 17, b * 17], a * 17),
        [r, s, g, h, b, c] => ([r * 16 + s, g * 16 + h, b * 16 + c], 255),
        [r, s, g, h, b, c, a, e] => ([r * 16 + s, g * 16 + h, b * 16 + c], a * 16 + e),
        _ => return None,
    };
    Some(if alpha == 0 {
        Color::Transparent
    } else {
        Color::Solid(solid)
    })
}

fn functional(value: &str) -> Option<Color> {
    let inside = value
        .strip_prefix("rgba(")
        .or_else(|| value.strip_prefix("rgb("))?
        .strip_suffix(')')?;
    let parts: Vec<f32> = inside
        .split([',', ' ', '/'])
        .filter(|part| !part.is_empty())
        .map(|part| match part.strip_suffix('%') {
            Some(percent) => percent.parse::<f32>().map(|percent| percent * 2.55),
            None => part.parse::<f32>(),
        })
        .collect::<Result<_, _>>()
        .ok()?;
    // A cast of a float saturates, which is what a browser does.
    match parts[..] {
        [_, _, _, 0.0] => Some(Color::Transparent),
        [r, g, b] | [r, g, b, _] => Some(Color::Solid([r as u8, g as u8, b as u8])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_that_hide_are_seen() {
        for style in [
            "display:none",
            "DISPLAY : None !important",
            "dis/**/play:none",
            "color:red; display: none",
            "visibility:hidden",
            "opacity:0",
            "opacity: 0.01",
            "opacity:0%",
            "font-size:0",
            "font-size: 1px",
            "font-size:0.01em",
            "width:0;height:0;overflow:hidden",
            "position:absolute;width:1px;height:1px;overflow:hidden",
            "position:absolute; left:-9999px",
            "position:fixed;top:-200em",
            "text-indent:-9999px",
            "clip:rect(0,0,0,0)",
            "clip: rect(1px, 1px, 1px, 1px)",
            "clip-path: inset(100%)",
            "transform:scale(0)",
            "color:transparent",
            "color:rgba(0,0,0,0)",
            "color:#fff0",
            "color:white;background:white",
            "color:#fefefe;background-color:#ffffff",
            "background: #000 url(x.png) no-repeat; color: rgb(2, 2, 2)",
        ] {
            assert!(Look::of(style).hides_words(), "{style}");
        }
    }

    #[test]
    fn styles_that_show_are_let_be() {
        for style in [
            "",
            "display:block",
            "visibility:visible",
            "opacity:.8",
            "font-size:12px",
            "font-size:small",
            "width:100%;overflow:hidden",
            "height:0",
            "position:absolute;left:10px",
            "margin-left:-5px",
            // A page may well be dark.
            "color:white",
            "color:white;background:#222",
            "background:white",
            "nonsense",
            ":;:;;",
        ] {
            assert!(!Look::of(style).hides_words(), "{style}");
        }
    }

    #[test]
    fn what_is_handed_down_can_be_taken_back() {
        let outer = Look::of("font-size:0;visibility:hidden;background:#fff");
        assert!(Look::of("").inside(outer).hides_words());
        let inner = Look::of("font-size:14px;visibility:visible");
        assert!(!inner.inside(outer).hides_words());
        let white = Look::of("font-size:14px;visibility:visible;color:#fff");
        assert!(white.inside(outer).hides_words());
    }
}
