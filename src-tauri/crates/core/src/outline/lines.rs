//! Texts of which no more is known than that they have lines.

use super::counted as number;

/// The words of a log by which a reader looks for what went wrong.
const SIGNS: [&str; 4] = ["error", "warn", "panic", "exception"];

/// How many lines a text has, and how long the longest is.
pub(super) fn counted(text: &str) -> String {
    let (mut lines, mut longest) = (0_u64, 0_usize);
    for line in text.lines() {
        lines += 1;
        longest = longest.max(line.len());
    }
    format!(
        "{}, the longest of {}",
        number(lines, "line", "lines"),
        super::bytes(longest)
    )
}

/// The same, with what a log says of trouble.
pub(super) fn of(text: &str) -> Vec<String> {
    let mut says = [0_u64; SIGNS.len()];
    let mut small = String::new();
    for line in text.lines() {
        small.clear();
        small.push_str(line);
        small.make_ascii_lowercase();
        for (count, sign) in says.iter_mut().zip(SIGNS) {
            *count += u64::from(small.contains(sign));
        }
    }
    let said = says.iter().zip(SIGNS).filter(|(count, _)| **count > 0);
    let said =
        said.map(|(count, sign)| format!("- {} with “{sign}”", number(*count, "line", "lines")));
    std::iter::once(counted(text)).chain(said).collect()
}
