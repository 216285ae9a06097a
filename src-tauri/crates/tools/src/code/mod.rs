//! The tools of a run as a Python package: one function for each, with its arguments, their types
//! and what it does, so that `help(tools)` says it all.
//!
//! A call is a line of JSON, `{"tool": "server.name", "arguments": {…}}`, and so is its answer:
//! `{"ok": …}`, `{"file": {"path": …, "bytes": …, "preview": …}}` where it was too long to be handed
//! over, or `{"error": {"class": …, "message": …}}`.

mod names;
#[cfg(all(test, unix))]
mod tests;
mod types;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use longrein_core::policy::is_callable;
use longrein_protocol::ToolSpec;
use serde_json::Value;

use names::Names;

/// The package that programs import.
pub const PACKAGE: &str = "tools";
/// The part of the package that makes the calls.
const CALL: &str = include_str!("_call.py");
/// The most characters of one argument's description.
const ARGUMENT_CHARS: usize = 300;
/// The most characters of a tool's description.
const DESCRIPTION_CHARS: usize = 4_000;

/// One file of the package.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PythonFile {
    /// Its path, with `/` between the parts: `tools/exa.py`.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// A server's tools as a module of the package.
struct Module<'t> {
    name: String,
    server: &'t str,
    /// Each by its name within the server.
    tools: Vec<(&'t str, &'t ToolSpec)>,
}

/// The package for these tools, in the order of their paths. The same tools give the same bytes.
pub fn python_package(specs: &[ToolSpec]) -> Vec<PythonFile> {
    let mut own = Vec::new();
    let mut servers: BTreeMap<&str, Vec<(&str, &ToolSpec)>> = BTreeMap::new();
    for spec in specs.iter().filter(|spec| is_callable(&spec.name)) {
        match spec.name.split_once('.') {
            Some((server, name)) => servers.entry(server).or_default().push((name, spec)),
            None => own.push((spec.name.as_str(), spec)),
        }
    }
    let mut taken = Names::default();
    let functions: Vec<(String, &ToolSpec)> = own
        .into_iter()
        .map(|(name, spec)| (taken.python(name), spec))
        .collect();
    let modules: Vec<Module<'_>> = servers
        .into_iter()
        .map(|(server, tools)| Module {
            name: taken.python(server),
            server,
            tools,
        })
        .collect();

    let mut files = vec![
        PythonFile {
            path: format!("{PACKAGE}/__init__.py"),
            text: front(&functions, &modules),
        },
        PythonFile {
            path: format!("{PACKAGE}/_call.py"),
            text: CALL.to_owned(),
        },
    ];
    for module in modules {
        let mut taken = Names::default();
        let mut text = format!(
            "{}\n\nfrom __future__ import annotations\n\nfrom typing import Any, Literal\n\nfrom ._call import UNSET, call as _call\n",
            literal(&format!("The tools of the server {}.", module.server))
        );
        let mut functions = Vec::new();
        for (name, spec) in module.tools {
            let name = taken.python(name);
            text.push_str(&function(&name, spec));
            functions.push(name);
        }
        text.push_str(&listed(&functions));
        files.push(PythonFile {
            path: format!("{PACKAGE}/{}.py", module.name),
            text,
        });
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    files
}

/// The part of the package that is read first: what there is, and the tools that are no server's.
fn front(functions: &[(String, &ToolSpec)], modules: &[Module<'_>]) -> String {
    let mut doc = String::from(
        "Tools that this program may call. Each call is decided and recorded like one of your own;\na refused or failed one raises ToolError. Long results come back as ResultFile.\n",
    );
    for (name, spec) in functions {
        let _ = write!(doc, "\n{name}: {}", first_line(&spec.description));
    }
    for Module {
        name,
        server,
        tools,
    } in modules
    {
        let _ = write!(doc, "\n{name}: the {} tools of {server}", tools.len());
    }
    let mut text = format!(
        "{}\n\nfrom __future__ import annotations\n\nfrom typing import Any, Literal\n\nfrom ._call import ResultFile, ToolError, UNSET, call as _call\n",
        literal(&doc)
    );
    if !modules.is_empty() {
        let names: Vec<&str> = modules.iter().map(|module| module.name.as_str()).collect();
        let _ = writeln!(text, "from . import {}", names.join(", "));
    }
    for (name, spec) in functions {
        text.push_str(&function(name, spec));
    }
    let functions = functions.iter().map(|(name, _)| name.clone());
    let modules = modules.iter().map(|module| module.name.clone());
    let errors = ["ToolError", "ResultFile"].map(str::to_owned);
    text.push_str(&listed(&Vec::from_iter(
        functions.chain(modules).chain(errors),
    )));
    text
}

/// What a module shows of itself: its tools, and not what it is made with.
fn listed(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| literal(name)).collect();
    format!(
        "\n\n__all__ = [{}]\n\n\ndef __dir__() -> list[str]:\n    return __all__\n",
        names.join(", ")
    )
}

/// One tool as a function.
fn function(name: &str, spec: &ToolSpec) -> String {
    let properties = spec.schema.get("properties").and_then(Value::as_object);
    let required = spec.schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| {
        required.is_some_and(|required| required.iter().any(|other| other.as_str() == Some(name)))
    };
    let mut taken = Names::default();
    let mut parameters: Vec<Parameter<'_>> = properties
        .into_iter()
        .flatten()
        .map(|(argument, schema)| Parameter {
            name: taken.python(argument),
            argument,
            schema,
            required: is_required(argument),
        })
        .collect();
    parameters.sort_by_key(|parameter| !parameter.required);
    // The only one that must be given needs no name; of several, the order is nobody's promise.
    let only = parameters.iter().filter(|one| one.required).count() == 1;
    let mut signature = String::new();
    for (place, parameter) in parameters.iter().enumerate() {
        let separator = match place {
            0 if only => "",
            0 => "*, ",
            1 if only => ", *, ",
            _ => ", ",
        };
        let default = if parameter.required { "" } else { " = UNSET" };
        let hint = types::hint(parameter.schema);
        let _ = write!(signature, "{separator}{}: {hint}{default}", parameter.name);
    }
    let mut doc = cut(&spec.description, DESCRIPTION_CHARS);
    for parameter in &parameters {
        let said = parameter.schema.get("description").and_then(Value::as_str);
        if let Some(said) = said {
            let _ = write!(doc, "\n\n{}: {}", parameter.name, cut(said, ARGUMENT_CHARS));
        }
    }
    let given: Vec<String> = parameters
        .iter()
        .map(|parameter| format!("{}: {}", literal(parameter.argument), parameter.name))
        .collect();
    format!(
        "\n\ndef {name}({signature}) -> Any:\n    {}\n    return _call({}, {{{}}})\n",
        literal(&doc),
        literal(&spec.name),
        given.join(", ")
    )
}

struct Parameter<'a> {
    name: String,
    argument: &'a str,
    schema: &'a Value,
    required: bool,
}

/// A text as Python reads it: what JSON writes is a literal there too.
fn literal(text: &str) -> String {
    Value::from(text).to_string()
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default().trim()
}

fn cut(text: &str, chars: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}
