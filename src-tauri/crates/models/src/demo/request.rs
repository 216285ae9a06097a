//! What the demonstration model knows: the body of the request and nothing else.

use longrein_core::passage::heading_source;
use longrein_protocol::SourceId;
use serde_json::Value;

use super::long;
use super::staged::asked_of_helper;

/// How messages of the harness begin.
const HARNESS: &str = "[harness]";
/// What a helper's instructions say.
const HELPER: &str = "You are a helper in a larger piece of work.";
/// How the reports of helpers begin.
const REPORT: &str = "The helpers of the stage report";
/// How the harness begins to say that the work is not done.
const OFF: &str = "You stopped, but";
/// How the harness begins to say what it keeps of what it took out.
const KEPT: &str = "Older parts of this conversation";
/// How a tail begins.
const TAIL: &str = "step ";
/// How the harness begins to speak of a stage.
const STAGE: &str = "Stage ";
/// How the fence around untrusted text begins and ends.
const FENCES: [&str; 2] = ["<untrusted ", "</untrusted "];

/// What is said of a result that was too long to be shown, and what stands before its name.
const TOO_LONG: &str = ": too long to be shown whole. ";
const NAMED: &str = "read_result with \"result\": \"";
/// What is said of a result that a compaction took out.
const PRUNED: [&str; 2] = [" bytes; read_result with ", " bytes, kept in the log as "];

/// A request, read.
#[derive(Default, Debug)]
pub(crate) struct Seen {
    /// The person's first words.
    pub question: String,
    /// All of the person's words.
    pub asked: String,
    /// Names of the tools that are given.
    pub tools: Vec<String>,
    /// Replies that the request already holds.
    pub replies: usize,
    /// Actions since the person last said something, in order.
    pub actions: Vec<Action>,
    /// What the harness said since then, without the tail, with the number of actions before it.
    pub notices: Vec<(usize, String)>,
    /// The tail: what is left, the stage and the plan.
    pub tail: String,
    /// Passages, each once, in the order in which they came.
    pub passages: Vec<Passage>,
    /// What was searched for.
    pub searches: Vec<String>,
    /// The stage of the agent's path, where it has one.
    pub stage: Option<String>,
    /// Whether it does a part of somebody else's work.
    pub is_helper: bool,
    /// What was kept of a document that is too long to be shown.
    pub kept: Option<Kept>,
}

/// The lines that were kept of a document that is too long to be shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Kept {
    /// The document's title.
    pub title: String,
    /// How many lines were kept.
    pub lines: usize,
    /// How many lines a program looked at; `None` where it was no program.
    pub looked_at: Option<usize>,
}

/// What stands in the place of a result that was too long.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Preview {
    /// How the result is named to `read_result`.
    pub name: String,
    /// The file that holds it whole.
    pub file: Option<String>,
}

/// An action and what came of it.
#[derive(Debug)]
pub(crate) struct Action {
    pub tool: String,
    pub arguments: Value,
    id: String,
    /// The result as it was given.
    pub result: Option<String>,
}

impl Action {
    /// Whether it was tried and did not work.
    pub fn failed(&self) -> bool {
        self.result.as_deref().is_some_and(|result| {
            result
                .get(..5)
                .is_some_and(|start| start.eq_ignore_ascii_case("error"))
        })
    }

    /// What stands in the place of its result, where that was too long to be shown.
    pub fn preview(&self) -> Option<Preview> {
        let result = self.result.as_deref()?;
        let line = result.lines().find(is_no_fence)?;
        let (_, told) = line.split_once(TOO_LONG)?;
        let (before, named) = told.split_once(NAMED)?;
        Some(Preview {
            name: named.split('"').next()?.to_owned(),
            file: before
                .split_once(" holds it, and ")
                .map(|(file, _)| file.to_owned()),
        })
    }

    /// Whether a compaction took its result out.
    pub fn is_pruned(&self) -> bool {
        let first = self
            .result
            .as_deref()
            .and_then(|result| result.lines().find(is_no_fence));
        first.is_some_and(|line| {
            line.starts_with('[') && PRUNED.iter().any(|mark| line.contains(mark))
        })
    }
}

fn is_no_fence(line: &&str) -> bool {
    !FENCES.iter().any(|fence| line.starts_with(fence))
}

/// Words of a source.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Passage {
    pub source: SourceId,
    pub title: String,
    /// The document's file or address.
    pub place: String,
    /// Bytes within the document.
    pub range: Option<(u32, u32)>,
    pub text: String,
}

impl Seen {
    /// Reads a body of the chat format. What can't be read is not there.
    pub fn read(body: &[u8]) -> Self {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let mut seen = Self::default();
        let tools = body["tools"].as_array().into_iter().flatten();
        let names = tools.filter_map(|tool| tool["function"]["name"].as_str());
        seen.tools = names.map(str::to_owned).collect();
        for message in body["messages"].as_array().into_iter().flatten() {
            seen.take(message);
        }
        // What the harness says last may be the tail, which says how much is left.
        let last = seen.notices.last();
        if last.is_some_and(|(_, last)| last.starts_with(TAIL)) {
            seen.tail = seen.notices.pop().map(|(_, tail)| tail).unwrap_or_default();
        }
        if seen.is_helper {
            seen.asked = asked_of_helper(&seen.asked).to_owned();
        }
        long::keep_lines(&mut seen);
        seen
    }

    fn take(&mut self, message: &Value) {
        let text = message["content"].as_str().unwrap_or_default();
        match message["role"].as_str().unwrap_or_default() {
            "user" => match text.strip_prefix(HARNESS) {
                Some(notice) => {
                    self.enter(notice);
                    self.notices
                        .push((self.actions.len(), notice.trim().to_owned()));
                }
                None => self.ask(text.trim()),
            },
            "assistant" => {
                self.replies += 1;
                for call in message["tool_calls"].as_array().into_iter().flatten() {
                    self.act(call);
                }
            }
            "system" => self.is_helper = text.contains(HELPER),
            "tool" => self.learn(message["tool_call_id"].as_str().unwrap_or_default(), text),
            _ => {}
        }
    }

    /// What the harness says of the stage: `Stage 2 of 4: research.` in a line of its own, or
    /// `stage 2 of 4, research` in a tail.
    fn enter(&mut self, notice: &str) {
        let notice = notice.trim();
        if notice.starts_with(REPORT) {
            return;
        }
        let own = notice.lines().filter_map(|line| line.strip_prefix(STAGE));
        let in_tail = notice.lines().take(1);
        let in_tail = in_tail.filter_map(|line| Some(line.split_once("; stage ")?.1));
        let named = own.filter_map(|told| name_of_stage(told, ": "));
        let named = named.chain(in_tail.filter_map(|told| name_of_stage(told, ", ")));
        if let Some(name) = named.last() {
            self.stage = Some(name.to_owned());
        }
    }

    /// New words of the person begin a new piece of work; what was read stays.
    fn ask(&mut self, words: &str) {
        if self.question.is_empty() {
            self.question = words.to_owned();
        }
        self.asked = format!("{} {words}", self.asked).trim().to_owned();
        self.actions.clear();
        self.notices.clear();
    }

    fn act(&mut self, call: &Value) {
        let function = &call["function"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let arguments: Value =
            serde_json::from_str(&text(&function["arguments"])).unwrap_or_default();
        let tool = text(&function["name"]);
        if let (true, Some(query)) = (tool == "search_library", arguments["query"].as_str())
            && !self.searches.iter().any(|search| search == query)
        {
            self.searches.push(query.to_owned());
        }
        if tool == "update_plan" {
            self.plan_searches(&arguments);
        }
        self.actions.push(Action {
            tool,
            arguments,
            id: text(&call["id"]),
            result: None,
        });
    }

    /// The parts of a plan that helpers look up.
    fn plan_searches(&mut self, plan: &Value) {
        for item in plan["items"].as_array().into_iter().flatten() {
            let text = item["text"].as_str().unwrap_or_default();
            let query = asked_of_helper(text);
            if query != text && !self.searches.iter().any(|search| search == query) {
                self.searches.push(query.to_owned());
            }
        }
    }

    fn learn(&mut self, id: &str, result: &str) {
        let Some(action) = self.actions.iter_mut().rev().find(|action| action.id == id) else {
            return;
        };
        action.result = Some(result.to_owned());
        let brings = matches!(action.tool.as_str(), "search_library" | "read_source");
        // The beginning of a long result breaks off anywhere.
        if brings && !action.failed() && action.preview().is_none() {
            for passage in passages(result) {
                if !self.passages.contains(&passage) {
                    self.passages.push(passage);
                }
            }
        }
    }

    /// Whether the work was not accepted after so many actions.
    pub fn is_sent_back(&self, after: usize) -> bool {
        let refused = |action: &Action| action.tool == "finish" && action.failed();
        let told = |(place, notice): &(usize, String)| *place > after && notice.starts_with(OFF);
        self.actions.iter().skip(after).any(refused) || self.notices.iter().any(told)
    }

    /// What the harness says is not done, or does not hold.
    pub fn objections(&self) -> impl Iterator<Item = &str> {
        let notices = self.notices.iter().map(|(_, notice)| notice.as_str());
        notices.filter(|notice| notice.starts_with(OFF))
    }

    /// The plan as the harness tells it, once the model's own words made room: the texts of its items.
    pub fn plan_told(&self) -> Vec<String> {
        const STATES: [&str; 4] = ["open: ", "doing: ", "done: ", "dropped: "];
        let kept = self.notices.iter().map(|(_, notice)| notice.as_str());
        let kept = kept.filter(|notice| notice.starts_with(KEPT));
        let items = |notice: &str| {
            let lines = notice.lines().filter_map(|line| line.strip_prefix("- "));
            let texts = lines.filter_map(|item| {
                let mut states = STATES.iter();
                states.find_map(|state| item.strip_prefix(state).map(str::to_owned))
            });
            texts.collect::<Vec<String>>()
        };
        // The tail is the latest, where it tells of the plan.
        let mut told = kept
            .chain([self.tail.as_str()])
            .map(items)
            .filter(|items| !items.is_empty());
        told.next_back().unwrap_or_default()
    }

    /// What helpers reported.
    pub fn reports(&self) -> impl Iterator<Item = &str> {
        let notices = self.notices.iter().map(|(_, notice)| notice.as_str());
        notices.filter(|notice| notice.starts_with(REPORT))
    }

    /// The passage in which a quote stands.
    pub fn passage_of(&self, source: SourceId, quote: &str) -> Option<&Passage> {
        self.passages.iter().find(|passage| {
            let text = passage
                .text
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ");
            passage.source == source && text.contains(quote)
        })
    }

    /// Whether the model is given a tool.
    pub fn has(&self, tool: &str) -> bool {
        self.tools.iter().any(|name| name == tool)
    }

    /// The place of the last action with a tool, counted from 0.
    pub fn last(&self, tool: &str) -> Option<usize> {
        self.actions.iter().rposition(|action| action.tool == tool)
    }

    /// How many actions with a tool there were.
    pub fn count(&self, tool: &str) -> usize {
        self.actions
            .iter()
            .filter(|action| action.tool == tool)
            .count()
    }
}

/// The passages of a result: each begins with its heading and ends with the next one or with the
/// fence.
fn passages(result: &str) -> Vec<Passage> {
    let mut passages: Vec<Passage> = Vec::new();
    let mut inside = false;
    for line in result.lines() {
        if FENCES.iter().any(|fence| line.starts_with(fence)) {
            inside = false;
        } else if let Some(source) = heading_source(line) {
            passages.push(headed(source, line));
            inside = true;
        } else if let Some(passage) = passages.last_mut().filter(|_| inside)
            && !names(line, passage.source)
        {
            passage.text.push_str(line);
            passage.text.push('\n');
        }
    }
    for passage in &mut passages {
        passage.text.truncate(passage.text.trim_end().len());
    }
    passages
}

/// Whether a line speaks of a source by its id: then it is the tool's word, since no document
/// knows how this run numbers it.
fn names(line: &str, source: SourceId) -> bool {
    let id = source.to_string();
    line.split(|letter: char| !letter.is_alphanumeric())
        .any(|word| word == id)
}

/// Takes a heading apart: `[S3] The title (notes.md, page 4, bytes 120-560)`.
fn headed(source: SourceId, line: &str) -> Passage {
    let after = line.split_once("] ").map_or("", |(_, after)| after);
    let (title, place) = after.split_at(last_bracket(after));
    let place = place
        .strip_prefix('(')
        .and_then(|place| place.strip_suffix(')'))
        .unwrap_or(place);
    let range = place.rsplit_once("bytes ").and_then(|(_, range)| {
        let (start, end) = range.split_once('-')?;
        Some((start.parse().ok()?, end.parse().ok()?))
    });
    let place = place.split(", bytes ").next().unwrap_or(place);
    let place = place
        .rsplit_once(", page ")
        .map_or(place, |(place, _)| place);
    Passage {
        source,
        title: title.trim().to_owned(),
        place: place.to_owned(),
        range,
        text: String::new(),
    }
}

/// The name in `2 of 4: research.`
fn name_of_stage<'t>(told: &'t str, mark: &str) -> Option<&'t str> {
    let (place, name) = told.split_once(mark)?;
    let is_place = place.split(" of ").all(|part| part.parse::<u32>().is_ok());
    let name = name.split(['.', '\n']).next()?;
    is_place.then_some(name)
}

/// Where the bracket begins that ends a text; brackets inside it belong to it.
fn last_bracket(text: &str) -> usize {
    let mut depth = 0;
    for (position, letter) in text.char_indices().rev() {
        match letter {
            ')' => depth += 1,
            '(' if depth == 1 => return position,
            '(' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_is_read_by_who_said_what() {
        let body = json!({
            "tools": [{"function": {"name": "search_library"}}],
            "messages": [
                {"role": "system", "content": "rules"},
                {"role": "user", "content": "What is a木?"},
                {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "c1", "function": {"name": "search_library", "arguments": "{\"query\":\"木\"}"}},
                    {"id": "c2", "function": {"name": "read_source", "arguments": "{"}}]},
                {"role": "tool", "tool_call_id": "c2", "content": "error: not_found\nno S9"},
                {"role": "tool", "tool_call_id": "c1", "content": "<untrusted id=\"1\" from=\"search_library\">\n1 passage of 1 document\n[S2] Trees (and more) (a (1).md, page 3, bytes 5-90)\nA tree stands.\n\nIt grows.\n\nThat is the end of S2.\n</untrusted id=\"1\">\nnot a passage"},
                {"role": "user", "content": "[harness] You stopped."},
                {"role": "user", "content": "[harness] step 3 of 80"},
            ],
        });
        let seen = Seen::read(body.to_string().as_bytes());
        assert_eq!((seen.question.as_str(), seen.replies), ("What is a木?", 1));
        assert!(seen.has("search_library") && !seen.has("finish"));
        assert_eq!(seen.notices, [(2, "You stopped.".to_owned())]);
        assert!(seen.actions[1].failed() && !seen.actions[0].failed());
        assert_eq!(
            seen.passages,
            [Passage {
                source: SourceId(2),
                title: "Trees (and more)".into(),
                place: "a (1).md".into(),
                range: Some((5, 90)),
                text: "A tree stands.\n\nIt grows.".into(),
            }]
        );
    }

    #[test]
    fn new_words_begin_new_work_and_keep_what_was_read() {
        let body = json!({"messages": [
            {"role": "user", "content": "first"},
            {"role": "assistant", "content": "", "tool_calls": [
                {"id": "c1", "function": {"name": "search_library", "arguments": "{\"query\":\"q\"}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "[S1] T (t.md, bytes 0-4)\nWords."},
            {"role": "user", "content": "second"},
        ]});
        let seen = Seen::read(body.to_string().as_bytes());
        assert_eq!(
            (seen.question.as_str(), seen.asked.as_str()),
            ("first", "first second")
        );
        assert_eq!(
            (seen.actions.len(), seen.passages.len(), seen.searches.len()),
            (0, 1, 1)
        );
    }

    #[test]
    fn what_is_no_request_is_an_empty_one() {
        assert_eq!(Seen::read(b"\xff").replies, 0);
    }
}
