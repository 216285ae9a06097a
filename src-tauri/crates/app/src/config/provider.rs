//! `[providers.NAME]`: who is asked, where, how, and with which key.

use std::ops::Range;

use longrein_core::agent_file::reader::{At, Fields, Key, Reader, join};
use longrein_keys::environment::own_variable;
use longrein_models::{Format, ToolMode, usual_base_url, well_known};
use url::{Host, Url};

use super::read::Entry;
use super::secret::SecretReference;
use super::{ProviderConfig, secret};

pub(super) const PROVIDER: &[Key] = &[
    Key::new("format", "format = \"openai-chat\""),
    Key::new("base_url", "base_url = \"http://127.0.0.1:8080/v1\""),
    Key::new("key", "key = \"secret:NAME\""),
    Key::new("tool_mode", "tool_mode = \"schema\""),
];

/// Names that stand for something else.
pub(super) const RESERVED: &[(&str, &str)] = &[("demo", "the demonstration model")];

pub(super) const TOOL_MODES: &[(&str, ToolMode)] =
    &[("native", ToolMode::Native), ("schema", ToolMode::Schema)];

const FORMATS: [(&str, Format); Format::ALL.len()] = {
    let mut formats = [("", Format::OpenAiChat); Format::ALL.len()];
    let mut index = 0;
    while index < Format::ALL.len() {
        formats[index] = (Format::ALL[index].name(), Format::ALL[index]);
        index += 1;
    }
    formats
};

pub(super) fn read(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<ProviderConfig> {
    let name = entry.name.value.as_str();
    if let Some((_, meaning)) = RESERVED.iter().find(|(reserved, _)| *reserved == name) {
        let message = format!("“{name}” stands for {meaning}.");
        let remedy = "Choose another name.";
        reader.error(&entry.name.span, &entry.path, message, remedy);
    }
    let fields = reader.table(entry.value, &entry.path, PROVIDER)?;
    let written = reader.value(fields, "format").is_some();
    let format = match written {
        true => reader.choice(fields, "format", &FORMATS, &[]),
        false => usual_format(reader, entry, fields),
    };
    let key = reader
        .text(fields, "key")
        .and_then(|key| key_reference(reader, name, &entry.path, &key));
    let tool_mode = reader.choice(fields, "tool_mode", TOOL_MODES, &[]);
    if let Some(format) = format {
        check_tool_mode(reader, fields, tool_mode, format);
    }
    let base_url = match reader.value(fields, "base_url") {
        Some(_) => {
            let written = reader.text(fields, "base_url")?;
            base_url(reader, &fields.path_of("base_url"), &written)
        }
        None => usual_address(reader, entry, fields, format),
    };
    Some(ProviderConfig {
        format: format?,
        base_url: base_url?,
        key,
        tool_mode: tool_mode.unwrap_or_default(),
    })
}

/// What a provider speaks whose name says it.
fn usual_format(reader: &mut Reader<'_>, entry: &Entry<'_>, fields: Fields<'_>) -> Option<Format> {
    let name = entry.name.value.as_str();
    if let Some(known) = well_known(name) {
        return known.formats.first().copied();
    }
    if !reader.is_broken() {
        let message = format!("The provider {name} has no format.");
        let remedy = "Write format = \"openai-chat\"; most servers speak it.";
        reader.error(&entry.name.span, &fields.path_of("format"), message, remedy);
    }
    None
}

/// Where a provider is whose name or format says it.
fn usual_address(
    reader: &mut Reader<'_>,
    entry: &Entry<'_>,
    fields: Fields<'_>,
    format: Option<Format>,
) -> Option<String> {
    let name = entry.name.value.as_str();
    if let Some(usual) = format.and_then(|format| usual_base_url(name, format)) {
        return Some(usual.to_owned());
    }
    if !reader.is_broken() {
        let message = format!("The provider {name} has no base_url.");
        let remedy = "Write it like this: base_url = \"http://127.0.0.1:8080/v1\"";
        let path = fields.path_of("base_url");
        reader.error(&entry.name.span, &path, message, remedy);
    }
    None
}

/// Only one format can be made to call tools by a schema.
pub(super) fn check_tool_mode(
    reader: &mut Reader<'_>,
    fields: Fields<'_>,
    tool_mode: Option<ToolMode>,
    format: Format,
) {
    if tool_mode != Some(ToolMode::Schema) || format == Format::OpenAiChat {
        return;
    }
    if let Some(value) = reader.value(fields, "tool_mode") {
        let message = format!(
            "tool_mode = \"schema\" does not go with format = \"{}\".",
            format.name()
        );
        let remedy = "Take it out: whatever speaks this format calls tools by itself.";
        reader.error(&value.span(), &fields.path_of("tool_mode"), message, remedy);
    }
}

/// Where a key comes from. A key itself is refused, and not repeated.
fn key_reference(
    reader: &mut Reader<'_>,
    provider: &str,
    path: &str,
    key: &At<String>,
) -> Option<SecretReference> {
    let path = join(path, "key");
    let place = (path.as_str(), &key.span);
    if let Some(read) = secret::reference(reader, place, &key.value) {
        return read;
    }
    let message = "A key must not stand in this file, which gets copied, shared and backed up.";
    let own = own_variable(provider);
    let remedy = format!(
        "Take it out and keep it with: longrein keys set {provider}. Or set the variable {own}, or write key = \"env:NAME\". If the file was shared, replace the key."
    );
    reader.error(&key.span, &path, message, remedy);
    None
}

/// Checks an address and takes the slash off its end. An address with a password or a query is
/// refused, since it is shown in many places.
fn base_url(reader: &mut Reader<'_>, path: &str, written: &At<String>) -> Option<String> {
    let remedy = "Write it like this: base_url = \"http://127.0.0.1:8080/v1\"";
    let parsed = Url::parse(written.value.trim()).ok();
    let Some(url) = parsed.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
    else {
        let message = "This is not an http or https address.";
        reader.error(&written.span, path, message, remedy);
        return None;
    };
    if !url.username().is_empty()
        || url.password().is_some()
        || url.query().is_some()
        || url.fragment().is_some()
    {
        let message = "The address carries a name, a password or a query, which may be a secret.";
        let remedy = "Give the plain address here and the key with: key = \"secret:NAME\"";
        reader.error(&written.span, path, message, remedy);
        return None;
    }
    if url.scheme() == "http" && !is_loopback(&url) {
        let message = "Over http, questions and keys can be read on the way.";
        let remedy = "Use https, or a server on this machine.";
        reader.warning(&written.span, path, message, remedy);
    }
    Some(url.as_str().trim_end_matches('/').to_owned())
}

/// Whether an address is on this machine.
pub(super) fn is_on_this_machine(base_url: &str) -> bool {
    Url::parse(base_url).is_ok_and(|url| is_loopback(&url))
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Where a text stands: its path and its bytes.
pub(super) type Place<'a> = (&'a str, &'a Range<usize>);
