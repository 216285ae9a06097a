//! The catalogue of this data folder: the one that ships, or the price list that was taken last.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::PoisonError;

use longrein_models::catalogue::{
    Catalogue, Line, PRICE_LIST_BYTES_MAX, PRICE_LIST_URL, PriceList, fetch_price_list,
};
use serde::Serialize;

use super::Models;
use crate::error::{AppError, AppErrorCode, sentence};
use crate::{Longrein, given_file, own_file};

/// The name of the file in the data folder that holds a refreshed price list.
pub const PRICE_LIST_FILE: &str = "model-prices.json";

/// What a price list brought.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Refreshed {
    /// Where it came from.
    pub from: String,
    /// How many models it has.
    pub models: u32,
    /// Models that were not there before, as `provider/model`.
    pub added: Vec<String>,
    /// Models that are no longer there.
    pub removed: Vec<String>,
    /// Models whose window or price is another than before.
    pub changed: Vec<String>,
}

impl Models {
    /// The catalogue, read when it is first needed. A price list that can't be read is told and
    /// counts as missing: the one that ships is in its place.
    pub(super) fn catalogue(&self) -> Catalogue {
        let mut known = self
            .0
            .catalogue
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        known
            .get_or_insert_with(|| read_catalogue(&self.0.data_dir))
            .clone()
    }

    fn take_catalogue(&self, catalogue: Catalogue) {
        let mut known = self
            .0
            .catalogue
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *known = Some(catalogue);
    }
}

fn read_catalogue(data_dir: &Path) -> Catalogue {
    let path = data_dir.join(PRICE_LIST_FILE);
    let read = match fs::read(&path) {
        Ok(json) => PriceList::read(&json).map_err(|error| error.to_string()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Catalogue::default(),
        Err(error) => Err(error.to_string()),
    };
    match read {
        Ok(prices) => Catalogue::new(prices),
        Err(error) => {
            tracing::warn!(
                "{} is not used, the price list that ships is in its place; take a new one with: longrein models refresh: {error}",
                path.display()
            );
            Catalogue::default()
        }
    }
}

impl Longrein {
    /// Takes a newer price list: from a file or an address, else from where the people who keep it
    /// publish it. Nothing else ever does.
    ///
    /// # Errors
    /// When it can't be had or is none, or the disk refuses; the one that was there stays.
    pub async fn refresh_prices(&self, from: Option<&str>) -> Result<Refreshed, AppError> {
        let from = from.unwrap_or(PRICE_LIST_URL);
        let json = match from.starts_with("https://") || from.starts_with("http://") {
            true => fetch_price_list(from).await.map_err(|error| {
                AppError::new(
                    AppErrorCode::Refused,
                    format!("The price list can't be fetched from {from}. {}", error.message),
                    "Check the connection, or fetch it yourself and give it with --from FILE. The list that was there is still in use.",
                )
            })?,
            false => read_file(Path::new(from))?,
        };
        let models = self.inner.world.models().clone();
        let data_dir = self.data_dir().to_path_buf();
        let from = from.to_owned();
        let taking = tokio::task::spawn_blocking(move || take(&models, &data_dir, from, &json));
        taking
            .await
            .map_err(|error| AppError::new(AppErrorCode::Io, error.to_string(), ""))?
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>, AppError> {
    let kept = "The list that was there is still in use.";
    let unreadable = |error: io::Error| {
        let message = format!("{} can't be read: {error}.", path.display());
        AppError::usage(message, kept)
    };
    let mut json = Vec::new();
    let opened = given_file::open(path).map_err(unreadable)?;
    let mut bounded = opened.take(PRICE_LIST_BYTES_MAX as u64 + 1);
    bounded.read_to_end(&mut json).map_err(unreadable)?;
    if json.len() > PRICE_LIST_BYTES_MAX {
        return Err(AppError::usage(
            format!("{} is too large to be a price list.", path.display()),
            kept,
        ));
    }
    Ok(json)
}

/// Checks a list whole and puts it in the place of the old one.
fn take(
    models: &Models,
    data_dir: &Path,
    from: String,
    json: &[u8],
) -> Result<Refreshed, AppError> {
    let unfit = |why: String| {
        let remedy = "The list that was there is still in use.";
        AppError::new(AppErrorCode::Refused, sentence(&why), remedy)
    };
    let fresh = PriceList::read(json).map_err(|error| unfit(error.to_string()))?;
    let text = std::str::from_utf8(json).map_err(|error| unfit(error.to_string()))?;
    let (before, after) = (models.catalogue().prices().lines(), fresh.lines());
    own_file::replace(data_dir, PRICE_LIST_FILE, text)?;
    models.take_catalogue(Catalogue::new(fresh));
    Ok(difference(from, &before, &after))
}

fn difference(
    from: String,
    before: &BTreeMap<String, Line>,
    after: &BTreeMap<String, Line>,
) -> Refreshed {
    let missing = |of: &BTreeMap<String, Line>, there: &BTreeMap<String, Line>| {
        let names = of.keys().filter(|name| !there.contains_key(*name));
        names.cloned().collect::<Vec<String>>()
    };
    let changed = after
        .iter()
        .filter(|(name, line)| before.get(*name).is_some_and(|old| old != *line));
    Refreshed {
        from,
        models: u32::try_from(after.len()).unwrap_or(u32::MAX),
        added: missing(after, before),
        removed: missing(before, after),
        changed: changed.map(|(name, _)| name.clone()).collect(),
    }
}
