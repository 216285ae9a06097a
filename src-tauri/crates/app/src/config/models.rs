//! `[models."provider/model"]`: what a person knows of a model, over what the catalogue and the
//! server say of it.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use longrein_core::agent_file::is_model_name;
use longrein_core::agent_file::reader::{Fields, Key, Reader, join};
use longrein_models::ToolMode;
use longrein_models::catalogue::{Facts, UsdPrice};

use super::ProviderConfig;
use super::provider::{RESERVED, TOOL_MODES, check_tool_mode};

pub(super) const MODEL: &[Key] = &[
    Key::new("window_tokens", "window_tokens = 32768"),
    Key::new("max_output_tokens", "max_output_tokens = 8192"),
    Key::new("tools", "tools = true"),
    Key::new("images", "images = false"),
    Key::new("thinking", "thinking = false"),
    Key::new("tool_mode", "tool_mode = \"schema\""),
    Key::new("input_usd", "input_usd = 0.5"),
    Key::new("cached_usd", "cached_usd = 0.05"),
    Key::new("cache_write_usd", "cache_write_usd = 0.6"),
    Key::new("output_usd", "output_usd = 1.5"),
];

/// What a million tokens may cost, in US dollars.
const USD: RangeInclusive<f64> = 0.0..=10_000.0;

/// How many tokens a window or an answer may have.
const TOKENS: RangeInclusive<u32> = 16..=100_000_000;

/// What a person says of a model; what is absent is as the catalogue or the server has it.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct OwnModel {
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
    /// How it is brought to ask for actions; absent: as its provider.
    pub tool_mode: Option<ToolMode>,
    /// What its tokens cost.
    pub price: Option<UsdPrice>,
}

impl OwnModel {
    /// What the person says of it.
    pub fn facts(&self) -> Facts {
        Facts {
            window_tokens: self.window_tokens,
            max_output_tokens: self.max_output_tokens,
            tools: self.tools,
            images: self.images,
            thinking: self.thinking,
            price: self.price,
        }
    }
}

/// Reads what is said of every model.
pub(super) fn read(
    reader: &mut Reader<'_>,
    root: Fields<'_>,
    providers: &BTreeMap<String, ProviderConfig>,
) -> BTreeMap<String, OwnModel> {
    let mut models = BTreeMap::new();
    let Some(value) = reader.value(root, "models") else {
        return models;
    };
    let Some(fields) = reader.open_table(value, "models", &[]) else {
        return models;
    };
    for (name, span, value) in fields.entries() {
        let path = join("models", name);
        let provider = name.split_once('/').map_or(name, |(provider, _)| provider);
        let reserved = RESERVED.iter().find(|(known, _)| *known == provider);
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
        if let Some(fields) = reader.table(value, &path, MODEL) {
            let model = model(reader, fields, &span, providers.get(provider));
            models.insert(name.to_owned(), model);
        }
    }
    models
}

fn model(
    reader: &mut Reader<'_>,
    fields: Fields<'_>,
    span: &Range<usize>,
    provider: Option<&ProviderConfig>,
) -> OwnModel {
    let tool_mode = reader.choice(fields, "tool_mode", TOOL_MODES, &[]);
    if let Some(provider) = provider {
        check_tool_mode(reader, fields, tool_mode, provider.format);
    }
    OwnModel {
        window_tokens: reader.whole(fields, "window_tokens", &TOKENS),
        max_output_tokens: reader.whole(fields, "max_output_tokens", &TOKENS),
        tools: reader.flag(fields, "tools"),
        images: reader.flag(fields, "images"),
        thinking: reader.flag(fields, "thinking"),
        tool_mode,
        price: price(reader, fields, span),
    }
}

/// A price needs both of its halves: with one alone a limit of money would not hold.
fn price(reader: &mut Reader<'_>, fields: Fields<'_>, span: &Range<usize>) -> Option<UsdPrice> {
    const PARTS: [&str; 4] = ["input_usd", "cached_usd", "cache_write_usd", "output_usd"];
    if PARTS.iter().all(|key| reader.value(fields, key).is_none()) {
        return None;
    }
    for (key, example) in [
        ("input_usd", "input_usd = 0.5"),
        ("output_usd", "output_usd = 1.5"),
    ] {
        if reader.value(fields, key).is_none() && !reader.is_broken() {
            let message = format!("The price of the model has no {key}.");
            let remedy = format!(
                "Write what a million tokens cost in US dollars, as in {example}; 0 where it costs nothing."
            );
            reader.error(span, &fields.path_of(key), message, remedy);
        }
    }
    let [input, cached_usd, cache_write_usd, output] =
        PARTS.map(|key| reader.number(fields, key, &USD));
    Some(UsdPrice {
        input_usd: input?,
        cached_usd,
        cache_write_usd,
        output_usd: output?,
        dearer_above_tokens: None,
    })
}
