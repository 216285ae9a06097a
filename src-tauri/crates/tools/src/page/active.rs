//! What a page may not be made of: parts from elsewhere, and parts that change what it shows.

use scraper::node::Element;

/// What an element does besides showing its words.
pub(super) enum Active {
    /// It can show something that the page itself does not hold: no page has that.
    Refused(String),
    /// It can change what the page shows, so nothing that was checked need be what is seen.
    Changing(String),
}

/// What `element` does; `None` when it only shows its words.
pub(super) fn of(element: &Element) -> Option<Active> {
    let name = element.name();
    match name {
        // What stands in a noscript is read in another way where scripts run.
        "base" | "iframe" | "frame" | "object" | "embed" | "noscript" => {
            return Some(Active::Refused(format!("<{name}>")));
        }
        "meta" if refreshes(element) => {
            return Some(Active::Refused("<meta http-equiv=\"refresh\">".to_owned()));
        }
        "script" => return Some(Active::Changing(format!("<{name}>"))),
        _ => {}
    }
    let acts = |(attribute, value): (&str, &str)| {
        if attribute.starts_with("on") {
            Some(format!("{attribute} of <{name}>"))
        } else if is_script(value) {
            Some(format!("a javascript: URL in {attribute} of <{name}>"))
        } else {
            None
        }
    };
    element.attrs().find_map(acts).map(Active::Changing)
}

fn refreshes(meta: &Element) -> bool {
    meta.attr("http-equiv")
        .is_some_and(|what| what.trim().eq_ignore_ascii_case("refresh"))
}

/// Whether a browser would take the address for a script: it passes over blanks and controls.
fn is_script(address: &str) -> bool {
    const SCHEME: &str = "javascript:";
    let mut letters = address
        .chars()
        .filter(|letter| !letter.is_whitespace() && !letter.is_control())
        .map(|letter| letter.to_ascii_lowercase());
    SCHEME.chars().all(|wanted| letters.next() == Some(wanted))
}
