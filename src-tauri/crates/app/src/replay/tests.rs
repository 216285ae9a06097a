//! The demonstration, looked back at.

use std::collections::HashMap;
use std::time::Duration;

use longrein_core::view::{self, View};
use longrein_protocol::event::Payload;
use longrein_protocol::{ActionId, Body, Event, RunId};
use longrein_runtime::history;
use longrein_store::Log as _;
use tempfile::TempDir;

use super::{Inspector, ROWS_AT_A_POINT, RequestRecord, TextPage};
use crate::demo::DemoRun;
use crate::{AppErrorCode, Longrein, Options};

/// More events than the demonstration has.
const ALL: u32 = 10_000;

async fn demonstrated() -> (TempDir, Longrein, RunId, Vec<Event>) {
    let folder = tempfile::tempdir().unwrap();
    let app = Longrein::open(Options {
        data_dir: Some(folder.path().join("data")),
        pace: Duration::ZERO,
        surface: "test",
    });
    let app = app.unwrap();
    let driving = app.start_demo(DemoRun::default()).await.unwrap();
    let run = driving.run;
    driving.ended().await;
    let events = app.store().read(run, 1, ALL).await.unwrap().events;
    (folder, app, run, events)
}

/// The view of a run after each of its events, from the second on, folded one by one.
async fn views(app: &Longrein, events: &[Event]) -> Vec<View> {
    let mut view = View::default();
    let mut views = vec![view.clone()];
    for event in events {
        let mut texts = HashMap::new();
        for body in view::bodies_needed(event) {
            let text = String::from_utf8(app.content(body).await.unwrap()).unwrap();
            texts.insert(body.hash(), text);
        }
        view.apply(event, &|body: &Body| texts[&body.hash()].clone());
        views.push(view.clone());
    }
    views
}

async fn whole(mut page: impl AsyncFnMut(u32) -> TextPage) -> String {
    let (mut text, mut offset) = (String::new(), 0);
    loop {
        let read = page(offset).await;
        text.push_str(&read.text);
        match read.next {
            Some(next) => offset = next,
            None => return text,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_seen_as_it_was_at_each_of_its_events_in_any_order() {
    let (_folder, app, run, events) = demonstrated().await;
    let views = views(&app, &events).await;
    let last = events.len() as u32;
    // Forth, back, and to and fro.
    let forth = 1..=last;
    let back = (1..=last).rev();
    let fro = (1..=last).map(|seq| (seq * 7) % last + 1);
    for seq in forth.chain(back).chain(fro) {
        let then = app.view_at(run, Some(seq)).await.unwrap();
        assert_eq!(
            then,
            views[seq as usize].snapshot(ROWS_AT_A_POINT),
            "event {seq}"
        );
    }
    let now = app.view_at(run, None).await.unwrap();
    assert_eq!(now.seq, last);
    let earlier = app.rows_at(run, Some(last), last).await.unwrap();
    assert_eq!(
        earlier,
        views[last as usize].earlier_rows(last, ROWS_AT_A_POINT)
    );
    let beyond = app.view_at(run, Some(last + 1)).await.unwrap_err();
    assert_eq!(beyond.code, AppErrorCode::Usage, "{beyond}");
    assert!(app.view_at(run, Some(0)).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn every_event_is_a_point_and_the_line_has_the_knots_of_its_rows() {
    let (_folder, app, run, events) = demonstrated().await;
    let points = app.points(run, 1).await.unwrap();
    assert_eq!(points.next, None);
    let seqs: Vec<u32> = points.points.iter().map(|point| point.seq).collect();
    assert_eq!(seqs, (1..=events.len() as u32).collect::<Vec<_>>());
    for (point, event) in points.points.iter().zip(&events) {
        assert_eq!(point.kind, event.payload.name());
        assert!(!point.words.is_empty());
        let is_request = matches!(event.payload, Payload::ModelRequested(_));
        assert!(!is_request || point.opens == Inspector::Request);
    }
    let from = app.points(run, 9).await.unwrap().points;
    assert_eq!(from, points.points[8..]);
    let line = app.scrubber(run).await.unwrap();
    assert_eq!((line.seq as usize, line.left_out), (events.len(), 0));
    let steps = points.points.last().unwrap().step;
    assert_eq!(
        (line.steps, line.last_at),
        (steps, events.last().unwrap().at)
    );
    assert!(line.marks.windows(2).all(|two| two[0].seq <= two[1].seq));
    let knots = points.points.iter().filter(|point| point.knot.is_some());
    assert!(!line.marks.is_empty() && line.marks.len() <= knots.count());
}

fn compare_with_the_one_before(record: &RequestRecord, before: Option<&RequestRecord>) {
    let blocks = record.sections.iter().flat_map(|section| &section.blocks);
    let (kept, new): (Vec<_>, Vec<_>) = blocks.partition(|block| !block.is_new);
    let Some(before) = before else {
        return assert_eq!((kept.len(), record.dropped.len()), (0, 0));
    };
    let had = before.sections.iter().map(|section| section.blocks.len());
    assert_eq!(had.sum::<usize>() - record.dropped.len(), kept.len());
    assert!(!kept.is_empty() && !new.is_empty());
    assert_eq!(record.before, Some(before.seq));
    assert!(record.new_tokens < record.tokens);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_told_piece_by_piece_and_its_bytes_are_those_that_were_sent() {
    let (_folder, app, run, events) = demonstrated().await;
    let asked = events.iter().filter_map(|event| match &event.payload {
        Payload::ModelRequested(requested) => Some((event.seq, requested.clone())),
        _ => None,
    });
    let mut before: Option<RequestRecord> = None;
    for (place, (seq, requested)) in asked.enumerate() {
        let record = app.request_at(run, Some(seq)).await.unwrap();
        let number = place as u32 + 1;
        assert!(record.exact, "request {number}");
        assert_eq!(
            (record.seq, record.number, record.attempt),
            (seq, number, 1)
        );
        assert_eq!(
            (&record.sha256, record.bytes),
            (&requested.body_sha256, requested.body_bytes)
        );
        assert_eq!(
            format!("{}/{}", record.provider, record.model),
            requested.model
        );
        let blocks = record.sections.iter().flat_map(|section| &section.blocks);
        let blocks: Vec<_> = blocks.collect();
        assert_eq!(
            blocks.iter().map(|block| block.bytes).sum::<u32>(),
            record.bytes
        );
        compare_with_the_one_before(&record, before.as_ref());
        let told = history::request(app.store(), run, number)
            .await
            .unwrap()
            .unwrap();
        let bytes = whole(async |offset| app.request_bytes(run, Some(seq), offset).await.unwrap());
        assert_eq!(bytes.await.as_bytes(), &*told.sealed.bytes);
        let piece = blocks.last().unwrap().place;
        let exact = app
            .request_block(run, Some(seq), piece, (true, 0))
            .await
            .unwrap();
        assert!(told.sealed.bytes.ends_with(exact.text.as_bytes()));
        let answer = record.answer.clone().unwrap();
        assert_eq!(
            (answer.problem.as_str(), answer.usage.is_some()),
            ("", true)
        );
        // Where it was put together, and where it was answered, the same request is meant.
        for near in [seq - 1, answer.seq] {
            assert_eq!(app.request_at(run, Some(near)).await.unwrap(), record);
        }
        before = Some(record);
    }
    let person = before
        .unwrap()
        .sections
        .into_iter()
        .flat_map(|section| section.blocks);
    let person: Vec<_> = person.filter(|block| block.origin == "you").collect();
    assert!(
        !person.is_empty() && person[0].words.contains('?'),
        "{person:?}"
    );
    let early = app.request_at(run, Some(1)).await.unwrap_err();
    assert_eq!(early.code, AppErrorCode::NotFound, "{early}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_action_has_its_decision_its_start_and_its_whole_result() {
    let (_folder, app, run, events) = demonstrated().await;
    let mut checked = 0;
    for event in &events {
        let Payload::ActionFinished(finished) = &event.payload else {
            continue;
        };
        let id = &finished.action;
        let record = app.action_at(run, id, Some(event.seq)).await.unwrap();
        assert_eq!(record.finished, Some(event.seq));
        assert_eq!(record.decisions.len(), 1);
        assert_eq!(record.decisions[0].checks.len(), 8);
        // What says something to the harness itself does not start anything.
        let starts: &[u32] = if record.row.tool == "finish" {
            &[]
        } else {
            &[1]
        };
        assert!(record.starts.iter().map(|start| &start.attempt).eq(starts));
        assert_eq!(record.result_bytes as usize, finished.result.len());
        assert_eq!(record.receipt, finished.receipt.clone().unwrap_or_default());
        let kinds: Vec<&str> = record
            .life
            .iter()
            .map(|event| event.kind.as_str())
            .collect();
        assert_eq!(kinds[..2], ["action.proposed", "action.decided"]);
        let result = whole(async |offset| app.action_result(run, id, None, offset).await.unwrap());
        assert_eq!(
            result.await.into_bytes(),
            app.content(&finished.result).await.unwrap()
        );
        let arguments = app.action_arguments(run, id, None, 0).await.unwrap();
        assert!(serde_json::from_str::<serde_json::Value>(&arguments.text).is_ok());
        // Before it ended there was no result.
        let before = app.action_result(run, id, Some(event.seq - 1), 0).await;
        let started = app.action_at(run, id, Some(event.seq - 1)).await.unwrap();
        assert_eq!(started.finished, None);
        assert_eq!(before.unwrap_err().code, AppErrorCode::NotFound);
        checked += 1;
    }
    assert!(checked > 3, "{checked}");
    let nobody = app
        .action_at(run, &ActionId("nobody".to_owned()), None)
        .await;
    assert_eq!(nobody.unwrap_err().code, AppErrorCode::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_listed_read_and_compared_as_they_were() {
    let (_folder, app, run, events) = demonstrated().await;
    let last = events.len() as u32;
    let then = app.files_then(run, Some(last)).await.unwrap();
    let file = then
        .files
        .iter()
        .find(|file| file.path.ends_with(".html"))
        .unwrap();
    let text = whole(async |offset| app.file_text(run, None, &file.path, offset).await.unwrap());
    assert_eq!(text.await.len(), file.bytes as usize);
    assert!(app.files_then(run, Some(1)).await.unwrap().files.is_empty());
    let differs = app.files_difference(run, 1, last).await.unwrap();
    let added = differs
        .changes
        .iter()
        .find(|change| change.path == file.path)
        .unwrap();
    assert_eq!((&added.before, &added.after), (&None, &Some(file.clone())));
    let same = app.files_difference(run, last, last).await.unwrap();
    assert!(same.changes.is_empty());
    let missing = app
        .file_text(run, Some(1), &file.path, 0)
        .await
        .unwrap_err();
    assert_eq!(missing.code, AppErrorCode::NotFound);
}
