//! The variables of the environment that hold keys. They override what is kept, and are shown as
//! such.

use std::ffi::OsString;

use crate::SecretText;

/// How a variable is read; `None` when it is not set. Tests give their own.
pub type Lookup<'a> = &'a (dyn Fn(&str) -> Option<String> + Sync);

/// The variables that people have already set for a provider or a server of this name, the usual
/// one first.
const USUAL: &[(&str, &[&str])] = &[
    ("anthropic", &["ANTHROPIC_API_KEY"]),
    ("cerebras", &["CEREBRAS_API_KEY"]),
    ("cohere", &["CO_API_KEY", "COHERE_API_KEY"]),
    ("deepseek", &["DEEPSEEK_API_KEY"]),
    ("exa", &["EXA_API_KEY"]),
    ("fireworks", &["FIREWORKS_API_KEY"]),
    ("gemini", &["GEMINI_API_KEY", "GOOGLE_API_KEY"]),
    ("google", &["GEMINI_API_KEY", "GOOGLE_API_KEY"]),
    ("groq", &["GROQ_API_KEY"]),
    ("huggingface", &["HF_TOKEN"]),
    ("mistral", &["MISTRAL_API_KEY"]),
    ("moonshot", &["MOONSHOT_API_KEY"]),
    ("nvidia", &["NVIDIA_API_KEY"]),
    ("openai", &["OPENAI_API_KEY"]),
    ("openrouter", &["OPENROUTER_API_KEY"]),
    ("perplexity", &["PERPLEXITY_API_KEY"]),
    ("together", &["TOGETHER_API_KEY"]),
    ("xai", &["XAI_API_KEY"]),
];

/// The variable that holds a provider's key for Longrein alone.
pub fn own_variable(provider: &str) -> String {
    let letters = provider.chars().map(|letter| match letter {
        letter if letter.is_ascii_alphanumeric() => letter.to_ascii_uppercase(),
        _ => '_',
    });
    format!("LONGREIN_{}_API_KEY", letters.collect::<String>())
}

/// The variables that people have already set for a provider of this name, the usual one first.
pub fn usual_variables(provider: &str) -> &'static [&'static str] {
    USUAL
        .iter()
        .find(|(name, _)| *name == provider)
        .map_or(&[], |(_, variables)| variables)
}

/// Whether a provider of this name is one that many people use, and not one of the person's own.
pub(crate) fn is_well_known(provider: &str) -> bool {
    !usual_variables(provider).is_empty()
}

/// A variable of this process; an empty one counts as not set.
pub fn process_variable(name: &str) -> Option<String> {
    std::env::var(name)
        .ok()
        .filter(|value| !value.trim().is_empty())
}

/// The secrets among the variables of an environment (`std::env::vars_os()`): keys of providers,
/// and whatever `also` names.
pub fn secrets_in(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
    also: &dyn Fn(&str) -> bool,
) -> Vec<SecretText> {
    variables
        .into_iter()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, value)| !value.trim().is_empty() && (is_for_a_key(name) || also(name)))
        .map(|(_, value)| SecretText::new(value))
        .collect()
}

/// The variables that a program started from here must not inherit: those of an environment
/// (`std::env::vars_os()`) that are for keys. A program that needs one is given it by name.
pub fn not_for_children(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> Vec<OsString> {
    variables
        .into_iter()
        .map(|(name, _)| name)
        .filter(|name| name.to_str().is_some_and(is_for_a_key))
        .collect()
}

/// Whether a variable of this name is for a key: one of Longrein's own, or a usual one.
pub fn is_for_a_key(variable: &str) -> bool {
    let own = variable.starts_with("LONGREIN_") && variable.ends_with("_API_KEY");
    own || USUAL.iter().any(|(_, usual)| usual.contains(&variable))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_providers_own_variable_is_its_name_in_capitals() {
        assert_eq!(own_variable("openai"), "LONGREIN_OPENAI_API_KEY");
        assert_eq!(own_variable("open-router"), "LONGREIN_OPEN_ROUTER_API_KEY");
        assert_eq!(own_variable("mcp.exa"), "LONGREIN_MCP_EXA_API_KEY");
    }

    #[test]
    fn providers_that_many_use_have_a_usual_variable() {
        assert_eq!(usual_variables("anthropic"), ["ANTHROPIC_API_KEY"]);
        assert_eq!(
            usual_variables("google"),
            ["GEMINI_API_KEY", "GOOGLE_API_KEY"]
        );
        assert!(usual_variables("local").is_empty());
        let names: Vec<&str> = USUAL.iter().map(|(name, _)| *name).collect();
        assert!(names.is_sorted());
    }

    #[test]
    fn the_secrets_of_an_environment_are_keys_and_what_was_named() {
        let variables = [
            ("PATH", "/usr/bin"),
            ("OPENAI_API_KEY", " sk-usual \n"),
            ("LONGREIN_LOCAL_API_KEY", "sk-own"),
            ("LONGREIN_HOME", "somewhere"),
            ("COUNTER_TOKEN", "named"),
            ("XAI_API_KEY", "  "),
        ]
        .map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let secrets = secrets_in(variables, &|name| name == "COUNTER_TOKEN");
        let texts: Vec<&str> = secrets.iter().map(SecretText::expose).collect();
        assert_eq!(texts, ["sk-usual", "sk-own", "named"]);
    }

    #[test]
    fn a_child_inherits_no_variable_that_is_for_a_key() {
        let variables = ["PATH", "OPENAI_API_KEY", "LONGREIN_LOCAL_API_KEY", "EDITOR"]
            .map(|name| (OsString::from(name), OsString::from("x")));
        assert_eq!(
            not_for_children(variables),
            ["OPENAI_API_KEY", "LONGREIN_LOCAL_API_KEY"]
        );
    }
}
