//! The secrets that this process has come to know.

use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use super::Masker;
use crate::SecretText;

/// What this process knows and must not let out. Every copy learns what one of them does.
#[derive(Clone, Default, Debug)]
pub struct Known(Arc<RwLock<Masker>>);

impl Known {
    /// Knows these secrets from the start.
    pub fn new(secrets: impl IntoIterator<Item = SecretText>) -> Self {
        Self(Arc::new(RwLock::new(Masker::new(secrets))))
    }

    /// What the whole process knows. A log, a panic and an error are written by code that no store
    /// is handed to, so there is one that all of them find.
    pub fn of_process() -> Self {
        static PROCESS: LazyLock<Known> = LazyLock::new(Known::default);
        PROCESS.clone()
    }

    /// Masks this secret from now on, as long as the process lives: a key that was replaced is
    /// still a secret.
    pub fn learn(&self, secret: &SecretText) {
        if self.masker().knows(secret) {
            return;
        }
        let mut masker = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // Another copy may have learnt it meanwhile.
        if !masker.knows(secret) {
            *masker = masker.and(secret);
        }
    }

    /// Masks these secrets from now on.
    pub fn learn_each(&self, secrets: impl IntoIterator<Item = SecretText>) {
        for secret in secrets {
            self.learn(&secret);
        }
    }

    /// The text without any secret that is known now.
    #[must_use]
    pub fn masked(&self, text: impl Into<String>) -> String {
        let mut text = text.into();
        self.masker().text(&mut text);
        text
    }

    /// What masks all that is known now.
    pub fn masker(&self) -> Masker {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}
