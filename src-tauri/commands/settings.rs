//! What belongs to this machine: providers and the theme.

use longrein_app::config::{self, Format, ProviderConfig};
use serde::{Deserialize, Serialize};
use specta::Type;
use tauri::{AppHandle, State};

use super::Answer;
use crate::desktop::Desktop;
use crate::window;

/// The settings as they stand.
#[derive(Clone, PartialEq, Debug, Serialize, Type)]
pub struct Settings {
    /// How the window looks.
    pub theme: Theme,
    /// The model providers, by name.
    pub providers: Vec<ProviderLine>,
    /// The data folder.
    pub data_dir: String,
    /// The version of Longrein.
    pub version: String,
}

/// How the window looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    /// As the system has it.
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// A model provider of this machine.
#[derive(Clone, PartialEq, Debug, Serialize, Type)]
pub struct ProviderLine {
    /// Its name, as in `name/model`.
    pub name: String,
    /// What it speaks.
    pub format: ProviderFormat,
    /// Where it is.
    pub base_url: String,
    /// Whether a key is there; the key itself is never shown.
    pub key: ProviderKey,
}

/// What a provider speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, Type)]
pub enum ProviderFormat {
    /// OpenAI's Chat Completions, and all that speak it.
    #[serde(rename = "openai-chat")]
    OpenAiChat,
    /// OpenAI's Responses.
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    /// Anthropic's Messages.
    #[serde(rename = "anthropic")]
    Anthropic,
    /// Google's Gemini.
    #[serde(rename = "gemini")]
    Gemini,
}

/// Where a provider's key comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum ProviderKey {
    /// There is none; many local servers need none.
    None,
    /// From a variable of the environment.
    Environment,
}

/// A provider to add or to change.
#[derive(Clone, Debug, Deserialize, Type)]
pub struct ProviderRequest {
    /// Its name: lower-case letters, digits and hyphens.
    pub name: String,
    /// Where it is.
    pub base_url: String,
    /// What it speaks.
    pub format: ProviderFormat,
}

/// The settings. A file that could not be read is read again, since the person may have mended
/// it.
#[tauri::command]
#[specta::specta]
pub async fn get_settings(desktop: State<'_, Desktop>) -> Answer<Settings> {
    let longrein = desktop.longrein();
    if longrein.config_problem().is_some() {
        let read = config::load(longrein.data_dir());
        longrein.take_config(read.map_err(|problems| config::as_error(&problems))?);
    }
    Ok(settings(&desktop))
}

/// Chooses how the window looks.
#[tauri::command]
#[specta::specta]
pub async fn set_theme(
    app: AppHandle,
    desktop: State<'_, Desktop>,
    theme: Theme,
) -> Answer<Settings> {
    let longrein = desktop.longrein();
    longrein.take_config(config::set_theme(longrein.data_dir(), theme.into())?);
    window::wear(&app, theme.into());
    Ok(settings(&desktop))
}

/// Adds a provider, or changes the address of the one of this name.
#[tauri::command]
#[specta::specta]
pub async fn save_provider(
    desktop: State<'_, Desktop>,
    provider: ProviderRequest,
) -> Answer<Settings> {
    let longrein = desktop.longrein();
    let ProviderRequest {
        name,
        base_url,
        format,
    } = provider;
    // What the form does not show stays as it is.
    let known = longrein.config().providers.get(&name).cloned();
    let (key, tool_mode) = known.map_or_else(Default::default, |known| (known.key, known.tool_mode));
    let changed = ProviderConfig {
        format: format.into(),
        base_url,
        key,
        tool_mode,
    };
    longrein.take_config(config::set_provider(longrein.data_dir(), &name, &changed)?);
    Ok(settings(&desktop))
}

/// Removes a provider.
#[tauri::command]
#[specta::specta]
pub async fn remove_provider(desktop: State<'_, Desktop>, name: String) -> Answer<Settings> {
    let longrein = desktop.longrein();
    longrein.take_config(config::remove_provider(longrein.data_dir(), &name)?);
    Ok(settings(&desktop))
}

/// Asks a provider for its models.
#[tauri::command]
#[specta::specta]
pub async fn test_provider(desktop: State<'_, Desktop>, name: String) -> Answer<Vec<String>> {
    Ok(desktop.longrein().provider_models(&name).await?)
}

fn settings(desktop: &Desktop) -> Settings {
    let longrein = desktop.longrein();
    let config = longrein.config();
    let providers = config
        .providers
        .iter()
        .map(|(name, provider)| ProviderLine {
            name: name.clone(),
            format: provider.format.into(),
            base_url: provider.base_url.clone(),
            key: match provider.resolve_key(name) {
                Ok(Some(_)) => ProviderKey::Environment,
                Ok(None) | Err(_) => ProviderKey::None,
            },
        });
    Settings {
        theme: config.ui.theme.into(),
        providers: providers.collect(),
        data_dir: longrein.data_dir().to_string_lossy().into_owned(),
        version: longrein_protocol::HARNESS_VERSION.to_owned(),
    }
}

impl From<Format> for ProviderFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::OpenAiChat => Self::OpenAiChat,
            Format::OpenAiResponses => Self::OpenAiResponses,
            Format::Anthropic => Self::Anthropic,
            Format::Gemini => Self::Gemini,
        }
    }
}

impl From<ProviderFormat> for Format {
    fn from(format: ProviderFormat) -> Self {
        match format {
            ProviderFormat::OpenAiChat => Self::OpenAiChat,
            ProviderFormat::OpenAiResponses => Self::OpenAiResponses,
            ProviderFormat::Anthropic => Self::Anthropic,
            ProviderFormat::Gemini => Self::Gemini,
        }
    }
}

impl From<config::Theme> for Theme {
    fn from(theme: config::Theme) -> Self {
        match theme {
            config::Theme::System => Self::System,
            config::Theme::Light => Self::Light,
            config::Theme::Dark => Self::Dark,
        }
    }
}

impl From<Theme> for config::Theme {
    fn from(theme: Theme) -> Self {
        match theme {
            Theme::System => Self::System,
            Theme::Light => Self::Light,
            Theme::Dark => Self::Dark,
        }
    }
}
