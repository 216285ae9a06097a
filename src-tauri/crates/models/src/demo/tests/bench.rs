//! A library with the tools on it, for one conversation with the demonstration model.

use longrein_core::dialect::{Dialect, Head, Message, Parameters, Said};
use longrein_core::evidence::{Found, QuoteMatch, find_quote, tokens};
use longrein_core::passage;
use longrein_protocol::source::{SourceMeta, TextRange};
use longrein_protocol::tool::Repeat;
use longrein_protocol::{Effect, SourceId, ToolSpec};
use longrein_runtime::ports::ReplyBlock;
use serde_json::{Value, json};

use super::super::reply;
use super::super::text::{same_word, terms, words};
use crate::openai_chat::ChatDialect;

/// More replies than any run of the rules may take.
pub(super) const REPLIES_LIMIT: usize = 30;

const TOOLS: [&str; 6] = [
    "update_plan",
    "search_library",
    "read_source",
    "write_file",
    "publish_artifact",
    "finish",
];

/// What the publisher says against a page.
type Objection = Box<dyn Fn(&str) -> String>;

/// A library with the tools on it, and the conversation so far.
pub(super) struct Bench {
    documents: Vec<(String, String)>,
    pub tools: Vec<ToolSpec>,
    pub messages: Vec<Message>,
    page: Option<String>,
    pub pages: usize,
    pub finished: Option<String>,
    /// Objections of the publisher, taken one by one.
    pub objections: Vec<Objection>,
    /// Tools that fail.
    pub broken: Vec<&'static str>,
}

impl Bench {
    pub fn new(question: &str, documents: &[(&str, &str)]) -> Self {
        let documents = documents
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        Self {
            documents: documents.collect(),
            tools: TOOLS.iter().map(|name| spec(name)).collect(),
            messages: vec![Message::user(question)],
            page: None,
            pages: 0,
            finished: None,
            objections: Vec::new(),
            broken: Vec::new(),
        }
    }

    pub fn body(&self) -> Vec<u8> {
        let dialect = ChatDialect::default();
        let head = dialect.head(Head {
            model: "researcher",
            system: "rules",
            tools: &self.tools,
            index: "",
        });
        let mut body: String = head.into_iter().map(|(_, bytes)| bytes).collect();
        let tail = Message::user("[harness] step 1 of 80");
        for (index, message) in self.messages.iter().chain([&tail]).enumerate() {
            body += &dialect.message(u32::try_from(index).unwrap(), message);
        }
        body += &dialect.closing(Parameters {
            max_output_tokens: 8_192,
            temperature: None,
            thinking: None,
            answer: None,
        });
        body.into_bytes()
    }

    /// Goes on until the model finishes; the tools that were called, reply by reply.
    pub fn run(&mut self) -> Vec<String> {
        let mut moves = Vec::new();
        while self.finished.is_none() {
            assert!(moves.len() < REPLIES_LIMIT, "it does not end: {moves:?}");
            let blocks = reply(&self.body()).blocks;
            let calls: Vec<(String, String, Value)> = blocks.iter().filter_map(call_of).collect();
            moves.push(
                calls
                    .iter()
                    .map(|(_, tool, _)| tool.as_str())
                    .collect::<Vec<_>>()
                    .join(" "),
            );
            self.messages.push(Message::Assistant {
                blocks: blocks.into_iter().map(said).collect(),
            });
            assert!(!calls.is_empty(), "{moves:?}");
            for (id, tool, arguments) in calls {
                let (text, failed) = match self.act(&tool, &arguments) {
                    Ok(text) => (text, false),
                    Err(text) => (format!("error: {text}"), true),
                };
                self.messages.push(Message::Result {
                    call: id,
                    name: tool,
                    text,
                    media: Vec::new(),
                    failed,
                });
            }
        }
        moves
    }

    fn act(&mut self, tool: &str, arguments: &Value) -> Result<String, String> {
        assert!(TOOLS.contains(&tool));
        if self.broken.contains(&tool) {
            return Err("failed\nit is broken".to_owned());
        }
        let text = |key: &str| arguments[key].as_str().unwrap_or_default().to_owned();
        match tool {
            "search_library" => Ok(self.search(&text("query"))),
            "read_source" => self.read(arguments),
            "write_file" => {
                assert_eq!(text("path"), "index.html");
                self.page = Some(text("content"));
                self.pages += 1;
                Ok("written".to_owned())
            }
            "publish_artifact" => match self.objections.pop() {
                Some(objection) => Err(format!(
                    "invalid_arguments\n{}",
                    objection(self.page.as_deref().unwrap())
                )),
                None => Ok("published".to_owned()),
            },
            "finish" => {
                self.finished = Some(text("summary"));
                Ok("accepted".to_owned())
            }
            _ => Ok("done".to_owned()),
        }
    }

    fn search(&self, query: &str) -> String {
        let terms = terms(query);
        let mut passages = String::new();
        for (number, (name, text)) in self.documents.iter().enumerate() {
            let said = words(text);
            if said
                .iter()
                .any(|word| terms.iter().any(|term| same_word(word, term)))
            {
                passages += &self.passage(number, name, text, 0, text.len());
            }
        }
        format!(
            "<untrusted id=\"ab12\" from=\"search_library\">\nFound:\n{passages}\n</untrusted id=\"ab12\">"
        )
    }

    fn passage(&self, number: usize, name: &str, text: &str, start: usize, end: usize) -> String {
        let meta = SourceMeta {
            title: format!("About {name}"),
            file: Some(name.to_owned()),
            ..SourceMeta::default()
        };
        let position = |at: usize| u32::try_from(at).unwrap();
        let range = TextRange {
            start: position(start),
            end: position(end),
            page: None,
        };
        let heading = passage::heading(SourceId(position(number) + 1), &meta, range);
        format!("{heading}\n{}\n\n", text[start..end].trim())
    }

    fn read(&self, arguments: &Value) -> Result<String, String> {
        let source: SourceId = arguments["source"].as_str().unwrap().parse().unwrap();
        let number = source.0 as usize - 1;
        let (name, text) = &self.documents[number];
        assert!(arguments["start"].as_u64() < arguments["end"].as_u64());
        Ok(self.passage(number, name, text, 0, text.len()))
    }

    pub fn page(&self) -> &str {
        self.page.as_deref().expect("there is a page")
    }

    /// Quotes of the page, each of which stands in the source that it names.
    pub fn quotes(&self) -> Vec<(u32, String)> {
        let text = unescaped(self.page());
        let mut quotes = Vec::new();
        for found in tokens(&text) {
            let Found::Token(token) = found else {
                panic!("malformed: {found:?}")
            };
            for cited in token.cited {
                let quote = cited.quote.expect("every citation has words");
                let (_, source) = &self.documents[cited.source.0 as usize - 1];
                let found = find_quote(&quote, source);
                assert!(
                    matches!(found, QuoteMatch::Verbatim { .. }),
                    "“{quote}” in {source}: {found:?}"
                );
                quotes.push((cited.source.0, quote));
            }
        }
        quotes
    }
}

pub(super) fn spec(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: String::new(),
        schema: json!({"type": "object"}),
        effect: Effect::Read,
        repeat: Repeat::Repeatable,
        timeout_ms: 1,
        result_tokens: 1,
        path_arguments: Vec::new(),
        reach: longrein_protocol::tool::Reach::default(),
        recovery: longrein_protocol::tool::Recovery::default(),
        untrusted: false,
    }
}

fn call_of(block: &ReplyBlock) -> Option<(String, String, Value)> {
    match block {
        ReplyBlock::ToolUse {
            id,
            name,
            arguments,
            ..
        } => Some((
            id.clone(),
            name.clone(),
            serde_json::from_str(arguments).unwrap(),
        )),
        _ => None,
    }
}

fn said(block: ReplyBlock) -> Said {
    match block {
        ReplyBlock::Text { text, raw } => Said::Text { text, raw },
        ReplyBlock::Thinking { text, raw } => Said::Thinking { text, raw },
        ReplyBlock::ToolUse {
            id,
            name,
            arguments,
            raw,
        } => Said::ToolUse {
            id,
            name,
            arguments,
            raw,
        },
    }
}

fn unescaped(html: &str) -> String {
    html.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}
