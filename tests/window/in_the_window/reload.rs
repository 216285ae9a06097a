//! The window may be loaded again at any time.

use longrein_runtime::ports::ReplyBlock;
use longrein_testkit::provider::{Answer, Content, Manner, Setup};
use longrein_testkit::reply::reply_of;
use longrein_testkit::{SeenRequest, provider};

use crate::desk::with_provider;
use crate::window::Window;

const WORDS: &str = "I have written the note and looked at the folder; what is left is to say so.";

/// Two calls, then words of which only the first come until the gate opens.
fn held_in_the_middle_of_an_answer() -> Setup {
    Setup::of(|request: &SeenRequest| match request.replies() {
        0 => answer(
            request,
            vec![
                call(
                    "write_file",
                    r##"{"path": "note.md", "content": "# A note"}"##,
                ),
                call("list_files", "{}"),
            ],
            Manner::default(),
        ),
        _ => {
            let held = Manner {
                by_character: true,
                hold_after: Some(40),
                ..Manner::default()
            };
            answer(
                request,
                vec![ReplyBlock::Text {
                    text: WORDS.to_owned(),
                    raw: None,
                }],
                held,
            )
        }
    })
}

fn call(name: &str, arguments: &str) -> ReplyBlock {
    ReplyBlock::ToolUse {
        id: String::new(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        raw: None,
    }
}

fn answer(request: &SeenRequest, blocks: Vec<ReplyBlock>, manner: Manner) -> provider::Answer {
    Answer {
        content: Content::Reply(reply_of(blocks, request)),
        manner: Some(manner),
    }
}

#[tokio::test]
async fn a_reload_in_the_middle_of_an_answer_shows_the_same() {
    let provider = with_provider(held_in_the_middle_of_an_answer()).await;
    let window = Window::open(&[]).await;
    window
        .type_into("start-question", "What is in the folder?")
        .await;
    window.press("start-run").await;
    provider.gate().reached(1).await;
    let streamed = "return document.querySelector('[data-testid=provisional]')?.innerText.includes('I have written the note') ?? false";
    window.until_script("the answer streams", streamed).await;
    window
        .until_script(
            "both cards are there",
            "return document.querySelectorAll('[data-testid=tool-card]').length === 2",
        )
        .await;
    let before = window.run_as_shown().await;
    window.picture("before-the-reload").await;

    window.reload().await;
    window
        .until_script("the answer is there again", streamed)
        .await;
    window
        .until_script(
            "both cards are there again",
            "return document.querySelectorAll('[data-testid=tool-card]').length === 2",
        )
        .await;
    window.picture("after-the-reload").await;
    assert_eq!(window.run_as_shown().await, before);

    provider.gate().open();
    window.find_css("[data-testid=run-end]").await;
    let ended = window.run_as_shown().await;
    assert!(
        ended
            .iter()
            .any(|row| row.contains("what is left is to say so")),
        "{ended:#?}"
    );
    window.reload().await;
    window.find_css("[data-testid=run-end]").await;
    assert_eq!(window.run_as_shown().await, ended);
    assert_eq!(provider.count(), 2, "a reload asks the model nothing");
    window.close().await;
}
