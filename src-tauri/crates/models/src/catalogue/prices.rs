//! The price list of the package `genai-prices`: windows and prices of several hundred models,
//! kept up to date by many people. One comes with the program, a newer one may be read from a file.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use genai_prices::{Calculator, PriceRequest, Usage, UsageKey};

use longrein_runtime::ports::ModelError;

use super::{Facts, UsdPrice};
use crate::format::ModelConfig;
use crate::http::Endpoint;
use crate::patience::Limits;
use crate::{listing, openai_chat};

/// Where the people who keep the list publish it.
pub const PRICE_LIST_URL: &str = genai_prices::REMOTE_DATA_URL;

/// The longest list that is read, in bytes: many times the present one.
pub const PRICE_LIST_BYTES_MAX: usize = listing::LIST_LIMIT;

/// The least number of models with a price in a list that is taken: fewer are a part of one.
const PRICED_MODELS_MIN: usize = 100;

/// How many tokens are priced to find out what one costs: fewer than any step of a price.
const PROBE_TOKENS: u32 = 1_000;

/// Prices may differ by the hour of the day.
const HOURS: u64 = 24;

/// Fetches what stands at an address, which is a price list if all is well.
///
/// # Errors
/// When nobody answers, or the answer is a refusal or too long.
pub async fn fetch_price_list(address: &str) -> Result<Vec<u8>, ModelError> {
    let config = ModelConfig {
        provider: "price-list".to_owned(),
        model: String::new(),
        base_url: address.to_owned(),
        key: None,
        limits: Limits::default(),
    };
    let endpoint = Endpoint::new(&config, &openai_chat::MANNERS);
    listing::fetch(&endpoint, &[], &[], &config).await
}

/// A text that is no price list.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadPriceList {
    /// It is none, or one of a later kind.
    #[error("This is no price list of genai-prices that can be read: {0}.")]
    Unreadable(String),
    /// It is one with hardly anything in it.
    #[error("The price list has only {0} models with a price, which can't be all of it.")]
    Small(usize),
}

/// A price list. Copies are one.
#[derive(Clone)]
pub struct PriceList(List);

#[derive(Clone)]
enum List {
    Shipped,
    Read(Arc<Calculator>),
}

/// What a list says of one model, to be compared with what another says of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Line {
    /// How many tokens fit.
    pub window_tokens: Option<u32>,
    /// What they cost now.
    pub price: Option<UsdPrice>,
}

impl PriceList {
    /// The one that comes with the program.
    pub fn shipped() -> Self {
        Self(List::Shipped)
    }

    /// Reads a list and checks all of it.
    ///
    /// # Errors
    /// When the text is none, or has hardly anything in it.
    pub fn read(json: &[u8]) -> Result<Self, BadPriceList> {
        let read = Calculator::from_json(json);
        let read = read.map_err(|error| BadPriceList::Unreadable(error.to_string()))?;
        let list = Self(List::Read(Arc::new(read)));
        let priced = list
            .lines()
            .into_values()
            .filter(|line| line.price.is_some())
            .count();
        match priced {
            PRICED_MODELS_MIN.. => Ok(list),
            few => Err(BadPriceList::Small(few)),
        }
    }

    fn calculator(&self) -> &Calculator {
        match &self.0 {
            List::Shipped => Calculator::bundled(),
            List::Read(read) => read,
        }
    }

    /// What the list says of a model of the provider at this address.
    pub fn find(&self, base_url: &str, model: &str) -> Option<Facts> {
        let by = By::Address(base_url);
        let priced = self.cost(by, model, &input(PROBE_TOKENS), None)?;
        let provider = self
            .calculator()
            .find_provider(Some(&priced.provider), None);
        let models = provider.ok()??.models();
        let info = models.into_iter().find(|info| info.id() == priced.model)?;
        let window_tokens = info
            .context_window()
            .and_then(|tokens| u32::try_from(tokens).ok());
        let price = self.dearest(by, model).map(|price| UsdPrice {
            dearer_above_tokens: self.step(by, model, price.input_usd, window_tokens),
            ..price
        });
        Some(Facts {
            window_tokens,
            price,
            ..Facts::default()
        })
    }

    /// The models of the provider at this address that answer in words, in the list's order.
    pub fn models_at(&self, base_url: &str) -> Vec<String> {
        let provider = self.calculator().find_provider(None, Some(base_url));
        let Ok(Some(provider)) = provider else {
            return Vec::new();
        };
        let by = By::Name(provider.id());
        let ids = provider.models().map(|model| model.id().to_owned());
        ids.filter(|id| self.price_at(by, id, None).is_some())
            .collect()
    }

    /// Every model as `provider/model` with what the list says of it now.
    pub fn lines(&self) -> BTreeMap<String, Line> {
        let mut lines = BTreeMap::new();
        for provider in self.calculator().providers() {
            for model in provider.models() {
                let window = model.context_window();
                let line = Line {
                    window_tokens: window.and_then(|tokens| u32::try_from(tokens).ok()),
                    price: self.price_at(By::Name(provider.id()), model.id(), None),
                };
                lines.insert(format!("{}/{}", provider.id(), model.id()), line);
            }
        }
        lines
    }

    /// The price of the dearest hour, so that a limit of money holds at any.
    fn dearest(&self, by: By<'_>, model: &str) -> Option<UsdPrice> {
        let now = SystemTime::now();
        let hours = (0..HOURS).map(|hour| now + Duration::from_secs(hour * 3_600));
        let prices = hours.filter_map(|at| self.price_at(by, model, Some(at)));
        prices.max_by(|one, other| one.input_usd.total_cmp(&other.input_usd))
    }

    /// What a million tokens of each kind cost. `None` for what is not priced by tokens, in which
    /// the list then sees nothing to pay.
    fn price_at(&self, by: By<'_>, model: &str, at: Option<SystemTime>) -> Option<UsdPrice> {
        let rate = |usage: &Usage| Some(self.cost(by, model, usage, at)?.usd_per_million);
        let (input_usd, output_usd) = (rate(&input(PROBE_TOKENS))?, rate(&output())?);
        let is_free = model.ends_with(":free") || model.ends_with("/free");
        if !is_free && (input_usd <= 0.0 || output_usd <= 0.0) {
            return None;
        }
        let differs = |usd: &f64| (usd - input_usd).abs() > f64::EPSILON;
        Some(UsdPrice {
            input_usd,
            cached_usd: rate(&of_input(UsageKey::CACHE_READ_TOKENS)).filter(differs),
            cache_write_usd: rate(&of_input(UsageKey::CACHE_WRITE_TOKENS))
                .filter(|usd| differs(usd) && *usd > input_usd),
            output_usd,
            dearer_above_tokens: None,
        })
    }

    /// The length of a request from which on its input costs more, found by halving.
    fn step(&self, by: By<'_>, model: &str, usd: f64, window: Option<u32>) -> Option<u32> {
        let dearer = |tokens: u32| {
            let cost = self.cost(by, model, &input(tokens), None);
            cost.is_some_and(|cost| cost.usd_per_million > usd * 1.001)
        };
        let (mut below, mut above) = (PROBE_TOKENS, window?);
        if above <= below || !dearer(above) {
            return None;
        }
        // Each round halves the distance, which has at most 32 bits.
        while above - below > 1 {
            let middle = below + (above - below) / 2;
            match dearer(middle) {
                true => above = middle,
                false => below = middle,
            }
        }
        Some(below)
    }

    fn cost(&self, by: By<'_>, model: &str, usage: &Usage, at: Option<SystemTime>) -> Option<Cost> {
        let mut request = PriceRequest::new(model, usage);
        request = match by {
            By::Address(url) => request.with_provider_api_url(url),
            By::Name(id) => request.with_provider_id(id),
        };
        if let Some(at) = at {
            request = request.with_timestamp(at);
        }
        // Neither an unknown provider nor an unknown model is a failure here.
        let priced = self.calculator().calculate(&request).ok()?;
        let tokens = [UsageKey::INPUT_TOKENS, UsageKey::OUTPUT_TOKENS];
        let tokens: f64 = tokens.iter().filter_map(|key| usage.get(key)).sum();
        // What comes of floating point is cut off: a rate has few digits.
        let usd_per_million = (priced.total_price / tokens * 1e6 * 1e6).round() / 1e6;
        Some(Cost {
            usd_per_million,
            provider: priced.provider_id,
            model: priced.model_id,
        })
    }
}

/// How a provider is found.
#[derive(Clone, Copy)]
enum By<'a> {
    Address(&'a str),
    Name(&'a str),
}

/// What some tokens cost, and whose.
struct Cost {
    usd_per_million: f64,
    provider: String,
    model: String,
}

fn input(tokens: u32) -> Usage {
    Usage::from([(UsageKey::INPUT_TOKENS, f64::from(tokens))])
}

fn output() -> Usage {
    Usage::from([(UsageKey::OUTPUT_TOKENS, f64::from(PROBE_TOKENS))])
}

fn of_input(kind: UsageKey) -> Usage {
    let tokens = f64::from(PROBE_TOKENS);
    Usage::from([(UsageKey::INPUT_TOKENS, tokens), (kind, tokens)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_list_knows_windows_and_prices_by_address() {
        let list = PriceList::shipped();
        let facts = list.find("https://api.openai.com/v1", "gpt-5.4").unwrap();
        let price = facts.price.unwrap();
        assert_eq!((price.input_usd, price.output_usd), (2.5, 15.0));
        assert_eq!(price.cached_usd, Some(0.25));
        assert_eq!(price.dearer_above_tokens, Some(272_000));
        assert!(facts.window_tokens.unwrap() > 272_000);
        assert_eq!(list.find("http://127.0.0.1:8080/v1", "gpt-5.4"), None);
        assert_eq!(list.find("https://api.openai.com/v1", "nobody-knows"), None);
    }

    #[test]
    fn what_is_written_to_the_cache_costs_more_where_the_list_says_so() {
        let list = PriceList::shipped();
        let url = "https://api.anthropic.com/v1";
        let price = list.find(url, "claude-sonnet-5").unwrap().price.unwrap();
        assert_eq!((price.input_usd, price.cache_write_usd), (2.0, Some(2.5)));
        assert_eq!(price.micro().input, 2_500_000);
    }

    #[test]
    fn the_dearest_hour_counts() {
        let list = PriceList::shipped();
        let found = list.find("https://api.deepseek.com", "deepseek-flash");
        assert_eq!(found.unwrap().price.unwrap().input_usd, 0.3);
    }

    #[test]
    fn what_is_not_priced_by_tokens_has_no_price() {
        let models = PriceList::shipped().models_at("https://api.openai.com/v1");
        assert!(models.iter().any(|model| model == "gpt-5.4"));
        assert!(models.iter().all(|model| !model.contains("embedding")));
    }

    #[test]
    fn a_text_that_is_no_list_or_a_part_of_one_is_refused() {
        let refused = |json: &str| PriceList::read(json.as_bytes()).err().unwrap();
        assert!(matches!(refused("<html>"), BadPriceList::Unreadable(_)));
        assert!(matches!(refused("{}"), BadPriceList::Unreadable(_)));
        assert_eq!(refused("[]"), BadPriceList::Small(0));
    }
}
