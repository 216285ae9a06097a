//! `publish_artifact`: delivers a file, with its citations rendered and its claims on record.

use std::sync::Arc;

use async_trait::async_trait;
use longrein_protocol::source::Claim;
use longrein_protocol::{BlobHash, Effect, SourceId, ToolSpec};
use longrein_runtime::ports::{Fact, NewArtifact, Tool, ToolCall, ToolError, ToolOutput};
use scraper::Html;
use serde::Deserialize;
use serde_json::json;

use crate::files::{Writing, lock};
use crate::page::{self, Media, PAGE_LIMIT_BYTES, Permits, Sources, Survey, Tally};
use crate::sources::cited_sources;
use crate::tool::{arguments, blocking, spec};
use crate::workspace::{Workspace, beneath, is_rendered};
use crate::{error, show};

/// The longest title, in characters.
const TITLE_LIMIT: usize = 200;
const TIMEOUT_MS: u32 = 60_000;

/// Delivers a file of the workspace.
pub(crate) struct PublishArtifact {
    spec: ToolSpec,
    writing: Writing,
}

impl PublishArtifact {
    pub(crate) fn tool(writing: Writing) -> Arc<dyn Tool> {
        let properties = json!({
            "path": {
                "type": "string", "minLength": 1,
                "description": "The file, relative to the workspace: HTML or Markdown with citations, or any other file.",
            },
            "title": {
                "type": "string", "minLength": 1, "maxLength": TITLE_LIMIT,
                "description": "Default: the page's own title.",
            },
        });
        let description = "Delivers a file to the person. In HTML and Markdown, cite sources in \
            the text as [S1] or [S1: \"exact words of the source\"]: the harness checks the words, \
            and every number beside a citation with its unit, against the source. It renders links \
            and the list of references, so write neither yourself. A few words about the page itself \
            may go into <header>, <aside> or <footer>. A page carries everything itself: no frames, \
            no addresses to load from, and no scripts where its claims are checked. Publish again \
            after every change.";
        let spec = ToolSpec {
            effect: Effect::Workspace,
            timeout_ms: TIMEOUT_MS,
            path_arguments: vec!["path".to_owned()],
            ..spec("publish_artifact", description, properties, &["path"])
        };
        Arc::new(Self { spec, writing })
    }
}

#[derive(Deserialize)]
struct Publish {
    path: String,
    title: Option<String>,
}

#[async_trait]
impl Tool for PublishArtifact {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, call: ToolCall) -> Result<ToolOutput, ToolError> {
        let asked: Publish = arguments(&call)?;
        let path = beneath(&asked.path)?;
        if is_rendered(&path) {
            return Err(error::invalid(format!(
                "`{path}` lies among the rendered copies; publish the file that you wrote"
            )));
        }
        let media = Media::of(&path);
        let context = Arc::clone(&call.context);
        let (root, file) = (context.workspace.clone(), path.clone());
        let (original, cited) =
            blocking(move || read(&Workspace::open(&root)?, &file, media)).await?;
        let sources = cited_sources(&context, &cited).await?;
        let writing = Arc::clone(&self.writing);
        let root = context.workspace.clone();
        blocking(move || {
            let made = make(&path, media, original, &sources)?;
            let title = [asked.title, Some(made.title)]
                .into_iter()
                .flatten()
                .find(|title| !title.trim().is_empty());
            let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
            let artifact = NewArtifact {
                title: show::safe(&title.unwrap_or(name)).trim().to_owned(),
                media_type: media.name().to_owned(),
                rendered_path: media.rendered_path(&path),
                original: made.original,
                rendered: made.rendered,
                ledger: made.ledger,
                path,
            };
            let _writing = lock(&writing);
            Workspace::open(&root)?.deliver(&artifact.rendered_path, &artifact.rendered)?;
            Ok(output(artifact))
        })
        .await
    }
}

/// Reads the file and says which sources it names. A page that cites in a wrong way is refused
/// here, with all its faults.
fn read(
    workspace: &Workspace,
    path: &str,
    media: Media,
) -> Result<(Vec<u8>, Vec<SourceId>), ToolError> {
    let original = workspace.read(path, PAGE_LIMIT_BYTES)?;
    if matches!(media, Media::Other(_)) {
        return Ok((original, Vec::new()));
    }
    let text = std::str::from_utf8(&original)
        .map_err(|_| error::invalid(format!("`{path}` is not UTF-8 text; write it anew")))?;
    let survey = page::survey(&parsed(path, text, media)?);
    refuse(path, &survey.faults)?;
    Ok((original, survey.cited().into_iter().collect()))
}

fn parsed(path: &str, text: &str, media: Media) -> Result<Html, ToolError> {
    page::parse(text, media)
        .map_err(|problem| error::invalid(format!("`{path}` can't be published: {problem}")))
}

fn refuse(path: &str, faults: &[String]) -> Result<(), ToolError> {
    if faults.is_empty() {
        return Ok(());
    }
    let faults = faults.join("\n- ");
    Err(error::invalid(format!(
        "`{path}` was not published. Mend these and publish it again:\n- {faults}"
    )))
}

/// An artifact in the making.
struct Made {
    title: String,
    original: Vec<u8>,
    rendered: Vec<u8>,
    ledger: Vec<Claim>,
}

fn make(path: &str, media: Media, original: Vec<u8>, sources: &Sources) -> Result<Made, ToolError> {
    if matches!(media, Media::Other(_)) {
        return Ok(Made {
            title: String::new(),
            rendered: original.clone(),
            original,
            ledger: Vec::new(),
        });
    }
    let page = parsed(path, &String::from_utf8_lossy(&original), media)?;
    let survey = page::survey(&page);
    refuse(path, &unknown(&survey, sources))?;
    let ledger = page::ledger(&survey, sources);
    let rendered = page::render(page, &survey, &ledger, sources).into_bytes();
    Ok(Made {
        title: survey.title,
        original,
        rendered,
        ledger,
    })
}

/// A fault for each source that the run does not have, with the place.
fn unknown(survey: &Survey, sources: &Sources) -> Vec<String> {
    let mut faults = Vec::new();
    for statement in &survey.statements {
        for cited in statement.token.iter().flat_map(|token| &token.cited) {
            if !sources.contains_key(&cited.source) && faults.len() < page::TOLD_LIMIT {
                faults.push(format!(
                    "`{}` at “{}” is no source of this run: cite one that search_library or another tool gave you",
                    cited.source,
                    show::brief(&statement.sentence, 100)
                ));
            }
        }
    }
    faults
}

fn output(artifact: NewArtifact) -> ToolOutput {
    let tally = Tally::of(&artifact.ledger);
    let mut works: Vec<&str> = artifact
        .ledger
        .iter()
        .map(|claim| claim.source.as_str())
        .filter(|id| !id.is_empty())
        .collect();
    works.sort_unstable();
    works.dedup();
    let mut text = format!("Published {} as {}", artifact.path, artifact.rendered_path);
    let outcome = if artifact.ledger.is_empty() {
        show::count(artifact.original.len(), "byte", "bytes")
    } else {
        let citations = show::count(tally.citations, "citation", "citations");
        let quotes = show::count(tally.quotes, "quote", "quotes");
        let numbers = tally.numbers_in_words();
        let verbatim = tally.verbatim;
        text.push_str(&format!(
            ": {citations} of {}, {verbatim} of {quotes} verbatim{numbers}, {} without a citation",
            show::count(works.len(), "source", "sources"),
            show::count(tally.uncited, "statement", "statements"),
        ));
        format!("{citations}, {verbatim} of {quotes} verbatim{numbers}")
    };
    text.push('.');
    let differences = page::differences(&artifact.ledger, Permits::NONE);
    if !differences.is_empty() {
        text.push_str("\nWhat does not hold yet:\n- ");
        text.push_str(&differences.join("\n- "));
    }
    ToolOutput {
        receipt: Some(BlobHash::of(&artifact.original).to_string()),
        facts: vec![Fact::Artifact(Box::new(artifact))],
        ..ToolOutput::text(text, outcome)
    }
}
