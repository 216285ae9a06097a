//! Questions on the card of an action: the model's, which it is, and those of a server, which come
//! while it runs.

use longrein_protocol::event::{
    Event, QuestionAnswered, QuestionAsked, QuestionRefused, QuestionWithdrawn,
};
use longrein_protocol::question::{Field, FieldKind, Replied, ServerQuestion, TextFormat, Wants};
use longrein_protocol::view::{
    ActionRow, ActionState, FieldLine, FieldLineKind, Knot, KnotShape, KnotTone, QuestionLine,
    SaidLine, ServerQuestionLine, ServerQuestionState,
};

use super::card::{title, waiting};
use super::rows::new_knot;
use super::{ROW_TEXT_BYTES, View, words};
use crate::compile::Content;
use crate::question::{self, DECLINE, VISITED};

impl View {
    pub(super) fn question(&mut self, asked: &QuestionAsked, content: &Content<'_>) -> Vec<String> {
        let text = content(&asked.question);
        if let Some(by) = &asked.by {
            return self.server_asks(asked, by, &text);
        }
        self.action(&asked.action, |row, knot| {
            *knot = waiting(&text, "asks you");
            row.state = ActionState::AsksYou;
            row.question = Some(QuestionLine {
                text,
                options: asked.options.clone(),
                answer: None,
            });
        })
    }

    fn server_asks(
        &mut self,
        asked: &QuestionAsked,
        by: &ServerQuestion,
        text: &str,
    ) -> Vec<String> {
        let line = open_line(by, text);
        self.action(&asked.action, |row, knot| {
            row.server_questions.push(line);
            show_the_open(row, knot);
        })
    }

    pub(super) fn question_answered(
        &mut self,
        event: &Event,
        answered: &QuestionAnswered,
        content: &Content<'_>,
    ) -> Vec<String> {
        let answer = content(&answered.answer);
        if answered.number > 0 {
            return self.server_answered(event, answered, &answer);
        }
        let changed = self.action(&answered.action, |row, knot| {
            row.state = ActionState::Succeeded;
            row.outcome = words::brief(&answer);
            row.said.push(SaidLine {
                words: "answered".to_owned(),
                note: String::new(),
                from: Some(answered.by),
                at: event.at,
            });
            let detail = format!("you: {}", row.outcome);
            *knot = new_knot(KnotShape::Ring, KnotTone::Plain, &knot.label, &detail);
            if let Some(question) = &mut row.question {
                question.answer = Some(answer);
            }
        });
        self.ended(&answered.action, true, changed)
    }

    fn server_answered(
        &mut self,
        event: &Event,
        answered: &QuestionAnswered,
        answer: &str,
    ) -> Vec<String> {
        let (state, said) = match answered.replied {
            Some(Replied::Declined) => (ServerQuestionState::Declined, "declined"),
            Some(Replied::Dismissed) => (ServerQuestionState::Dismissed, "gave no answer"),
            Some(Replied::Given) | None => (ServerQuestionState::Answered, "answered"),
        };
        self.action(&answered.action, |row, knot| {
            let mut said = said.to_owned();
            if let Some(line) = line_of(row, answered.number) {
                line.state = state;
                if state == ServerQuestionState::Answered && line.url.is_empty() {
                    line.answer = words::cut(answer, ROW_TEXT_BYTES);
                }
                said = format!("{said} the server {}", line.server);
            }
            row.said.push(SaidLine {
                words: said,
                note: String::new(),
                from: Some(answered.by),
                at: event.at,
            });
            show_the_open(row, knot);
        })
    }

    pub(super) fn question_withdrawn(&mut self, withdrawn: &QuestionWithdrawn) -> Vec<String> {
        self.action(&withdrawn.action, |row, knot| {
            if let Some(line) = line_of(row, withdrawn.number) {
                line.state = ServerQuestionState::Withdrawn;
                line.why.clone_from(&withdrawn.why);
            }
            show_the_open(row, knot);
        })
    }

    pub(super) fn question_refused(
        &mut self,
        refused: &QuestionRefused,
        content: &Content<'_>,
    ) -> Vec<String> {
        let text = content(&refused.question);
        self.action(&refused.action, |row, _| {
            row.server_questions.push(ServerQuestionLine {
                number: 0,
                server: refused.server.clone(),
                text: words::cut(&text, ROW_TEXT_BYTES),
                url: String::new(),
                host: String::new(),
                fields: Vec::new(),
                state: ServerQuestionState::Refused,
                answer: String::new(),
                why: refused.why.clone(),
            });
        })
    }
}

fn line_of(row: &mut ActionRow, number: u32) -> Option<&mut ServerQuestionLine> {
    let mut lines = row.server_questions.iter_mut();
    lines.find(|line| line.number == number && number > 0)
}

/// Shows the question of a server that waits longest, or, when none does any more, that the action
/// goes on.
fn show_the_open(row: &mut ActionRow, knot: &mut Knot) {
    let mut lines = row.server_questions.iter();
    let open = lines.find(|line| line.state == ServerQuestionState::Open);
    let waits = matches!(row.state, ActionState::Started | ActionState::AsksYou);
    match open {
        Some(line) if waits => {
            *knot = waiting(&line.text, &format!("{} asks you", line.server));
            row.question = Some(in_words(line));
            row.state = ActionState::AsksYou;
        }
        _ => {
            row.question = None;
            if row.state == ActionState::AsksYou {
                row.state = ActionState::Started;
                *knot = new_knot(KnotShape::Ring, KnotTone::Running, &title(row), "runs");
            }
        }
    }
}

/// A server's question for a surface that knows questions in words only.
fn in_words(line: &ServerQuestionLine) -> QuestionLine {
    let mut text = format!("The server {} asks: {}", line.server, line.text);
    let options = if line.url.is_empty() {
        let fields = line.fields.iter().map(|field| {
            let may = if field.required {
                ""
            } else {
                " (may be left out)"
            };
            format!("\n{}: {}{may}", field.name, field.hint)
        });
        text.extend(fields);
        vec![DECLINE.to_owned()]
    } else {
        text.push_str(&format!("\nA page of {}: {}", line.host, line.url));
        vec![VISITED.to_owned(), DECLINE.to_owned()]
    };
    QuestionLine {
        text,
        options,
        answer: None,
    }
}

fn open_line(by: &ServerQuestion, text: &str) -> ServerQuestionLine {
    let (url, host, fields) = match &by.wants {
        Wants::Visit { url, host } => (url.clone(), host.clone(), Vec::new()),
        Wants::Form { fields } => {
            let lines = fields.iter().map(field_line).collect();
            (String::new(), String::new(), lines)
        }
    };
    ServerQuestionLine {
        number: by.number,
        server: by.server.clone(),
        text: words::cut(text, ROW_TEXT_BYTES),
        url,
        host,
        fields,
        state: ServerQuestionState::Open,
        answer: String::new(),
        why: String::new(),
    }
}

fn field_line(field: &Field) -> FieldLine {
    let (kind, choices) = match &field.kind {
        FieldKind::Text { format, .. } => {
            let kind = match format {
                None => FieldLineKind::Text,
                Some(TextFormat::Email) => FieldLineKind::Email,
                Some(TextFormat::Uri) => FieldLineKind::Uri,
                Some(TextFormat::Date) => FieldLineKind::Date,
                Some(TextFormat::DateTime) => FieldLineKind::DateTime,
            };
            (kind, Vec::new())
        }
        FieldKind::Number { whole: true, .. } => (FieldLineKind::Whole, Vec::new()),
        FieldKind::Number { .. } => (FieldLineKind::Number, Vec::new()),
        FieldKind::YesNo => (FieldLineKind::YesNo, Vec::new()),
        FieldKind::One { choices } => (FieldLineKind::One, choices.clone()),
        FieldKind::Many { choices, .. } => (FieldLineKind::Many, choices.clone()),
    };
    let default = field.default.as_ref();
    FieldLine {
        name: field.name.clone(),
        title: field.title.clone(),
        description: field.description.clone(),
        hint: question::hint(field),
        required: field.required,
        default: default.map(ToString::to_string).unwrap_or_default(),
        kind,
        choices,
        how_many: question::how_many(field).unwrap_or_default(),
    }
}
