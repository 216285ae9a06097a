//! What is said of MCP servers.

use longrein_app::config::McpConfig;
use longrein_app::mcp::{Change, Confinement, FlagKind, Looked, Preset, Standing};
use serde_json::json;

use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::screen::{Screen, Tone};
use crate::text;

/// Columns of a server's name, and of a tool's.
const NAME_COLUMNS: usize = 14;
const TOOL_COLUMNS: usize = 32;

/// Bytes of a mebibyte.
const MIB: u64 = 1024 * 1024;

/// How many letters of a description are shown.
const DESCRIPTION_LETTERS: usize = 100;

/// How many letters of what a program wrote are shown.
const WORDS_LETTERS: usize = 2_000;

/// One server that there is.
pub(super) fn server(
    name: &str,
    server: &McpConfig,
    signed_in: Option<bool>,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let place = match &server.url {
        Some(url) => url.clone(),
        None => server.command.join(" "),
    };
    if screen.is_json() {
        return screen.json(&json!({
            "server": name,
            "url": server.url,
            "command": server.command,
            "trusted": server.trusted,
            "signed_in": signed_in,
        }));
    }
    let trust = if server.trusted {
        "trusted"
    } else {
        "not trusted"
    };
    let sign_in = match signed_in {
        Some(true) => ", signed in",
        Some(false) | None => "",
    };
    screen.result(&format!(
        "{} {}  ({trust}{sign_in})",
        text::cell(name, NAME_COLUMNS),
        text::plain(&place)
    ))
}

/// Those that can be added by name.
pub(super) fn presets<'p>(
    presets: impl Iterator<Item = &'p Preset>,
    is_first: bool,
    screen: &mut Screen,
) -> Result<(), Failure> {
    if screen.is_json() {
        return Ok(());
    }
    if is_first {
        screen.result("There are no servers yet.")?;
    }
    let mut begun = false;
    for preset in presets {
        if !begun {
            screen.result("")?;
            screen.result("Can be added by name, with longrein mcp add NAME:")?;
            begun = true;
        }
        let name = text::cell(preset.name, NAME_COLUMNS);
        screen.result(&format!("{name} {}; needs {}", preset.what, preset.needs))?;
    }
    Ok(())
}

/// What a look has found.
pub(super) fn looked(
    context: &Context,
    name: &str,
    looked: &Looked,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    if screen.is_json() {
        return as_json(name, looked, screen);
    }
    let version = looked.version.as_deref().unwrap_or("unknown");
    screen.result(&format!(
        "{} speaks MCP {version} and offers {} tools",
        text::plain(name),
        looked.tools.len()
    ))?;
    for tool in &looked.tools {
        let effect = format!("{:?}", tool.effect).to_lowercase();
        screen.result(&format!(
            "  {} {:12} {}",
            text::cell(&tool.name, TOOL_COLUMNS),
            effect,
            text::plain(&text::brief(&tool.description, DESCRIPTION_LETTERS))
        ))?;
    }
    for prompt in &looked.prompts {
        let what = text::plain(&text::brief(&prompt.description, DESCRIPTION_LETTERS));
        screen.result(&format!("  prompt {}: {what}", text::plain(&prompt.name)))?;
    }
    for problem in &looked.problems {
        let word = screen.result_painted(Tone::Bad, "left out");
        let (tool, message) = (text::plain(&problem.tool), text::plain(&problem.message));
        screen.result(&format!("  {word} {tool}: {message}"))?;
    }
    flags(looked, screen)?;
    if let Some(Confinement::None(why)) = &looked.confinement {
        screen.result(&format!("  {}", text::plain(why)))?;
    }
    if let Some(bytes) = looked.memory_bytes {
        screen.result(&format!(
            "  It holds {} MiB of memory.",
            bytes.div_ceil(MIB)
        ))?;
    }
    if let Some(words) = looked
        .last_words
        .as_deref()
        .filter(|words| !words.trim().is_empty())
    {
        screen.result("  It wrote to standard error:")?;
        for line in text::brief(words, WORDS_LETTERS).lines() {
            screen.result(&format!("    {}", text::plain(line)))?;
        }
    }
    standing(context, name, &looked.standing, screen)
}

/// What has changed since it was approved, and what is odd about it.
pub(super) fn changed(looked: &Looked, screen: &mut Screen) -> Result<(), Failure> {
    if let Standing::Changed(changes) = &looked.standing {
        differences(changes, screen)?;
    }
    flags(looked, screen)
}

fn flags(looked: &Looked, screen: &mut Screen) -> Result<(), Failure> {
    for flag in &looked.flags {
        let word = screen.result_painted(Tone::Bad, "look at");
        let (tool, found) = (text::plain(&flag.tool), text::plain(&flag.found));
        screen.result(&format!("  {word} {tool}: {}: {found}", kind(flag.kind)))?;
    }
    Ok(())
}

fn differences(changes: &[(String, Change)], screen: &mut Screen) -> Result<(), Failure> {
    screen.result("What it says of its tools has changed since you approved them:")?;
    for (tool, change) in changes {
        match change {
            Change::New => screen.result(&format!("  {}: new", text::plain(tool)))?,
            Change::Changed { difference } => {
                screen.result(&format!("  {}:", text::plain(tool)))?;
                for line in difference.lines() {
                    screen.result(&format!("    {}", text::plain(line)))?;
                }
            }
        }
    }
    Ok(())
}

fn standing(
    context: &Context,
    name: &str,
    standing: &Standing,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    let Standing::Changed(changes) = standing else {
        return Ok(Status::Done);
    };
    screen.result("")?;
    differences(changes, screen)?;
    let words = format!("mcp approve {}", text::shell_word(name));
    screen.say(&format!(
        "If that is right, approve it with: {}",
        context.command(&words)
    ));
    Ok(Status::Parked)
}

fn kind(kind: FlagKind) -> &'static str {
    match kind {
        FlagKind::HiddenCharacters => "characters that nobody sees",
        FlagKind::Instructions => "orders to the model",
        FlagKind::SecretPlace => "a place where secrets lie",
        FlagKind::Shadows => "a name like that of another tool",
    }
}

fn as_json(name: &str, looked: &Looked, screen: &mut Screen) -> Result<Status, Failure> {
    let tools: Vec<_> = looked
        .tools
        .iter()
        .map(|tool| {
            json!({
                "name": tool.name, "description": tool.description,
                "effect": tool.effect, "repeat": tool.repeat,
            })
        })
        .collect();
    let problems: Vec<_> = looked
        .problems
        .iter()
        .map(|problem| json!({"tool": problem.tool, "message": problem.message}))
        .collect();
    let flags: Vec<_> = looked
        .flags
        .iter()
        .map(|flag| json!({"tool": flag.tool, "what": kind(flag.kind), "found": flag.found}))
        .collect();
    let changed: Vec<_> = match &looked.standing {
        Standing::Changed(changes) => changes.iter().map(|(tool, _)| tool.clone()).collect(),
        Standing::First | Standing::Same => Vec::new(),
    };
    let confined = looked
        .confinement
        .as_ref()
        .map(|confinement| matches!(confinement, Confinement::Bubblewrap(_)));
    screen.json(&json!({
        "server": name,
        "version": looked.version,
        "tools": tools,
        "prompts": looked.prompts.iter().map(|prompt| &prompt.name).collect::<Vec<_>>(),
        "problems": problems,
        "flags": flags,
        "changed": changed,
        "confined": confined,
        "memory_bytes": looked.memory_bytes,
    }))?;
    Ok(if changed.is_empty() {
        Status::Done
    } else {
        Status::Parked
    })
}
