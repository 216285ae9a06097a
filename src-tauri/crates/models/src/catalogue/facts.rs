//! What is known of one model, and where each piece of it is known from.

use longrein_protocol::event::Price;
use serde::Serialize;

/// What one source says of a model; what it does not say is absent.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Facts {
    /// How many tokens fit into a request and its answer.
    pub window_tokens: Option<u32>,
    /// How many tokens an answer may have.
    pub max_output_tokens: Option<u32>,
    /// Whether it calls tools.
    pub tools: Option<bool>,
    /// Whether it reads images.
    pub images: Option<bool>,
    /// Whether it can reason before it answers.
    pub thinking: Option<bool>,
    /// What its tokens cost.
    pub price: Option<UsdPrice>,
}

/// What a million tokens cost, in US dollars.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct UsdPrice {
    /// Input.
    pub input_usd: f64,
    /// Input from the provider's cache; absent: as other input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_usd: Option<f64>,
    /// Input that is written to the cache, where that costs more than other input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_usd: Option<f64>,
    /// Output.
    pub output_usd: f64,
    /// The length of a request in tokens from which on the provider charges more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dearer_above_tokens: Option<u32>,
}

impl UsdPrice {
    /// In millionths of a dollar. Input that is not from the cache counts as written to it, since
    /// nearly all of a request is.
    pub fn micro(&self) -> Price {
        let micro = |usd: f64| (usd * 1e6).round() as u64;
        Price {
            input: micro(self.cache_write_usd.unwrap_or(self.input_usd)),
            cached: self.cached_usd.map(micro),
            output: micro(self.output_usd),
        }
    }
}

/// Where something is known from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The person wrote it into `config.toml`.
    Person,
    /// The table that ships, which is checked by hand.
    Table,
    /// The price list of the package `genai-prices`, as it ships or was refreshed.
    PriceList,
    /// The server says so.
    Server,
}

impl Source {
    /// In a few words, for a person.
    pub fn words(self) -> &'static str {
        match self {
            Self::Person => "config.toml",
            Self::Table => "own table",
            Self::PriceList => "price list",
            Self::Server => "server",
        }
    }
}

/// Something with where it is known from.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Sourced<T> {
    /// What it is.
    pub value: T,
    /// Who says so.
    pub source: Source,
}

/// What is known of a model, from all sources together.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Known {
    /// How many tokens fit into a request and its answer.
    pub window_tokens: Option<Sourced<u32>>,
    /// How many tokens an answer may have.
    pub max_output_tokens: Option<Sourced<u32>>,
    /// Whether it calls tools.
    pub tools: Option<Sourced<bool>>,
    /// Whether it reads images.
    pub images: Option<Sourced<bool>>,
    /// Whether it can reason before it answers.
    pub thinking: Option<Sourced<bool>>,
    /// What its tokens cost.
    pub price: Option<Sourced<UsdPrice>>,
}

impl Known {
    /// Takes what this source says of what is not known yet: the first source that is added wins.
    pub fn add(&mut self, source: Source, facts: &Facts) {
        fn fill<T>(known: &mut Option<Sourced<T>>, source: Source, said: Option<T>) {
            if known.is_none() {
                *known = said.map(|value| Sourced { value, source });
            }
        }
        fill(&mut self.window_tokens, source, facts.window_tokens);
        fill(&mut self.max_output_tokens, source, facts.max_output_tokens);
        fill(&mut self.tools, source, facts.tools);
        fill(&mut self.images, source, facts.images);
        fill(&mut self.thinking, source, facts.thinking);
        fill(&mut self.price, source, facts.price);
    }
}
