//! Which part of a page is a list of references: words there are other people's, not this one's.

/// So many of a hundred lines begin like a reference on a page that goes on with the list.
const REFERENCES_LEAST_PERCENT: usize = 25;
/// A heading in the first part of a page (in hundredths) makes the whole page a bibliography.
const HEADING_AT_TOP_PERCENT: usize = 20;

/// Where the list of references begins on this page. `goes_on`: the page before was one.
pub(super) fn begins(page: &str, goes_on: bool) -> Option<usize> {
    let mut offset = 0;
    for line in page.split_inclusive('\n') {
        if is_heading(line) && is_list(&page[offset + line.len()..]) {
            return Some(offset);
        }
        offset += line.len();
    }
    (goes_on && is_list(page)).then_some(0)
}

/// Whether what stands before `from` is no more than a page's head.
pub(super) fn is_whole_page(page: &str, from: usize) -> bool {
    from * 100 <= page.len() * HEADING_AT_TOP_PERCENT
}

fn is_heading(line: &str) -> bool {
    let words = line
        .trim()
        .trim_start_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '.' | ' '));
    matches!(
        words.to_lowercase().trim_end_matches(':'),
        "references"
            | "bibliography"
            | "literature"
            | "literature cited"
            | "works cited"
            | "literatur"
            | "literaturverzeichnis"
            | "références"
            | "bibliografía"
            | "referencias"
    )
}

fn is_list(text: &str) -> bool {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let references = lines.iter().filter(|line| is_reference(line)).count();
    references > 0 && references * 100 >= lines.len() * REFERENCES_LEAST_PERCENT
}

/// `[12] Name`, `12. Name`, or a line with a year in brackets or before a stop.
fn is_reference(line: &str) -> bool {
    let digits = line.trim_start_matches('[');
    let number = digits.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = (1..=3).contains(&number) && digits[number..].starts_with(['.', ']']);
    numbered || has_year(line)
}

fn has_year(line: &str) -> bool {
    line.split(|letter: char| !letter.is_ascii_digit())
        .any(|digits| digits.len() == 4 && (digits.starts_with("19") || digits.starts_with("20")))
        && line.contains([',', '.'])
}
