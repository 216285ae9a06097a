//! What no run needs any more goes: running or not, with volumes.

use std::collections::{HashMap, HashSet};

use bollard::query_parameters::{
    ListContainersOptionsBuilder, ListVolumesOptions, RemoveContainerOptions, RemoveVolumeOptions,
};

use super::names::{INSTANCE, RUN};
use crate::SandboxError;
use crate::engine::{Engine, settled, unless_missing};

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reaped {
    /// Containers, with what ran in them.
    pub containers: usize,
    /// Volumes, with the outputs and receipts on them.
    pub volumes: usize,
}

/// Removes every container and volume of this app instance but those of the runs that are kept.
/// Other instances' are left alone.
///
/// # Errors
/// When the engine does not list them. What can't be removed is told in the log and tried again
/// the next time.
pub async fn reap(
    engine: &Engine,
    instance: &str,
    keep: &HashSet<String>,
) -> Result<Reaped, SandboxError> {
    reap_all_but(engine, instance, &|run| keep.contains(run)).await
}

/// The runs of this app instance that a container or a volume is there of.
///
/// # Errors
/// When the engine does not list them.
pub async fn runs(engine: &Engine, instance: &str) -> Result<HashSet<String>, SandboxError> {
    let of = |labels: HashMap<String, String>| labels.get(RUN).cloned();
    let options = ListContainersOptionsBuilder::new()
        .all(true)
        .filters(&filters(instance))
        .build();
    let listed = settled(|| engine.docker.list_containers(Some(options.clone()))).await;
    let listed = listed.map_err(engine.failed("list containers"))?;
    let containers = listed.into_iter().filter_map(|found| of(found.labels?));
    let mut runs: HashSet<String> = containers.collect();
    let options = ListVolumesOptions {
        filters: Some(filters(instance)),
    };
    let listed = engine.docker.list_volumes(Some(options)).await;
    let listed = listed.map_err(engine.failed("list volumes"))?.volumes;
    runs.extend(
        listed
            .into_iter()
            .flatten()
            .filter_map(|found| of(found.labels)),
    );
    Ok(runs)
}

fn filters(instance: &str) -> HashMap<String, Vec<String>> {
    HashMap::from([("label".to_owned(), vec![format!("{INSTANCE}={instance}")])])
}

/// The same as [`reap`], for runs that are kept by a rule.
///
/// # Errors
/// As there.
pub async fn reap_all_but(
    engine: &Engine,
    instance: &str,
    keeps: &(dyn Fn(&str) -> bool + Sync),
) -> Result<Reaped, SandboxError> {
    let filters = filters(instance);
    let is_kept = |labels: &HashMap<String, String>| {
        labels.get(INSTANCE).is_none_or(|of| of != instance)
            || labels.get(RUN).is_some_and(|run| keeps(run))
    };
    let mut reaped = Reaped::default();
    let options = ListContainersOptionsBuilder::new()
        .all(true)
        .filters(&filters)
        .build();
    let listed = settled(|| engine.docker.list_containers(Some(options.clone()))).await;
    for found in listed.map_err(engine.failed("list containers"))? {
        let Some(id) = found.id else { continue };
        if is_kept(&found.labels.unwrap_or_default()) {
            continue;
        }
        let options = RemoveContainerOptions {
            force: true,
            v: true,
            ..Default::default()
        };
        let removed = engine.docker.remove_container(&id, Some(options)).await;
        match unless_missing(removed) {
            Ok(()) => reaped.containers += 1,
            Err(error) => tracing::warn!(container = %id, %error, "a container can't be removed"),
        }
    }
    let options = ListVolumesOptions {
        filters: Some(filters),
    };
    let listed = engine.docker.list_volumes(Some(options)).await;
    for found in listed
        .map_err(engine.failed("list volumes"))?
        .volumes
        .unwrap_or_default()
    {
        if is_kept(&found.labels) {
            continue;
        }
        match remove_volume(engine, &found.name).await {
            Ok(()) => reaped.volumes += 1,
            Err(error) => tracing::warn!(volume = %found.name, %error, "a volume can't be removed"),
        }
    }
    Ok(reaped)
}

pub(crate) async fn remove_volume(engine: &Engine, name: &str) -> Result<(), SandboxError> {
    let removed = engine
        .docker
        .remove_volume(name, Some(RemoveVolumeOptions { force: true }));
    unless_missing(removed.await).map_err(engine.failed(format!("remove the volume {name}")))
}
