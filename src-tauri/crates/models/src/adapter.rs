//! What every adapter does the same: sends the bytes, bounds every wait, reads the reply.

use async_trait::async_trait;
use longrein_core::dialect::Dialect;
use longrein_runtime::ports::{Model, ModelCall, ModelError, ModelReply};
use tokio::time::{Instant, timeout_at};

use crate::format::ModelConfig;
use crate::http::{Endpoint, Manners, Query};
use crate::patience::{Limits, silent};
use crate::reading::{Assembly, Source, body_pieces, read_capped};

/// The longest error body that is read, in bytes; its words are cut much shorter.
pub(crate) const ERROR_LIMIT: usize = 64 * 1024;

/// What is a format's own.
pub(crate) trait Wire: Send + Sync + 'static {
    /// What comes of a reply.
    type Assembly: Assembly;

    /// How requests are written.
    fn dialect(&self) -> &dyn Dialect;

    /// The path of a request beneath the base address.
    fn path(&self) -> Vec<&str>;

    /// What stands behind the question mark.
    fn query(&self) -> &'static Query {
        &[]
    }

    /// A reply that has not begun.
    fn assembly(&self) -> Self::Assembly;
}

/// One model of one provider. Nothing is opened before the first request.
pub(crate) struct Adapter<W> {
    endpoint: Endpoint,
    wire: W,
    limits: Limits,
}

impl<W: Wire> Adapter<W> {
    /// Keeps the configuration; mistakes in it are reported with the first request.
    pub fn new(
        config: &ModelConfig,
        manners: &'static Manners,
        wire: impl FnOnce(&Endpoint) -> W,
    ) -> Self {
        let endpoint = Endpoint::new(config, manners);
        let wire = wire(&endpoint);
        Self {
            endpoint,
            wire,
            limits: config.limits,
        }
    }

    async fn exchange(&self, call: &ModelCall) -> Result<ModelReply, ModelError> {
        let provider = &self.endpoint.provider;
        let body = call.body.to_vec();
        let request = self
            .endpoint
            .post(&self.wire.path(), self.wire.query(), body)?;
        let first_byte = Instant::now() + self.limits.first_byte;
        let response = match timeout_at(first_byte, request.send()).await {
            Ok(response) => response.map_err(|error| self.endpoint.explain(&error))?,
            Err(_) => return Err(provider.broken(&silent(self.limits.first_byte))),
        };
        let status = response.status();
        let headers = response.headers().clone();
        let pieces = body_pieces(response, &self.endpoint);
        if !status.is_success() {
            let body = timeout_at(first_byte, read_capped(pieces, ERROR_LIMIT)).await;
            // The status alone says enough when its words don't come.
            let body = body.ok().and_then(Result::ok).unwrap_or_default();
            return Err(provider.refused(status, &headers, &body));
        }
        let source = Source {
            provider,
            limits: self.limits,
            first_byte,
        };
        let assembly = self.wire.assembly();
        source
            .reply(assembly, pieces, &call.body, &*call.live)
            .await
    }
}

#[async_trait]
impl<W: Wire> Model for Adapter<W> {
    fn dialect(&self) -> &dyn Dialect {
        self.wire.dialect()
    }

    async fn send(&self, call: ModelCall) -> Result<ModelReply, ModelError> {
        tokio::select! {
            biased;
            () = call.cancel.cancelled() => Err(self.endpoint.provider.cancelled()),
            reply = self.exchange(&call) => reply,
        }
    }
}
