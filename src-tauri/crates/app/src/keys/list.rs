//! Which keys there are, where each comes from, and what overrides what. No key is among it.

use std::collections::{BTreeMap, BTreeSet};

use longrein_keys::environment::Lookup;
use longrein_keys::{
    Found, Key, KeyError, KeyErrorClass, KeyStore, Named, SecretName, Source, Standing, Wanted,
};
use serde::Serialize;

use super::place::KeyPlace;
use super::{Keys, PASSPHRASE_VARIABLE};
use crate::config::{Config, EnvValue, ProviderConfig};
use crate::mcp::{EnvMissing, GrantSource};

/// All keys of this machine, as they may be shown.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct KeyList {
    /// Where they are kept.
    pub place: KeyPlace,
    /// How many secrets are kept there; `None` when that can't be seen.
    pub kept: Option<u32>,
    /// First the providers of the configuration, then what servers are granted, then whatever else
    /// is kept; each in order.
    pub keys: Vec<KeyLine>,
}

/// One key.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct KeyLine {
    /// The provider's name, or the secret's where it belongs to none.
    pub name: String,
    /// Who uses it.
    pub used_by: KeyUse,
    /// The name that it is kept under; `None` when the configuration takes it from a variable
    /// alone.
    pub kept_as: Option<SecretName>,
    /// What is used: where it was found, and its last four characters. `None` when there is none.
    pub found: Option<Found>,
    /// What is kept too but not used, since a variable overrides it.
    pub overridden: Option<Found>,
    /// Why it is not there, where the configuration says that it should be, or can't be used.
    pub problem: Option<KeyProblem>,
    /// Whether one can be kept for it. Not while a variable overrides it: it would not be used.
    pub can_set: bool,
    /// Whether one is kept that can be removed.
    pub can_remove: bool,
    /// Whether there is one, and somebody to ask whether it is taken.
    pub can_test: bool,
}

/// Who uses a key.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum KeyUse {
    /// A provider of the configuration.
    Provider,
    /// These servers of the configuration.
    Servers(Vec<String>),
    /// Nothing that is configured.
    Nothing,
}

/// What is wrong, and what can be done.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct KeyProblem {
    /// What kind it is.
    pub class: KeyErrorClass,
    /// What happened, in a sentence.
    pub message: String,
    /// What the person can do, in a sentence; may be empty.
    pub remedy: String,
}

impl KeyProblem {
    pub(super) fn of(error: &KeyError) -> Self {
        let mut remedy = error.remedy();
        if error.class() == KeyErrorClass::NeedsPassphrase {
            remedy = format!(
                "{remedy} Without a person it comes from the file that {PASSPHRASE_VARIABLE} names."
            );
        }
        Self {
            class: error.class(),
            message: error.to_string(),
            remedy,
        }
    }
}

/// What is kept, as far as it can be read without asking anybody.
#[derive(Default)]
struct Kept {
    found: BTreeMap<SecretName, Found>,
    unreadable: BTreeMap<SecretName, KeyProblem>,
}

impl Keys {
    /// All keys. Nobody is asked to unlock anything: of a place that is locked, only what the
    /// environment overrides is shown.
    pub async fn list(&self) -> KeyList {
        let place = self.place().await;
        let is_seen = place.standing == Some(Standing::Ready);
        let kept = match is_seen {
            true => kept(&self.store()).await,
            false => Kept::default(),
        };
        let config = self.inner.config.get();
        let variable: Lookup<'_> = &*self.inner.variable;
        let mut keys: Vec<KeyLine> = config
            .providers
            .iter()
            .map(|(name, provider)| of_provider((name, provider), variable, &kept, &place))
            .collect();
        let shown: BTreeSet<SecretName> = keys
            .iter()
            .filter_map(|line| line.kept_as.clone())
            .collect();
        keys.extend(of_servers(&config, &shown, &kept, &place));
        let shown: BTreeSet<SecretName> = keys
            .iter()
            .filter_map(|line| line.kept_as.clone())
            .collect();
        let names = kept.found.keys().chain(kept.unreadable.keys());
        let others = names.filter(|name| !shown.contains(name));
        let others: Vec<KeyLine> = others
            .map(|name| of_secret(name, KeyUse::Nothing, &kept, &place))
            .collect();
        keys.extend(others);
        keys.iter_mut().for_each(KeyLine::settle);
        let count = kept.found.len() + kept.unreadable.len();
        KeyList {
            place,
            kept: is_seen.then(|| u32::try_from(count).unwrap_or(u32::MAX)),
            keys,
        }
    }
}

impl Keys {
    /// What the servers of a configuration are to be given and what is not there, by server. Of a
    /// place that is locked nothing is said to be missing.
    pub(crate) async fn missing_of_servers(
        &self,
        config: &Config,
    ) -> BTreeMap<String, BTreeSet<EnvMissing>> {
        let mut missing: BTreeMap<String, BTreeSet<EnvMissing>> = BTreeMap::new();
        let is_granted = config.mcp.values().any(|server| {
            let mut values = server.values();
            values.any(|value| !matches!(value, EnvValue::Plain(_)))
        });
        if !is_granted {
            return missing;
        }
        let kept = match self.place().await.standing {
            Some(Standing::Ready) => self.store().names().await.ok(),
            _ => None,
        };
        for (name, server) in &config.mcp {
            for value in server.values() {
                let (from, wanted) = match value {
                    EnvValue::Variable(variable) if (self.inner.variable)(variable).is_none() => {
                        (GrantSource::Variable, variable.clone())
                    }
                    EnvValue::Secret(secret)
                        if kept.as_ref().is_some_and(|kept| !kept.contains(secret)) =>
                    {
                        (GrantSource::Secret, secret.to_string())
                    }
                    _ => continue,
                };
                let gap = EnvMissing { from, name: wanted };
                missing.entry(name.clone()).or_default().insert(gap);
            }
        }
        missing
    }
}

impl KeyLine {
    fn new(name: String, used_by: KeyUse, kept_as: Option<SecretName>) -> Self {
        Self {
            name,
            used_by,
            kept_as,
            found: None,
            overridden: None,
            problem: None,
            can_set: false,
            can_remove: false,
            can_test: false,
        }
    }

    /// What can be done, from what was found.
    fn settle(&mut self) {
        let is_kept = |found: &Found| !matches!(found.source, Source::Environment(_));
        let from_variable = self.found.as_ref().is_some_and(|found| !is_kept(found));
        self.can_set = self.kept_as.is_some() && !from_variable;
        self.can_remove = self.overridden.is_some() || self.found.as_ref().is_some_and(is_kept);
        self.can_test = self.used_by == KeyUse::Provider && self.found.is_some();
    }
}

/// Every secret that is kept.
async fn kept(store: &KeyStore) -> Kept {
    let mut kept = Kept::default();
    for name in store.names().await.unwrap_or_default() {
        match store.get(&name).await {
            Ok(Some(secret)) => {
                let found = Found {
                    source: store.backend().into(),
                    last4: secret.last4(),
                };
                kept.found.insert(name, found);
            }
            Ok(None) => {}
            Err(error) => {
                kept.unreadable.insert(name, KeyProblem::of(&error));
            }
        }
    }
    kept
}

fn of_provider(
    (name, config): (&str, &ProviderConfig),
    variable: Lookup<'_>,
    kept: &Kept,
    place: &KeyPlace,
) -> KeyLine {
    let named = config.named_key();
    let kept_as = match &named {
        Named::Secret(secret) => Some(secret.clone()),
        Named::Variable(_) => None,
        Named::Nothing => SecretName::new(name).ok(),
    };
    let must_be = named != Named::Nothing;
    let wanted = Wanted {
        provider: name,
        named,
    };
    let stored = kept_as
        .as_ref()
        .and_then(|name| kept.found.get(name))
        .cloned();
    let mut line = KeyLine::new(name.to_owned(), KeyUse::Provider, kept_as);
    match wanted.in_environment(variable) {
        Ok(Some(Key { found, .. })) => {
            line.found = Some(found);
            line.overridden = stored;
        }
        Ok(None) => {
            line.found = stored;
            if line.found.is_none() {
                line.problem = missing(&line, must_be, kept, place);
            }
        }
        Err(error) => line.problem = Some(KeyProblem::of(&error)),
    }
    line
}

/// Why a key is not there: the place can't be read, the entry can't, or it was never set.
fn missing(line: &KeyLine, must_be: bool, kept: &Kept, place: &KeyPlace) -> Option<KeyProblem> {
    let name = line.kept_as.as_ref()?;
    if let Some(problem) = kept.unreadable.get(name) {
        return Some(problem.clone());
    }
    if !must_be {
        return None;
    }
    // What is wrong with the place is said there, once.
    (place.standing == Some(Standing::Ready)).then(|| match line.used_by {
        KeyUse::Provider => KeyProblem::of(&KeyError::SecretNotSet {
            provider: line.name.clone(),
            name: name.clone(),
        }),
        _ => KeyProblem {
            class: KeyErrorClass::Mistake,
            message: format!("No secret is named {name}."),
            remedy: format!("Set it here, or with: longrein keys set {name}"),
        },
    })
}

/// The secrets that servers are granted by name.
fn of_servers(
    config: &Config,
    shown: &BTreeSet<SecretName>,
    kept: &Kept,
    place: &KeyPlace,
) -> Vec<KeyLine> {
    let mut users: BTreeMap<&SecretName, Vec<String>> = BTreeMap::new();
    for (server, config) in &config.mcp {
        for value in config.values() {
            if let EnvValue::Secret(secret) = value {
                let users = users.entry(secret).or_default();
                // The servers come in order.
                if users.last() != Some(server) {
                    users.push(server.clone());
                }
            }
        }
    }
    users
        .into_iter()
        .filter(|(secret, _)| !shown.contains(secret))
        .map(|(secret, servers)| of_secret(secret, KeyUse::Servers(servers), kept, place))
        .collect()
}

fn of_secret(name: &SecretName, used_by: KeyUse, kept: &Kept, place: &KeyPlace) -> KeyLine {
    let must_be = matches!(used_by, KeyUse::Servers(_));
    let mut line = KeyLine::new(name.to_string(), used_by, Some(name.clone()));
    line.found = kept.found.get(name).cloned();
    if line.found.is_none() {
        line.problem = missing(&line, must_be, kept, place);
    }
    line
}
