//! What is known of well-known models: window, limits, abilities, price. A small table that is
//! checked by hand, and beneath it a price list that many people keep; what neither has is asked of
//! the server, or unknown.

mod facts;
mod prices;

use std::sync::OnceLock;

use serde::Deserialize;

pub use facts::{Facts, Known, Source, Sourced, UsdPrice};
pub use prices::{
    BadPriceList, Line, PRICE_LIST_BYTES_MAX, PRICE_LIST_URL, PriceList, fetch_price_list,
};

/// The table. Each provider has the page that its rows were checked against, and when.
const TABLE: &str = include_str!("models.toml");

/// A provider with its models.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// The name before the slash: `anthropic`.
    pub name: String,
    /// The end of the host that it answers at.
    pub host: String,
    /// Where the rows were read.
    pub source: String,
    /// When, as a date.
    pub checked: String,
    /// Its models, newest first.
    pub models: Vec<Entry>,
}

/// A model.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The name to ask for.
    pub id: String,
    /// Other names of the same model.
    #[serde(default)]
    pub also: Vec<String>,
    /// How many tokens fit into a request and its answer.
    pub window_tokens: u32,
    /// How many tokens an answer may have.
    #[serde(default)]
    pub max_output_tokens: Option<u32>,
    /// Whether it calls tools.
    #[serde(default)]
    pub tools: bool,
    /// Whether it reads images.
    #[serde(default)]
    pub images: bool,
    /// Whether it can reason before it answers.
    #[serde(default)]
    pub thinking: bool,
    /// Dollars for a million input tokens; absent where it is not known.
    #[serde(default)]
    pub input_usd: Option<f64>,
    /// Dollars for a million input tokens from the cache.
    #[serde(default)]
    pub cached_usd: Option<f64>,
    /// Dollars for a million input tokens that are written to the cache, where that costs more
    /// than other input.
    #[serde(default)]
    pub cache_write_usd: Option<f64>,
    /// Dollars for a million output tokens.
    #[serde(default)]
    pub output_usd: Option<f64>,
    /// The length of a request in tokens from which on the provider charges more.
    #[serde(default)]
    pub dearer_above_tokens: Option<u32>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    providers: Vec<Provider>,
}

impl Entry {
    /// What the table says of it.
    pub fn facts(&self) -> Facts {
        let price = self.input_usd.zip(self.output_usd);
        Facts {
            window_tokens: Some(self.window_tokens),
            max_output_tokens: self.max_output_tokens,
            tools: Some(self.tools),
            images: Some(self.images),
            thinking: Some(self.thinking),
            price: price.map(|(input_usd, output_usd)| UsdPrice {
                input_usd,
                cached_usd: self.cached_usd,
                cache_write_usd: self.cache_write_usd,
                output_usd,
                dearer_above_tokens: self.dearer_above_tokens,
            }),
        }
    }

    fn is_called(&self, name: &str) -> bool {
        let is_it = |known: &str| {
            known == name
                // Providers add the date of a version to a name.
                || name
                    .strip_prefix(known)
                    .and_then(|rest| rest.strip_prefix('-'))
                    .is_some_and(is_date)
        };
        is_it(&self.id) || self.also.iter().any(|known| is_it(known))
    }
}

/// `20251001`, or `2026-03-05`.
fn is_date(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    digits == 8
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-')
}

/// What is known before anybody is asked: the table that ships, and beneath it a price list.
#[derive(Clone)]
pub struct Catalogue {
    prices: PriceList,
}

impl Default for Catalogue {
    fn default() -> Self {
        Self::new(PriceList::shipped())
    }
}

impl Catalogue {
    /// With this price list.
    pub fn new(prices: PriceList) -> Self {
        Self { prices }
    }

    /// Its price list.
    pub fn prices(&self) -> &PriceList {
        &self.prices
    }

    /// Adds what is known of the model that a server at this address is asked for.
    pub fn add_to(&self, known: &mut Known, base_url: &str, model: &str) {
        if let Some(entry) = find_at(base_url, model) {
            known.add(Source::Table, &entry.facts());
        }
        if let Some(facts) = self.prices.find(base_url, model) {
            known.add(Source::PriceList, &facts);
        }
    }

    /// The models of the provider at this address, those of the table first.
    pub fn models_at(&self, base_url: &str) -> Vec<String> {
        let table = provider_at(base_url).map_or(&[][..], |provider| &provider.models);
        let mut models: Vec<String> = table.iter().map(|entry| entry.id.clone()).collect();
        for model in self.prices.models_at(base_url) {
            if !table.iter().any(|entry| entry.is_called(&model)) {
                models.push(model);
            }
        }
        models
    }
}

/// Every provider in the table.
pub fn providers() -> &'static [Provider] {
    static READ: OnceLock<Table> = OnceLock::new();
    // The table is part of the program, and a test reads it.
    let table = READ.get_or_init(|| toml::from_str(TABLE).unwrap_or_default());
    &table.providers
}

/// The model with a name like `anthropic/claude-opus-5-5`.
pub fn find(name: &str) -> Option<&'static Entry> {
    let (provider, model) = name.split_once('/')?;
    let provider = providers().iter().find(|known| known.name == provider)?;
    in_provider(provider, model)
}

/// The model that a server at an address is asked for, whatever a person called the provider.
pub fn find_at(base_url: &str, model: &str) -> Option<&'static Entry> {
    in_provider(provider_at(base_url)?, model)
}

fn provider_at(base_url: &str) -> Option<&'static Provider> {
    let rest = base_url.split_once("://")?.1;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?.split(':').next()?;
    let is_host = |end: &str| {
        host.strip_suffix(end)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    providers().iter().find(|known| is_host(&known.host))
}

fn in_provider(provider: &'static Provider, model: &str) -> Option<&'static Entry> {
    let model = model.strip_prefix("models/").unwrap_or(model);
    provider.models.iter().find(|entry| entry.is_called(model))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_can_be_read_and_no_name_is_there_twice() {
        let table: Table = toml::from_str(TABLE).unwrap();
        assert_eq!(table.providers, providers());
        assert!(providers().len() >= 7);
        for provider in providers() {
            assert!(provider.source.starts_with("https://"), "{}", provider.name);
            assert!(is_date(&provider.checked), "{}", provider.name);
            let mut names: Vec<&str> = Vec::new();
            for entry in &provider.models {
                for name in std::iter::once(&entry.id).chain(&entry.also) {
                    assert!(!names.contains(&name.as_str()), "{name}");
                    names.push(name);
                }
                assert!(entry.window_tokens >= 32_000, "{}", entry.id);
                assert!(
                    entry
                        .max_output_tokens
                        .is_none_or(|output| output <= entry.window_tokens)
                );
                let price = entry.facts().price.map(|price| price.micro());
                assert!(
                    price.is_none_or(|price| price.input <= price.output),
                    "{}",
                    entry.id
                );
                assert!(price.is_none_or(|price| price.cached.unwrap_or(0) <= price.input));
            }
        }
    }

    #[test]
    fn a_model_is_found_by_its_name_its_other_names_and_with_a_date() {
        let opus = find("anthropic/claude-opus-5-5").unwrap();
        assert_eq!(opus.window_tokens, 1_000_000);
        assert_eq!(opus.input_usd, Some(4.0));
        // What is read anew is written to the cache, which costs a quarter more.
        let price = opus.facts().price.map(|price| price.micro());
        assert_eq!(price.map(|price| price.input), Some(5_000_000));
        let haiku = find("anthropic/claude-haiku-4-5").unwrap();
        assert_eq!(find("anthropic/claude-haiku-4-5-20251001"), Some(haiku));
        assert_eq!(find("anthropic/claude-haiku-4-5-fast"), None);
        assert_eq!(find("nobody/claude-haiku-4-5"), None);
        assert_eq!(find("claude-haiku-4-5"), None);
    }

    #[test]
    fn a_model_is_found_by_the_address_of_its_provider() {
        let found = |url, model| find_at(url, model).map(|entry| entry.id.as_str());
        let anthropic = "https://api.anthropic.com/v1";
        assert_eq!(found(anthropic, "claude-opus-5-5"), Some("claude-opus-5-5"));
        let openai = "https://me@eu.api.openai.com:443/v1?x=1";
        assert_eq!(found(openai, "gpt-5.6-sol"), Some("gpt-5.6-sol"));
        assert_eq!(found("http://127.0.0.1:8080/v1", "gpt-5.6-sol"), None);
    }
}
