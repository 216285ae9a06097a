//! A server's prompts. They are the person's to use, not the model's: they are listed for them.

use std::time::Duration;

use longrein_protocol::ToolErrorClass;
use longrein_runtime::ports::ToolError;
use rmcp::model::PaginatedRequestParams;
use tokio::time::timeout;

use crate::clean::{head, plain, without_hidden};
use crate::server::Link;

/// How long the list may take.
const LIST_LIMIT: Duration = Duration::from_secs(30);

/// The most pages that are read.
const PAGES_MAX: usize = 16;

/// The most prompts that are listed.
const PROMPTS_MAX: usize = 500;

/// The longest name or description.
const WORDS_BYTES: usize = 500;

/// A prompt that a server offers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Prompt {
    /// Its name.
    pub name: String,
    /// What it is for; may be empty.
    pub description: String,
    /// Names of its arguments, those that are needed first.
    pub arguments: Vec<String>,
}

/// Lists them; none where the server has none.
pub(crate) async fn list(link: &Link) -> Result<Vec<Prompt>, ToolError> {
    let what = format!("The list of prompts of {}", link.name());
    let live = link.live(&what).await?;
    let has_any = live
        .peer
        .peer_info()
        .is_some_and(|info| info.capabilities.prompts.is_some());
    let mut prompts = Vec::new();
    if !has_any {
        return Ok(prompts);
    }
    let mut cursor: Option<String> = None;
    for _ in 0..PAGES_MAX {
        let params = cursor
            .take()
            .map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        let failed = |why: String| {
            let why = link.secrets().mask(head(&plain(&why), WORDS_BYTES));
            ToolError::new(
                ToolErrorClass::Failed,
                format!("{what} can't be read: {why}."),
            )
        };
        let page = timeout(LIST_LIMIT, live.peer.list_prompts(params))
            .await
            .map_err(|_| failed("it did not come in time".to_owned()))?
            .map_err(|error| failed(error.to_string()))?;
        for prompt in page.prompts {
            let mut arguments = prompt.arguments.unwrap_or_default();
            arguments.sort_by_key(|argument| argument.required != Some(true));
            prompts.push(Prompt {
                name: clean(&prompt.name),
                description: clean(prompt.description.as_deref().unwrap_or_default()),
                arguments: arguments.iter().map(|one| clean(&one.name)).collect(),
            });
        }
        cursor = page.next_cursor;
        if cursor.is_none() || prompts.len() >= PROMPTS_MAX {
            break;
        }
    }
    prompts.truncate(PROMPTS_MAX);
    Ok(prompts)
}

fn clean(text: &str) -> String {
    head(&without_hidden(&plain(text)), WORDS_BYTES)
}
