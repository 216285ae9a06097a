//! The models of this machine: how each is reached, what is known of it and from where, and what
//! can be done to find out more.

mod catalogue;
mod cost;
mod listing;
mod places;
mod ready;
mod testing;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use longrein_keys::SecretText;
use longrein_models::catalogue::{Catalogue, Facts, Known};
use longrein_models::demo::Demo;
use longrein_models::{Format, Limits, ModelConfig, Pace, Paced, Secret, build};
use longrein_protocol::BlobHash;
use longrein_protocol::block::ModelErrorClass;
use longrein_protocol::event::Price;
use longrein_protocol::media::Takes;
use longrein_runtime::ports::{Model, ModelError};
use longrein_runtime::world::ModelFacts;

use crate::config::{Current, ProviderConfig, ToolMode};
use crate::error::{AppError, AppErrorCode};
use crate::keys::{KeyedModel, Keys};
use crate::world::DEMO_MODEL;

pub use longrein_models::catalogue::{Source, Sourced, UsdPrice};
pub use longrein_models::probe::{Answer, Finding};

pub use catalogue::{PRICE_LIST_FILE, Refreshed};
pub use cost::Cost;
pub use listing::{ModelLine, ProviderModels};
pub use places::{Found, Place};
pub use testing::Tested;

/// The provider of the demonstration model, which has no other.
const DEMO_PROVIDER: &str = longrein_models::demo::PROVIDER;

/// The models of one installation. Copies are one.
#[derive(Clone)]
pub(crate) struct Models(Arc<Inner>);

struct Inner {
    data_dir: PathBuf,
    config: Current,
    keys: Keys,
    /// How fast the demonstration model types; zero when nobody watches.
    demo_pace: Duration,
    /// One for each key at each address, shared by all runs and children of this process.
    paces: Mutex<HashMap<PaceKey, Pace>>,
    /// Read when it is first needed.
    catalogue: Mutex<Option<Catalogue>>,
    /// What servers said of their models, by `provider/model`.
    served: Mutex<HashMap<String, Facts>>,
}

/// Whose pace: the provider's address, and the key by its hash.
type PaceKey = (String, Option<BlobHash>);

/// A model by its name, with how it is reached.
#[derive(Clone)]
struct Reach {
    provider: String,
    model: String,
    config: ProviderConfig,
    tool_mode: ToolMode,
}

impl Reach {
    /// What an adapter is told, with a key or without one.
    fn with_key(&self, key: Option<&SecretText>) -> ModelConfig {
        ModelConfig {
            provider: self.provider.clone(),
            model: self.model.clone(),
            base_url: self.config.base_url.clone(),
            key: key.map(|key| Secret::new(key.expose())),
            limits: Limits::default(),
        }
    }
}

impl Models {
    pub(crate) fn new(data_dir: &Path, config: Current, keys: Keys, demo_pace: Duration) -> Self {
        Self(Arc::new(Inner {
            data_dir: data_dir.to_path_buf(),
            config,
            keys,
            demo_pace,
            paces: Mutex::default(),
            catalogue: Mutex::default(),
            served: Mutex::default(),
        }))
    }

    /// The model by its full name. Its key is looked for with each request, and it keeps the pace
    /// of that key.
    ///
    /// # Errors
    /// When there is no such provider, or it can't be spoken to in this way.
    pub(crate) fn model(&self, name: &str) -> Result<Arc<dyn Model>, ModelError> {
        if name == DEMO_MODEL {
            return Ok(Arc::new(Demo::new(self.0.demo_pace)));
        }
        let reach = self.reach(name)?;
        let (provider, config) = (reach.provider.clone(), reach.config.clone());
        let models = self.clone();
        let make = move |key: Option<&SecretText>| {
            let model = build(reach.config.format, reach.tool_mode, &reach.with_key(key))?;
            let paced = Paced::new(model, models.pace(&reach, key));
            Ok(Arc::new(paced) as Arc<dyn Model>)
        };
        let keys = self.0.keys.clone();
        let keyed = KeyedModel::new(keys, &provider, &config, Box::new(make))?;
        Ok(Arc::new(keyed))
    }

    /// The pace of a key: whoever sends with it shares it.
    fn pace(&self, reach: &Reach, key: Option<&SecretText>) -> Pace {
        let of_key = key.map(|key| BlobHash::of(key.expose().as_bytes()));
        let mut paces = self.0.paces.lock().unwrap_or_else(PoisonError::into_inner);
        paces
            .entry((reach.config.base_url.clone(), of_key))
            .or_insert_with(|| Pace::of(&reach.provider))
            .clone()
    }

    /// Takes a name apart and finds its provider.
    fn reach(&self, name: &str) -> Result<Reach, ModelError> {
        let named = name
            .split_once('/')
            .filter(|(provider, model)| !provider.is_empty() && !model.is_empty());
        let Some((provider, model)) = named else {
            return Err(unknown(
                format!("“{name}” is not the name of a model."),
                "Write it as provider/model, for example local/any.".to_owned(),
            ));
        };
        if provider == DEMO_PROVIDER {
            return Err(unknown(
                format!("There is no model {name}."),
                format!("The demonstration model is {DEMO_MODEL}."),
            ));
        }
        let config = self.provider(provider)?;
        let known = self.0.config.get();
        let own = known.models.get(name).and_then(|own| own.tool_mode);
        Ok(Reach {
            provider: provider.to_owned(),
            model: model.to_owned(),
            tool_mode: own.unwrap_or(config.tool_mode),
            config,
        })
    }

    fn provider(&self, name: &str) -> Result<ProviderConfig, ModelError> {
        if let Some(problem) = self.0.config.problem() {
            return Err(unknown(problem.message, problem.remedy));
        }
        let known = self.0.config.get();
        known.providers.get(name).cloned().ok_or_else(|| {
            let remedy = match longrein_models::well_known(name) {
                Some(_) => format!("Add it with: longrein models add {name}"),
                None => format!(
                    "Add [providers.{name}] with format and base_url to config.toml, or choose a model that is listed by: longrein models"
                ),
            };
            unknown(format!("There is no provider {name}."), remedy)
        })
    }

    /// What is known of a model: by the person, the catalogue, its server, in this order.
    pub(crate) fn known(&self, name: &str) -> Known {
        let mut known = Known::default();
        if let Some(own) = self.0.config.get().models.get(name) {
            known.add(Source::Person, &own.facts());
        }
        if let Ok(reach) = self.reach(name) {
            let catalogue = self.catalogue();
            catalogue.add_to(&mut known, &reach.config.base_url, &reach.model);
        }
        let served = self.0.served.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(facts) = served.get(name) {
            known.add(Source::Server, facts);
        }
        known
    }

    /// What a run is told of a model.
    pub(crate) fn facts(&self, name: &str) -> ModelFacts {
        if name == DEMO_MODEL {
            return ModelFacts {
                window_tokens: Some(longrein_models::demo::WINDOW_TOKENS),
                price: Some(Price::default()),
                // It reads texts.
                takes: Takes {
                    images: Some(false),
                    documents: Some(false),
                    audio: Some(false),
                },
                ..ModelFacts::default()
            };
        }
        let known = self.known(name);
        let takes = Takes {
            images: known.images.map(|images| images.value),
            ..Takes::default()
        };
        ModelFacts {
            window_tokens: known.window_tokens.map(|window| window.value),
            price: known.price.map(|price| price.value.micro()),
            takes,
            answers_by_schema: self.answers_by_schema(name),
        }
    }

    /// What a model's tokens cost; `None` where nobody said.
    pub(crate) fn price(&self, name: &str) -> Option<Price> {
        self.facts(name).price
    }

    /// Whether a model keeps to a schema for its answer: in schema mode it has to, and those of
    /// our own table are recent ones of providers that document it.
    fn answers_by_schema(&self, name: &str) -> Option<bool> {
        let reach = self.reach(name).ok()?;
        let in_table =
            longrein_models::catalogue::find_at(&reach.config.base_url, &reach.model).is_some();
        let documented = match reach.config.format {
            Format::OpenAiChat => reach.tool_mode == ToolMode::Schema,
            Format::OpenAiResponses | Format::Anthropic | Format::Gemini => in_table,
        };
        documented.then_some(true)
    }

    /// Keeps what a server said of a model.
    fn learn(&self, name: &str, facts: Facts) {
        let mut served = self.0.served.lock().unwrap_or_else(PoisonError::into_inner);
        served.insert(name.to_owned(), facts);
    }

    /// How a provider is asked outside of a run, with its key.
    async fn asked(&self, reach: &Reach) -> Result<ModelConfig, AppError> {
        let key = self.0.keys.of_provider(&reach.provider, &reach.config);
        let key = key.await?.map(|key| key.secret);
        Ok(reach.with_key(key.as_ref()))
    }
}

fn unknown(message: String, remedy: String) -> ModelError {
    ModelError {
        class: ModelErrorClass::UnknownModel,
        message,
        remedy,
        retry_after: None,
        unreachable: false,
        unsent: false,
    }
}

/// A provider's refusal, where no run is concerned.
pub(crate) fn refused(error: ModelError) -> AppError {
    AppError::new(AppErrorCode::Refused, error.message, error.remedy)
}

/// A name that means nothing here.
pub(crate) fn misnamed(error: ModelError) -> AppError {
    AppError::usage(error.message, error.remedy)
}

#[cfg(test)]
mod tests;
