//! The models of a provider: its own list, joined with what is known of each.

use std::collections::BTreeMap;
use std::time::Duration;

use longrein_models::catalogue::{Facts, Known};
use longrein_models::{Listed, list};
use serde::Serialize;

use super::{Models, Reach, misnamed, refused};
use crate::Longrein;
use crate::config::ToolMode;
use crate::error::{AppError, AppErrorCode};

/// How long a provider has to list its models.
const LIST_LIMIT: Duration = Duration::from_secs(10);

/// One model of a provider.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ModelLine {
    /// The full name: `provider/model`.
    pub model: String,
    /// Its provider.
    pub provider: String,
    /// Whether the provider lists it.
    pub listed: bool,
    /// How it is brought to ask for actions: `native`, `schema`.
    pub tool_mode: &'static str,
    /// What is known of it, and from where.
    #[serde(flatten)]
    pub known: Known,
}

/// The models of a provider.
#[derive(Debug)]
pub struct ProviderModels {
    /// Its name.
    pub provider: String,
    /// Its models, in its own order, then those that only the configuration names.
    pub models: Vec<ModelLine>,
    /// Why it did not answer; its models are then those of the catalogue and the configuration.
    pub offline: Option<AppError>,
}

impl Models {
    /// Asks a provider for its list.
    async fn listed(&self, reach: &Reach) -> Result<Vec<Listed>, AppError> {
        let config = self.asked(reach).await?;
        let asking = list(reach.config.format, &config);
        match tokio::time::timeout(LIST_LIMIT, asking).await {
            Ok(answer) => answer.map_err(refused),
            Err(_) => Err(AppError::new(
                AppErrorCode::Refused,
                format!(
                    "Provider {} gave no answer within {} s.",
                    reach.provider,
                    LIST_LIMIT.as_secs()
                ),
                "Start it, or correct its base_url.",
            )),
        }
    }

    fn at_provider(&self, name: &str) -> Result<Reach, AppError> {
        let config = self.provider(name).map_err(misnamed)?;
        Ok(Reach {
            provider: name.to_owned(),
            model: String::new(),
            tool_mode: config.tool_mode,
            config,
        })
    }

    fn line(&self, reach: &Reach, model: &str, listed: bool) -> ModelLine {
        let name = format!("{}/{model}", reach.provider);
        let config = self.0.config.get();
        let own = config.models.get(&name).and_then(|own| own.tool_mode);
        ModelLine {
            provider: reach.provider.clone(),
            listed,
            tool_mode: own.unwrap_or(reach.tool_mode).name(),
            known: self.known(&name),
            model: name,
        }
    }

    /// The names of the configuration that are this provider's and that its list lacks.
    fn own_names(&self, provider: &str, listed: &[String]) -> Vec<String> {
        let config = self.0.config.get();
        let names = config.models.keys().filter_map(|name| {
            let (of, model) = name.split_once('/')?;
            (of == provider && !listed.iter().any(|known| known == model)).then(|| model.to_owned())
        });
        names.collect()
    }
}

impl Longrein {
    /// The models of a provider, with what is known of each. A provider that does not answer is no
    /// failure: the catalogue's models are there, and why it did not answer.
    ///
    /// # Errors
    /// When there is no such provider, or the configuration can't be read.
    pub async fn models_of(&self, provider: &str) -> Result<ProviderModels, AppError> {
        let models = self.inner.world.models().clone();
        let reach = models.at_provider(provider)?;
        let (mut names, offline) = match models.listed(&reach).await {
            Ok(listed) => {
                let served: BTreeMap<String, Facts> = listed
                    .iter()
                    .map(|model| (model.id.clone(), facts_of(model)))
                    .collect();
                for (model, facts) in served {
                    models.learn(&format!("{provider}/{model}"), facts);
                }
                (listed.into_iter().map(|model| model.id).collect(), None)
            }
            Err(error) => {
                let known = models.catalogue().models_at(&reach.config.base_url);
                (known, Some(error))
            }
        };
        let listed = names.len();
        names.extend(models.own_names(provider, &names));
        // Looking hundreds of names up takes a while.
        let is_listed = offline.is_none();
        let lines = tokio::task::spawn_blocking(move || {
            let lines = names.iter().enumerate();
            lines
                .map(|(at, name)| models.line(&reach, name, is_listed && at < listed))
                .collect()
        });
        let lines = lines
            .await
            .map_err(|error| AppError::new(AppErrorCode::Io, error.to_string(), ""))?;
        Ok(ProviderModels {
            provider: provider.to_owned(),
            models: lines,
            offline,
        })
    }

    /// The names of the models that a provider lists.
    ///
    /// # Errors
    /// When the provider is unknown, has no key where it needs one, or does not answer.
    pub async fn provider_models(&self, name: &str) -> Result<Vec<String>, AppError> {
        let models = self.inner.world.models();
        let reach = models.at_provider(name)?;
        let listed = models.listed(&reach).await?;
        Ok(listed.into_iter().map(|model| model.id).collect())
    }

    /// What is known of a model, and from where.
    pub fn known_of(&self, model: &str) -> Known {
        self.inner.world.models().known(model)
    }

    /// How a model is brought to ask for actions.
    ///
    /// # Errors
    /// When there is no such provider.
    pub fn tool_mode_of(&self, model: &str) -> Result<ToolMode, AppError> {
        let reach = self.inner.world.models().reach(model);
        Ok(reach.map_err(misnamed)?.tool_mode)
    }
}

/// What a list says of a model.
pub(super) fn facts_of(listed: &Listed) -> Facts {
    Facts {
        window_tokens: listed.window_tokens,
        max_output_tokens: listed.max_output_tokens,
        ..Facts::default()
    }
}
