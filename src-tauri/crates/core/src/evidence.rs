//! Evidence: whether quoted words stand in a text, and how a citation is written.
//!
//! Pure text work. Two texts are compared after [`fold`] has taken away what a printer, a scanner
//! or a keyboard adds to the same words: white space, hyphens at the ends of lines, forms of quotes
//! and dashes, ligatures. Letters, digits, case and order always count.

mod fold;
mod quote;
mod sentence;
#[cfg(test)]
mod tests;
mod token;
mod words;

pub use fold::{Folded, fold};
pub use quote::{QuoteMatch, SourceText, find_quote, is_too_short};
pub use sentence::sentences;
pub use token::{Cited, Found, MalformedToken, QUOTE_LIMIT_BYTES, Token, tokens};
pub use words::{closest_words, page_at};
