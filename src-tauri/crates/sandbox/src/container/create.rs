//! What a container is made of. Everything that is not needed is taken away.

use std::collections::{BTreeMap, HashMap};

use bollard::models::{ContainerCreateBody, HostConfig, VolumeCreateRequest};
use bollard::query_parameters::CreateContainerOptions;

use super::{ContainerSpec, RUN, STATE, WORKSPACE, names, seccomp, setup};
use crate::engine::{Engine, Kind};
use crate::{SandboxError, resident};

/// Who commands are where the workspace belongs to root.
pub(crate) const COMMAND_USER: (u32, u32) = (61_345, 61_345);
/// What the agent needs to start commands as another user and to end them.
const CAPABILITIES: [&str; 3] = ["SETUID", "SETGID", "KILL"];
/// Memory that programs share by `/dev/shm`.
const SHARED_MEMORY_BYTES: i64 = 64 * 1024 * 1024;
/// The size of the folder of sockets, which are no bytes.
const SOCKETS_BYTES: u64 = 1024 * 1024;
/// What programs find where the image says nothing.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// How much of its hash marks a setup.
const MARK_CHARS: usize = 32;

/// A container as it will be made.
pub(super) struct Plan {
    pub(super) name: String,
    /// Differs when anything of it differs.
    pub(super) setup: String,
    pub(super) environment: BTreeMap<String, String>,
    labels: HashMap<String, String>,
    body: ContainerCreateBody,
}

pub(super) async fn plan(engine: &Engine, spec: &ContainerSpec) -> Result<Plan, SandboxError> {
    let image = engine.docker.inspect_image(&spec.image).await;
    let image = image.map_err(|error| SandboxError::Image {
        image: spec.image.clone(),
        why: error.to_string(),
    })?;
    let user = owner(&spec.workspace)?;
    let host = host(engine, spec)?;
    let mut labels = spec.owner.labels();
    let id = image.id.unwrap_or_else(|| spec.image.clone());
    let mark = mark(&id, user, &host, spec);
    let mut body = ContainerCreateBody {
        // By its id, so that a name that moves on makes another container.
        image: Some(id),
        user: Some("0:0".to_owned()),
        entrypoint: Some(vec![resident::INSIDE.to_owned(), "serve".to_owned()]),
        cmd: Some(vec![written(&setup(user))]),
        env: Some(Vec::new()),
        working_dir: Some("/".to_owned()),
        hostname: Some("longrein".to_owned()),
        network_disabled: Some(true),
        host_config: Some(host),
        ..ContainerCreateBody::default()
    };
    labels.insert(names::SETUP.to_owned(), mark.clone());
    body.labels = Some(labels.clone());
    let environment = environment(
        image
            .config
            .and_then(|config| config.env)
            .unwrap_or_default(),
    );
    Ok(Plan {
        name: spec.owner.name(),
        setup: mark,
        environment,
        labels,
        body,
    })
}

pub(super) async fn create(engine: &Engine, plan: &Plan) -> Result<(), SandboxError> {
    let volume = VolumeCreateRequest {
        name: Some(plan.name.clone()),
        labels: Some(plan.labels.clone()),
        ..VolumeCreateRequest::default()
    };
    // One that is there is taken as it is: it holds what an earlier container left.
    let made = engine.docker.create_volume(volume).await;
    if let Err(error) = made
        && engine.docker.inspect_volume(&plan.name).await.is_err()
    {
        return Err(engine.failed(format!("make the volume {}", plan.name))(
            error,
        ));
    }
    let options = CreateContainerOptions {
        name: Some(plan.name.clone()),
        ..Default::default()
    };
    let created = engine
        .docker
        .create_container(Some(options), plan.body.clone())
        .await;
    created
        .map(drop)
        .map_err(engine.failed(format!("make the container {}", plan.name)))
}

/// Marks what a container is made to: another mark, another container.
fn mark(image: &str, user: (u32, u32), host: &HostConfig, spec: &ContainerSpec) -> String {
    let mut hash = blake3::Hasher::new();
    let words = [
        image.to_owned(),
        written(&setup(user)),
        format!("{:?}", spec.limits),
    ];
    let lists = [&host.binds, &host.security_opt, &host.cap_add];
    for word in words.iter().chain(lists.into_iter().flatten().flatten()) {
        hash.update(word.as_bytes()).update(&[0]);
    }
    hash.finalize().to_hex()[..MARK_CHARS].to_owned()
}

/// JSON of what is plain: its own keys are text, so that nothing can go wrong.
fn written(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn host(engine: &Engine, spec: &ContainerSpec) -> Result<HostConfig, SandboxError> {
    let agent = resident::put(&spec.shared)?;
    let access = if spec.read_only { "ro" } else { "rw" };
    let binds = vec![
        // `z` and `Z` make it readable where the system labels files, and do nothing elsewhere.
        format!("{}:{}:ro,z", agent.display(), resident::INSIDE),
        format!("{}:{WORKSPACE}:{access},Z", spec.workspace.display()),
        format!("{}:{STATE}", spec.owner.name()),
    ];
    let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    let scratch = format!("rw,exec,nosuid,nodev,size={}", spec.limits.tmp_bytes);
    Ok(HostConfig {
        binds: Some(binds),
        tmpfs: Some(HashMap::from([
            ("/tmp".to_owned(), scratch.clone()),
            // Podman puts one there by itself, without a size.
            ("/var/tmp".to_owned(), scratch),
            (
                RUN.to_owned(),
                format!("rw,noexec,nosuid,nodev,size={SOCKETS_BYTES}"),
            ),
        ])),
        network_mode: Some("none".to_owned()),
        readonly_rootfs: Some(true),
        cap_drop: Some(vec!["ALL".to_owned()]),
        cap_add: Some(CAPABILITIES.map(str::to_owned).to_vec()),
        security_opt: Some(vec![
            "no-new-privileges".to_owned(),
            format!("seccomp={}", profile(engine, spec)?),
        ]),
        memory: Some(signed(spec.limits.memory_bytes)),
        // With swap, so that there is none beyond the memory.
        memory_swap: Some(signed(spec.limits.memory_bytes)),
        pids_limit: Some(i64::from(spec.limits.processes)),
        nano_cpus: Some(i64::from(spec.limits.cpus_milli) * 1_000_000),
        shm_size: Some(SHARED_MEMORY_BYTES),
        userns_mode: userns(engine),
        init: Some(false),
        ..HostConfig::default()
    })
}

/// Podman wants a path and Docker the profile itself.
fn profile(engine: &Engine, spec: &ContainerSpec) -> Result<String, SandboxError> {
    match engine.kind {
        Kind::Docker => Ok(seccomp::PROFILE.to_owned()),
        Kind::Podman => {
            let hash = blake3::hash(seccomp::PROFILE.as_bytes()).to_hex();
            let name = format!("seccomp-{}.json", &hash[..MARK_CHARS / 2]);
            let path = resident::put_file(&spec.shared, &name, seccomp::PROFILE.as_bytes(), 0o644)?;
            Ok(path.display().to_string())
        }
    }
}

/// Without root, the person keeps their own number inside, so that files that commands write are
/// theirs; the agent's root is somebody else then.
fn userns(engine: &Engine) -> Option<String> {
    (engine.kind == Kind::Podman && engine.rootless).then(|| "keep-id".to_owned())
}

/// Whom commands run as: the workspace's owner, so that what they write is theirs; never root.
#[cfg(unix)]
fn owner(workspace: &std::path::Path) -> Result<(u32, u32), SandboxError> {
    use std::os::unix::fs::MetadataExt;
    let folder = std::fs::metadata(workspace).map_err(SandboxError::file(workspace))?;
    match (folder.uid(), folder.gid()) {
        (0, _) => Ok(COMMAND_USER),
        (user, 0) => Ok((user, COMMAND_USER.1)),
        owner => Ok(owner),
    }
}

/// Where files have no owners by number, the engine's machine shows them as anybody's.
#[cfg(not(unix))]
fn owner(_workspace: &std::path::Path) -> Result<(u32, u32), SandboxError> {
    Ok(COMMAND_USER)
}

/// The image's own environment, with a home that can be written to.
pub(crate) fn environment(image: Vec<String>) -> BTreeMap<String, String> {
    let mut environment = BTreeMap::from([
        ("PATH".to_owned(), PATH.to_owned()),
        ("LANG".to_owned(), "C.UTF-8".to_owned()),
    ]);
    for variable in image {
        if let Some((name, value)) = variable.split_once('=') {
            environment.insert(name.to_owned(), value.to_owned());
        }
    }
    environment.insert("HOME".to_owned(), "/tmp".to_owned());
    environment.insert("TMPDIR".to_owned(), "/tmp".to_owned());
    environment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_images_own_path_goes_before_ours_and_its_home_does_not() {
        let found = environment(vec![
            "PATH=/x".to_owned(),
            "HOME=/root".to_owned(),
            "A=b=c".to_owned(),
        ]);
        assert_eq!(found["PATH"], "/x");
        assert_eq!(found["HOME"], "/tmp");
        assert_eq!(found["A"], "b=c");
    }
}
