//! `[sandbox]`: the box that commands work in.

use std::ops::RangeInclusive;

use longrein_protocol::agent::{SandboxSettings, Size, ToolGrants};
use longrein_protocol::host_rule::HostRule;

use toml::Spanned;
use toml::de::DeValue;

use super::keys;
use super::reader::{Fields, Reader};
use crate::policy::runs_commands;

/// The longest name of an image.
const IMAGE_BYTES_MAX: usize = 512;

/// Reads the section.
pub(super) fn read(
    reader: &mut Reader<'_>,
    root: Fields<'_>,
    grants: &ToolGrants,
) -> SandboxSettings {
    let mut sandbox = SandboxSettings::default();
    let Some(value) = reader.value(root, "sandbox") else {
        return sandbox;
    };
    let criteria = match reader.value(root, "done_when").map(Spanned::get_ref) {
        Some(DeValue::Array(criteria)) => &criteria[..],
        _ => &[],
    };
    let checks = criteria.iter().any(|criterion| match criterion.get_ref() {
        DeValue::Table(fields) => fields.contains_key("command"),
        _ => false,
    });
    if !checks && !runs_commands(grants) {
        let message = "This agent runs no commands, so [sandbox] has no effect.";
        let remedy = "Add “run_command” or “run_code” to allow in [tools], or take it out.";
        reader.warning(&value.span(), "sandbox", message, remedy);
    }
    let Some(fields) = reader.table(value, "sandbox", keys::SANDBOX) else {
        return sandbox;
    };
    sandbox.image = image(reader, fields);
    if let Some(memory) = size(reader, fields, "memory", &keys::MEMORY) {
        sandbox.memory = memory;
    }
    if let Some(cpus) = reader.number(fields, "cpus", &keys::CPUS) {
        sandbox.cpus = cpus;
    }
    if let Some(processes) = reader.whole(fields, "processes", &keys::PROCESSES) {
        sandbox.processes = processes;
    }
    if let Some(disk) = size(reader, fields, "disk", &keys::DISK) {
        sandbox.disk = disk;
    }
    if let Some(seconds) = reader.whole(fields, "timeout_seconds", &keys::TIMEOUT_SECONDS) {
        sandbox.timeout_seconds = seconds;
    }
    sandbox.hosts = hosts(reader, fields);
    sandbox
}

fn image(reader: &mut Reader<'_>, fields: Fields<'_>) -> Option<String> {
    let image = reader.text(fields, "image")?;
    let name = image.value.as_str();
    let is_name = (1..=IMAGE_BYTES_MAX).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_graphic())
        && !name.starts_with('-');
    if !is_name {
        let message = format!("“{name}” is not the name of an image.");
        let remedy = format!("Write it like this: {}", fields.example("image"));
        reader.error(&image.span, &fields.path_of("image"), message, remedy);
        return None;
    }
    Some(image.value)
}

fn size(
    reader: &mut Reader<'_>,
    fields: Fields<'_>,
    key: &str,
    range: &RangeInclusive<Size>,
) -> Option<Size> {
    let text = reader.text(fields, key)?;
    let path = fields.path_of(key);
    let (message, remedy) = match text.value.parse::<Size>() {
        Ok(size) if range.contains(&size) => return Some(size),
        Ok(size) => (
            format!("{path} can't be {size}."),
            format!("Give a size from {} to {}.", range.start(), range.end()),
        ),
        Err(_) => (
            format!("“{}” is no size.", text.value),
            format!("Write it like this: {}", fields.example(key)),
        ),
    };
    reader.error(&text.span, &path, message, remedy);
    None
}

fn hosts(reader: &mut Reader<'_>, fields: Fields<'_>) -> Vec<String> {
    let mut hosts = Vec::new();
    for line in reader.texts(fields, "hosts").unwrap_or_default() {
        match line.value.parse::<HostRule>() {
            Ok(_) => hosts.push(line.value),
            Err(error) => {
                let message = format!("{error}.");
                let remedy = format!("Write it like this: {}", fields.example("hosts"));
                reader.error(&line.span, &fields.path_of("hosts"), message, remedy);
            }
        }
    }
    hosts
}
