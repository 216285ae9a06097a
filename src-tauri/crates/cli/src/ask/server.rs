//! A server's question, asked field by field.

use longrein_core::question::{self, Mistake};
use longrein_protocol::gate::Surface;
use longrein_protocol::question::{Field, Reply, ServerQuestion, Wants};
use longrein_protocol::wish::Wish;
use serde_json::{Map, Value};

use super::{ASKED_LIMIT, Desk, Line, Said, choices};
use crate::browser;
use crate::failure::Failure;
use crate::text;

/// Asks whether a form is filled in.
const FORM_PROMPT: &str = "Fill it in? [f]ill in, [d]ecline, or Ctrl-D to give no answer:";

/// What came of asking for a value.
enum Filled {
    Values(Map<String, Value>),
    Instead(Said),
}

impl Desk<'_> {
    /// Asks a server's question. It can't be left for later: the server waits.
    pub(super) async fn server_question(
        &mut self,
        asked: &ServerQuestion,
    ) -> Result<Option<Said>, Failure> {
        let reply = |answer: Reply| self.reply(asked.number, answer);
        let dismissed = reply(Reply::Dismissed);
        let declined = reply(Reply::Declined);
        let given = |desk: &Self, values| desk.reply(asked.number, Reply::Given { values });
        let prompt = match &asked.wants {
            Wants::Form { .. } => FORM_PROMPT.to_owned(),
            Wants::Visit { host, .. } => format!(
                "Open {} in your browser? [o]pen, [v]isited already, [d]ecline, or Ctrl-D to give no answer:",
                text::plain(host)
            ),
        };
        let line = match self.line(&prompt).await? {
            Line::Words(line) => line,
            Line::None(Said::Later) => return Ok(Some(dismissed)),
            Line::None(said) => return Ok(Some(said)),
        };
        Ok(match (line.to_lowercase().as_str(), &asked.wants) {
            ("d" | "decline" | "no", _) => Some(declined),
            ("f" | "fill in", Wants::Form { fields }) => match self.filled(fields).await? {
                Some(Filled::Values(values)) => Some(given(self, values)),
                Some(Filled::Instead(Said::Later)) => Some(dismissed),
                Some(Filled::Instead(said)) => Some(said),
                None => None,
            },
            ("o" | "open", Wants::Visit { url, .. }) => match browser::open(url) {
                Ok(()) => Some(given(self, Map::new())),
                Err(failure) => {
                    failure.told();
                    None
                }
            },
            ("v" | "visited", Wants::Visit { .. }) => Some(given(self, Map::new())),
            _ => self.again(&line),
        })
    }

    fn reply(&self, number: u32, answer: Reply) -> Said {
        match self.ask.what.action() {
            Some(action) => Said::Wish(Wish::Reply {
                action: action.id.clone(),
                number,
                answer,
                from: Surface::Command,
            }),
            None => Said::Later,
        }
    }

    /// The values of a form, field by field; `None` where the person wants to begin again.
    async fn filled(&mut self, fields: &[Field]) -> Result<Option<Filled>, Failure> {
        let mut values = Map::new();
        for field in fields {
            match self.value_of(field).await? {
                Ok(Some(value)) => {
                    values.insert(field.name.clone(), value);
                }
                Ok(None) => {}
                Err(said) => return Ok(Some(Filled::Instead(said))),
            }
        }
        let values = match question::checked(fields, values) {
            Ok(values) => values,
            Err(mistakes) => {
                self.screen
                    .say(&text::plain(&question::in_words(&mistakes)));
                return Ok(None);
            }
        };
        let shown = serde_json::to_string(&values)?;
        let prompt = format!("Send {} ? y/N:", text::plain(&shown));
        Ok(match self.line(&prompt).await? {
            Line::Words(line) if choices::is_yes(&line) => Some(Filled::Values(values)),
            Line::Words(_) => None,
            Line::None(said) => Some(Filled::Instead(said)),
        })
    }

    async fn value_of(&mut self, field: &Field) -> Result<Result<Option<Value>, Said>, Failure> {
        let mut prompt = format!("{}: {}", field.title, question::hint(field));
        match (&field.default, field.required) {
            (Some(default), _) => prompt.push_str(&format!("; Enter takes {default}")),
            (None, false) => prompt.push_str("; Enter leaves it out"),
            (None, true) => {}
        }
        prompt.push(':');
        for _ in 0..ASKED_LIMIT {
            let line = match self.line(&text::plain(&prompt)).await? {
                Line::Words(line) => line,
                Line::None(said) => return Ok(Err(said)),
            };
            match question::typed(field, &line) {
                Ok(value) => return Ok(Ok(value)),
                Err(why) => {
                    let mistake = Mistake {
                        field: field.title.clone(),
                        why: why.to_string(),
                    };
                    self.screen
                        .say(&text::plain(&question::in_words(&[mistake])));
                }
            }
        }
        Ok(Err(Said::Later))
    }
}
