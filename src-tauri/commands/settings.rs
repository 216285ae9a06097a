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
    /// What a provider may speak, in the order in which it is offered.
    pub formats: Vec<FormatLine>,
    /// The providers that are known by name, in order.
    pub known: Vec<KnownProvider>,
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
}

/// A format that a provider may speak.
#[derive(Clone, PartialEq, Debug, Serialize, Type)]
pub struct FormatLine {
    /// The format.
    pub format: ProviderFormat,
    /// Its name for people.
    pub words: String,
    /// Who speaks it, in a sentence.
    pub note: String,
    /// Where a provider of any name is that speaks it, if there is a usual place.
    pub base_url: Option<String>,
}

/// A provider whose name says where it is and what it speaks.
#[derive(Clone, PartialEq, Debug, Serialize, Type)]
pub struct KnownProvider {
    /// Its name.
    pub name: String,
    /// What it speaks, the usual format first.
    pub formats: Vec<ProviderFormat>,
    /// Where it is.
    pub base_url: String,
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
    let (key, tool_mode) =
        known.map_or_else(Default::default, |known| (known.key, known.tool_mode));
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
        });
    Settings {
        theme: config.ui.theme.into(),
        providers: providers.collect(),
        formats: Format::ALL.into_iter().map(FormatLine::from).collect(),
        known: config::WELL_KNOWN.iter().map(KnownProvider::from).collect(),
        data_dir: longrein.data_dir().to_string_lossy().into_owned(),
        version: longrein_protocol::HARNESS_VERSION.to_owned(),
    }
}

impl From<Format> for FormatLine {
    fn from(format: Format) -> Self {
        let (words, note) = match format {
            Format::OpenAiChat => (
                "OpenAI Chat Completions",
                "Most servers speak it: llama.cpp, LM Studio, Ollama, vLLM, OpenRouter and many others.",
            ),
            Format::OpenAiResponses => (
                "OpenAI Responses",
                "OpenAI and a few others speak it; with it the model's reasoning is carried from step to step.",
            ),
            Format::Anthropic => (
                "Anthropic Messages",
                "Anthropic speaks it, and gateways to it.",
            ),
            Format::Gemini => ("Google Gemini", "Google speaks it, and gateways to it."),
        };
        Self {
            format: format.into(),
            words: words.to_owned(),
            note: note.to_owned(),
            base_url: config::usual_base_url("", format).map(str::to_owned),
        }
    }
}

impl From<&config::WellKnown> for KnownProvider {
    fn from(known: &config::WellKnown) -> Self {
        Self {
            name: known.name.to_owned(),
            formats: known.formats.iter().copied().map(Into::into).collect(),
            base_url: known.base_url.to_owned(),
        }
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
