//! `[models."provider/model"]`: what a model's tokens cost, for budgets of money.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use longrein_core::agent_file::is_model_name;
use longrein_core::agent_file::reader::{Fields, Key, Reader, join};
use longrein_protocol::event::Price;

use super::ProviderConfig;
use super::read::RESERVED_PROVIDERS;

const MODEL: &[Key] = &[
    Key::new("input_usd", "input_usd = 0.5"),
    Key::new("cached_usd", "cached_usd = 0.05"),
    Key::new("output_usd", "output_usd = 1.5"),
];

/// What a million tokens may cost, in US dollars.
const USD: RangeInclusive<f64> = 0.0..=10_000.0;

/// Reads every price; a model without one has a price that is not known.
pub(super) fn read(
    reader: &mut Reader<'_>,
    root: Fields<'_>,
    providers: &BTreeMap<String, ProviderConfig>,
) -> BTreeMap<String, Price> {
    let mut prices = BTreeMap::new();
    let Some(value) = reader.value(root, "models") else {
        return prices;
    };
    let Some(fields) = reader.open_table(value, "models", &[]) else {
        return prices;
    };
    for (name, span, value) in fields.entries() {
        let path = join("models", name);
        let provider = name.split_once('/').map_or(name, |(provider, _)| provider);
        let reserved = RESERVED_PROVIDERS
            .iter()
            .find(|(known, _)| *known == provider);
        if !is_model_name(name) {
            let message = format!("“{name}” is not the name of a model.");
            let remedy = "Write it in quotes, as in [models.\"local/any\"].";
            reader.error(&span, &path, message, remedy);
            continue;
        }
        if let Some((_, meaning)) = reserved {
            let message = format!("“{provider}” stands for {meaning}, which costs nothing.");
            reader.error(&span, &path, message, "Take it out.");
            continue;
        }
        if !providers.contains_key(provider) && !reader.is_broken() {
            let message = format!("There is no provider “{provider}”, so this has no effect.");
            let remedy = format!("Add [providers.{provider}], or take this out.");
            reader.warning(&span, &path, message, remedy);
        }
        if let Some(fields) = reader.table(value, &path, MODEL)
            && let Some(price) = price(reader, fields, &span)
        {
            prices.insert(name.to_owned(), price);
        }
    }
    prices
}

fn price(reader: &mut Reader<'_>, fields: Fields<'_>, span: &Range<usize>) -> Option<Price> {
    for (key, example) in [
        ("input_usd", "input_usd = 0.5"),
        ("output_usd", "output_usd = 1.5"),
    ] {
        if reader.value(fields, key).is_none() && !reader.is_broken() {
            let message = format!("The model has no {key}.");
            let remedy = format!(
                "Write what a million tokens cost in US dollars, as in {example}; 0 where it costs nothing."
            );
            reader.error(span, &fields.path_of(key), message, remedy);
        }
    }
    let input = reader.number(fields, "input_usd", &USD);
    let cached = reader.number(fields, "cached_usd", &USD);
    let output = reader.number(fields, "output_usd", &USD);
    Some(Price {
        input: micro(input?),
        cached: cached.map(micro),
        output: micro(output?),
    })
}

/// Dollars in millionths; the range keeps them far below what a whole number holds.
fn micro(usd: f64) -> u64 {
    (usd * 1e6).round() as u64
}
