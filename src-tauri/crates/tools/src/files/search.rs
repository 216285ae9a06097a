//! `search_files`: a regular expression over the workspace, with ripgrep's engine on readers that
//! were opened beneath it.

use std::collections::VecDeque;
use std::sync::Arc;

use cap_std::fs::Dir;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::sinks::Lossy;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use longrein_protocol::ToolSpec;
use longrein_runtime::ports::{Tool, ToolCall, ToolError, ToolOutput};
use serde::Deserialize;
use serde_json::json;

use super::FILE_LIMIT_BYTES;
use crate::tool::{Blocking, arguments, spec};
use crate::workspace::{beneath, open_regular};
use crate::{error, show};

/// Matching lines shown when the call says no number.
const MATCHES_DEFAULT: usize = 50;
/// The most matching lines.
const MATCHES_LIMIT: usize = 200;
/// The most files that one call looks into.
const FILES_LIMIT: usize = 20_000;
/// The most bytes of a matching line that are shown.
const LINE_SHOWN_BYTES: usize = 300;
/// The memory that a regular expression may take when it is compiled.
const PATTERN_LIMIT_BYTES: usize = 1024 * 1024;
/// How much of a file without line ends is held in memory.
const HEAP_LIMIT_BYTES: usize = 32 * 1024 * 1024;

pub(super) fn tool() -> Arc<dyn Tool> {
    let properties = json!({
        "pattern": {
            "type": "string", "minLength": 1, "maxLength": 1_000,
            "description": "A regular expression (Rust syntax), matched line by line: `fn \\w+`, `(?i)budget`.",
        },
        "path": {
            "type": "string",
            "description": "A file or folder, relative to the workspace. Default: the workspace itself.",
        },
        "limit": {
            "type": "integer", "minimum": 1, "maximum": MATCHES_LIMIT,
            "description": format!("The most matching lines to show. Default {MATCHES_DEFAULT}."),
        },
    });
    let description = "Searches the text files of the workspace and shows each matching line as \
        `path:line: text`; read around it with read_file. Binary files, links and `.git` are left \
        out. It searches neither the library nor pages.";
    let spec = ToolSpec {
        path_arguments: vec!["path".to_owned()],
        untrusted: true,
        ..spec("search_files", description, properties, &["pattern"])
    };
    Blocking::tool(spec, run)
}

#[derive(Deserialize)]
struct SearchFiles {
    pattern: String,
    path: Option<String>,
    limit: Option<usize>,
}

fn run(call: &ToolCall) -> Result<ToolOutput, ToolError> {
    let asked: SearchFiles = arguments(call)?;
    let path = beneath(asked.path.as_deref().unwrap_or("."))?;
    let matcher = RegexMatcherBuilder::new()
        .size_limit(PATTERN_LIMIT_BYTES)
        .dfa_size_limit(PATTERN_LIMIT_BYTES)
        .line_terminator(Some(b'\n'))
        .build(&asked.pattern)
        .map_err(|error| {
            error::invalid(format!(
                "`pattern` is not a regular expression that can be used: {error}"
            ))
        })?;
    let workspace = super::workspace(call)?;
    let mut hunt = Hunt::new(
        matcher,
        asked
            .limit
            .unwrap_or(MATCHES_DEFAULT)
            .clamp(1, MATCHES_LIMIT),
    );
    if workspace.metadata(&path)?.is_dir() {
        hunt.folder(workspace.folder(&path)?, &path, call)?;
    } else {
        let (folder, name) = path.rsplit_once('/').unwrap_or((".", &path));
        // The one file that was named must be readable; among many, one is passed over.
        open_regular(&workspace.folder(folder)?, name)?;
        hunt.file(&workspace.folder(folder)?, name, &path);
    }
    Ok(hunt.output())
}

/// One search on its way through the files.
struct Hunt {
    matcher: RegexMatcher,
    searcher: Searcher,
    limit: usize,
    lines: Vec<String>,
    files: usize,
    files_matched: usize,
    passed_over: usize,
}

impl Hunt {
    fn new(matcher: RegexMatcher, limit: usize) -> Self {
        let searcher = SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(HEAP_LIMIT_BYTES))
            .line_number(true)
            .build();
        Self {
            matcher,
            searcher,
            limit,
            lines: Vec::new(),
            files: 0,
            files_matched: 0,
            passed_over: 0,
        }
    }

    fn is_full(&self) -> bool {
        self.lines.len() > self.limit || self.files >= FILES_LIMIT
    }

    fn folder(&mut self, root: Dir, path: &str, call: &ToolCall) -> Result<(), ToolError> {
        let prefix = if path == "." {
            String::new()
        } else {
            format!("{path}/")
        };
        let mut folders = VecDeque::from([(root, prefix)]);
        while let Some((folder, prefix)) = folders.pop_front() {
            let entries = folder
                .entries()
                .map_err(|error| error::of_path(&prefix, &error))?;
            let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
            names.sort();
            for name in names {
                if call.cancel.is_cancelled() {
                    return Err(error::cancelled());
                }
                if self.is_full() {
                    return Ok(());
                }
                // A name that is not Unicode can't be given back by the model either.
                let Some(name) = name.to_str() else { continue };
                let Ok(metadata) = folder.symlink_metadata(name) else {
                    continue;
                };
                if metadata.is_dir() && name != ".git" {
                    if let Ok(inner) = folder.open_dir(name) {
                        folders.push_back((inner, format!("{prefix}{name}/")));
                    }
                } else if metadata.is_file() {
                    self.file(&folder, name, &format!("{prefix}{name}"));
                }
            }
        }
        Ok(())
    }

    fn file(&mut self, folder: &Dir, name: &str, shown: &str) {
        self.files += 1;
        let Ok((file, bytes)) = open_regular(folder, name) else {
            return;
        };
        if bytes > FILE_LIMIT_BYTES {
            self.passed_over += 1;
            return;
        }
        let before = self.lines.len();
        let (lines, limit) = (&mut self.lines, self.limit);
        let sink = Lossy(|number, line| {
            let line = show::brief(line.trim_end(), LINE_SHOWN_BYTES);
            lines.push(format!("{shown}:{number}: {}", show::safe(&line)));
            Ok(lines.len() <= limit)
        });
        let searched = self
            .searcher
            .search_reader(&self.matcher, file.into_std(), sink);
        self.passed_over += usize::from(searched.is_err());
        self.files_matched += usize::from(self.lines.len() > before);
    }

    fn output(mut self) -> ToolOutput {
        let cut = self.lines.len() > self.limit;
        self.lines.truncate(self.limit);
        let found = format!(
            "{} in {}",
            show::count(self.lines.len(), "matching line", "matching lines"),
            show::count(self.files_matched, "file", "files")
        );
        let mut text = if self.lines.is_empty() {
            format!("No match in {}.", show::count(self.files, "file", "files"))
        } else {
            self.lines.join("\n")
        };
        if cut {
            text.push_str(&format!(
                "\n… cut after {} lines: narrow the pattern or the path",
                self.limit
            ));
        }
        if self.files >= FILES_LIMIT {
            text.push_str(&format!(
                "\n… stopped after {FILES_LIMIT} files: narrow the path"
            ));
        }
        if self.passed_over > 0 {
            let files = show::count(self.passed_over, "file was", "files were");
            text.push_str(&format!(
                "\n{files} passed over (too large, or not readable as text)"
            ));
        }
        ToolOutput::text(text, found)
    }
}
