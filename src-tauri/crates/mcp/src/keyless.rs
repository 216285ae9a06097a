//! Telling that a key is missing or refused from other failures.
//!
//! The protocol has a challenge for addresses that sign a person in, and nothing for a server that
//! takes a key and passes on what the service behind it says. What is left is the text of a result
//! that says of itself that it is an error, and the status of an answer.

use longrein_protocol::ToolErrorClass;
use longrein_runtime::ports::ToolError;

/// How much of an error is looked at: a service says at once what it refuses.
const LOOKED_AT_BYTES: usize = 600;
/// What is said of a refused request in numbers; one of [`OF_A_KEY`] has to stand beside it.
const STATUSES: &[&str] = &["401", "403"];
/// The word before it, where it is the status of an answer.
const OF_AN_ANSWER: &[&str] = &["http", "status", "code", "error", "statuscode"];
/// What such a request is short of.
const OF_A_KEY: &[&str] = &[
    "api key",
    "api-key",
    "api_key",
    "apikey",
    "unauthorized",
    "authentication",
    "credential",
    "access token",
    "bearer token",
];
/// What says it without a number.
const PLAIN: &[&str] = &[
    "api key must be provided",
    "api key is required",
    "api key required",
    "missing api key",
    "invalid api key",
    "incorrect api key",
    "api key not valid",
    "api key is not valid",
    "api key not found",
    "api key is missing",
    "api key is not set",
    "api_key is not set",
    "api_key environment variable",
];

/// Whether a server's error says that it lacks a key, or that its key is refused.
pub(crate) fn says_so(error: &str) -> bool {
    let looked_at = &error[..error.floor_char_boundary(LOOKED_AT_BYTES)];
    let said = looked_at.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
    has(PLAIN) || (has_status(&said) && has(OF_A_KEY))
}

/// Whether one of the numbers is said to be the status of an answer.
fn has_status(said: &str) -> bool {
    let mut words = said.split(|letter: char| !letter.is_ascii_alphanumeric());
    let mut before = "";
    words.any(|word| {
        let found = STATUSES.contains(&word) && OF_AN_ANSWER.contains(&before);
        if !word.is_empty() {
            before = word;
        }
        found
    })
}

/// Whether an address answered that whoever asks is not known to it, or may not, in the words of
/// the library, which keeps nothing but them.
pub(crate) fn is_refusal(error: &str) -> bool {
    let said = error.to_lowercase();
    STATUSES
        .iter()
        .any(|status| said.contains(&format!("http {status}")))
}

/// The failure as the model and the person are told of it.
pub(crate) fn error(tool: &str, server: &str, said: &str) -> ToolError {
    ToolError::new(
        ToolErrorClass::NotPermitted,
        format!(
            "{tool} needs a key: the server {server} was given none, or one that is refused. It says: {said}\nOnly the person can mend this: a key is named under [mcp.{server}] in config.toml and kept with longrein keys set. Do what can be done without this tool, and say that the key is missing."
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_or_refused_key_is_told_from_other_failures() {
        for error in [
            "web_search error (401): API key must be provided in the request",
            "Request failed with status 401: Unauthorized",
            "HTTP 403 Forbidden: invalid api-key",
            "Error: WEATHER_API_KEY is not set",
            "Incorrect API key provided: sk-•••.",
        ] {
            assert!(says_so(error), "{error}");
        }
        for error in [
            "404 Not Found",
            "The file has 401 lines.",
            "could not find file 'how-to-rotate-an-api-key-401.md'",
            "Row 403 not found in table access token",
            "The page says: no api key is needed. But I failed: timeout",
            "row 401: duplicate key value violates unique constraint",
            "403 Forbidden by robots.txt",
            "The token 4010 is unauthorized to be alone.",
            "",
        ] {
            assert!(!says_so(error), "{error}");
        }
    }

    #[test]
    fn an_address_that_refuses_is_told_by_its_status() {
        assert!(is_refusal(
            "unexpected server response: HTTP 403 Forbidden: no"
        ));
        assert!(!is_refusal("unexpected server response: HTTP 500: 403"));
    }

    #[test]
    fn only_the_beginning_of_a_long_error_counts() {
        let long = format!("{} 401 Unauthorized", "x".repeat(LOOKED_AT_BYTES));
        assert!(!says_so(&long));
        assert!(!says_so(&"é".repeat(LOOKED_AT_BYTES)));
    }

    #[test]
    fn the_words_name_the_server_and_what_to_do() {
        let error = error("exa.search", "exa", "401");
        assert_eq!(error.class, ToolErrorClass::NotPermitted);
        assert!(error.message.contains("[mcp.exa] in config.toml"));
        assert!(!error.uncertain);
    }
}
