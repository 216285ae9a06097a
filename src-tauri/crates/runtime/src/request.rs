//! Putting a request together, recording it, and taking its end.

use std::collections::HashMap;

use longrein_core::compile::{self, Compiled, Known};
use longrein_core::run::{Request, Run, fragment_weight};
use longrein_protocol::event::{HandoffReason, ModelRequested, ModelSwitched};
use longrein_protocol::{BlobHash, Body, Media};

use crate::driver::{DriveError, Driver};
use crate::effects::{MODEL, ModelEnd};
use crate::mask;
use crate::outcome;
use crate::ports::Model;
use crate::wire::{self, Sealed, Wire};
use crate::world::Unavailable;

/// Estimated tokens of a request that was put together for a run.
pub(crate) fn estimate(run: &Run, compiled: &Compiled) -> u32 {
    let kept = run.fragments.iter().take(compiled.keep as usize);
    let kept = kept.map(|fragment| fragment_weight(fragment) as usize);
    run.estimate(kept.sum::<usize>() + compiled.weight())
}

impl Driver {
    pub(crate) async fn request(&mut self, attempt: u32) -> Result<(), DriveError> {
        let name = self
            .run
            .created
            .as_ref()
            .map(|created| created.model.clone())
            .unwrap_or_default();
        let model = match self
            .model
            .clone()
            .map_or_else(|| self.ports.world.model(&name), Ok)
        {
            Ok(model) => model,
            Err(error) => {
                if let Some(to) = self.run.fallback(error.class) {
                    return self.switch(to, error.message);
                }
                let reason = HandoffReason::ProviderRefused;
                let handoff = self.run.handoff(reason, error.message, &error.remedy);
                return self.record(handoff);
            }
        };
        self.model = Some(model.clone());
        let output_limit = match attempt {
            1 => self.run.output_limit(),
            _ => self.run.output_reserved,
        };
        let sealed = match (attempt, self.sealed.take()) {
            (1, _) => self.compile(&*model).await?,
            (_, Some(sealed)) => sealed,
            (_, None) => wire::rebuild(&*self.ports.log, &self.run.fragments).await?,
        };
        let weight = self.run.body_weight as usize;
        let reserve = self.run.reserve(weight, output_limit.max(1));
        if let Some(exceeded) = self.run.passed_by(reserve, attempt == 1) {
            return self.record(exceeded);
        }
        self.record(ModelRequested {
            model: name,
            attempt,
            body_sha256: sealed.sha256.clone(),
            body_bytes: sealed.bytes.len() as u32,
            reserved_in: reserve.tokens_in,
            reserved_out: reserve.tokens_out,
            reserved_micro: reserve.money_micro,
        })?;
        self.commit().await?;
        self.send(model, sealed.bytes.clone());
        self.sealed = Some(sealed);
        Ok(())
    }

    /// Hands the run off because something outside is not as it has to be.
    pub(crate) fn hand_off(&mut self, unavailable: Unavailable) -> Result<(), DriveError> {
        let Unavailable { message, remedy } = unavailable;
        let handoff = self
            .run
            .handoff(HandoffReason::Environment, message, &remedy);
        self.record(handoff)
    }

    /// Lets another model take over: the next request is put together anew, in its format.
    pub(crate) fn switch(&mut self, to: String, why: String) -> Result<(), DriveError> {
        let created = self.run.created.as_ref();
        let from = created
            .map(|created| created.model.clone())
            .unwrap_or_default();
        let facts = self.ports.world.model_facts(&to);
        self.model = None;
        self.wire = None;
        self.sealed = None;
        self.record(ModelSwitched {
            from,
            to,
            why,
            window_tokens: facts
                .window_tokens
                .unwrap_or_else(|| self.run.window_tokens()),
            price: facts.price,
            takes: facts.takes,
        })
    }

    pub(crate) async fn compile(&mut self, model: &dyn Model) -> Result<Sealed, DriveError> {
        let mut wire = match self.wire.take() {
            Some(wire) => wire,
            None => Wire::load(&*self.ports.log, &self.run.fragments).await?,
        };
        let texts = self.texts(compile::bodies_needed(&self.run)).await?;
        let media = self.media_at_hand().await?;
        let compiled: Compiled = {
            let content = |body: &Body| match body {
                Body::Text(text) => text.clone(),
                Body::Blob { blob, .. } => texts.get(blob).cloned().unwrap_or_default(),
            };
            let base64 = |item: &Media| media.get(&item.hash()).cloned();
            let known = Known {
                text: &content,
                base64: &base64,
            };
            compile::compile(&self.run, model.dialect(), &known)
        };
        let sealed = wire.seal(&compiled);
        self.wire = Some(wire);
        #[cfg(debug_assertions)]
        let keep = compiled.keep;
        let tokens = estimate(&self.run, &compiled);
        let (event, blobs) = wire::record(compiled, tokens);
        self.blobs.extend(blobs);
        self.record(event)?;
        debug_assert_eq!(
            self.run.body_bytes as usize,
            sealed.bytes.len(),
            "what is sent is as long as what the log rebuilds"
        );
        #[cfg(debug_assertions)]
        self.assert_that_it_rebuilds(&sealed, keep).await;
        Ok(sealed)
    }

    /// In tests and debug builds: what is about to be sent is what the log will rebuild, byte for
    /// byte. The front that is kept was so before, or was read from the log just now.
    #[cfg(debug_assertions)]
    async fn assert_that_it_rebuilds(&self, sealed: &Sealed, keep: u32) {
        let mut bytes = Vec::new();
        for fragment in &self.run.fragments[keep as usize..] {
            let at_hand = self.body_at_hand(&fragment.body);
            let Ok(more) = wire::body_bytes(&*self.ports.log, &at_hand).await else {
                return;
            };
            bytes.extend_from_slice(&more);
        }
        assert!(
            sealed.bytes.ends_with(&bytes),
            "what is sent is what the log rebuilds"
        );
    }

    /// The texts of bodies that lie in the log, or wait to.
    pub(crate) async fn texts(
        &self,
        bodies: Vec<&Body>,
    ) -> Result<HashMap<BlobHash, String>, DriveError> {
        let mut texts = HashMap::new();
        for body in bodies {
            if let Body::Blob { blob, .. } = body {
                let at_hand = self.body_at_hand(body);
                texts.insert(*blob, wire::body_text(&*self.ports.log, &at_hand).await?);
            }
        }
        Ok(texts)
    }

    pub(crate) fn model_ended(&mut self, end: ModelEnd) -> Result<(), DriveError> {
        self.in_flight.remove(MODEL);
        if !matches!(self.run.request, Request::InFlight { .. }) {
            return Ok(());
        }
        match end.result {
            Ok(mut reply) => {
                self.sealed = None;
                mask::reply(&self.ports.world.masker(), &mut reply);
                let facts = outcome::of_reply(&self.run, reply, end.latency_ms);
                self.record_facts(facts)
            }
            Err(mut error) => {
                mask::model_error(&self.ports.world.masker(), &mut error);
                let retry = self.retry(&mut error);
                self.record(outcome::of_model_error(error, retry, end.latency_ms))
            }
        }
    }
}
