//! What every log has to do, whatever it keeps its facts in.

use longrein_keys::{Known, SecretText};
use longrein_protocol::agent::{Decision, PolicyRule};
use longrein_protocol::body::NewBlob;
use longrein_protocol::event::{RunCancelled, Verdict};
use longrein_protocol::gate::{Always, Scope, Surface};
use longrein_protocol::wish::Wish;
use longrein_protocol::{ActionId, BlobHash, RunId};
use longrein_store::{
    Append, Fault, FaultKind, Log, LogError, MemoryLog, Moment, RunAppend, Store,
};

use crate::sample::Sample;
use crate::support::{
    AnyLog, IN_FLIGHT, TOPIC, append, assert_same, begun, block_on, go_on, line_of, noise,
};

/// One test for each implementation.
macro_rules! both {
    ($($name:ident)*) => {
        mod sqlite {
            use super::*;
            $(#[test] fn $name() {
                let folder = tempfile::tempdir().unwrap();
                let store = Store::open(folder.path()).unwrap();
                block_on(super::$name(&store));
            })*
        }
        mod memory {
            use super::*;
            $(#[test] fn $name() { block_on(super::$name(&MemoryLog::new())); })*
        }
    };
}

both! {
    what_was_appended_is_read_back_in_pages
    events_that_do_not_follow_are_refused_and_leave_no_trace
    a_run_that_nobody_began_is_not_there
    an_old_fence_is_refused
    a_run_of_another_tree_is_refused
    two_runs_become_durable_together_or_not_at_all
    blobs_come_back_whole_and_are_known_by_hash
    a_wish_is_there_until_an_event_answers_it
    a_wish_stays_when_its_append_is_refused
    a_secret_in_a_wish_is_never_in_the_inbox
    lists_are_newest_first_and_go_on_page_by_page
    appends_in_flight_at_once_keep_their_order
}

async fn what_was_appended_is_read_back_in_pages(log: &impl AnyLog) {
    let mut sample = Sample::new(1, TOPIC);
    let fence = log.fence(sample.run).await.unwrap();
    let mut events = sample.beginning();
    log.append(append(fence, &sample, events.clone()))
        .await
        .unwrap();
    events.extend(go_on(log, &mut sample, fence, 5).await);

    let whole = log.read(sample.run, 1, 1_000).await.unwrap();
    assert_eq!(whole.damage, None);
    assert_same(&whole.events, &events);
    let page = log.read(sample.run, 4, 3).await.unwrap();
    assert_same(&page.events, &events[3..6]);
    let beyond = log.read(sample.run, 1_000, 10).await.unwrap();
    assert_same(&beyond.events, &[]);
    assert_eq!(log.line(sample.run).await.unwrap(), line_of(&sample));
}

async fn events_that_do_not_follow_are_refused_and_leave_no_trace(log: &impl AnyLog) {
    let (mut sample, fence) = begun(log, 2).await;
    let _lost = sample.event(RunCancelled {});
    let gap = sample.event(RunCancelled {});
    let refused = log.append(append(fence, &sample, vec![gap])).await;
    let run = sample.run;
    let LogError::Sequence {
        last: 2, given: 4, ..
    } = refused.clone().unwrap_err()
    else {
        panic!("{refused:?}");
    };
    sample.seq = 1;
    let repeated = sample.event(RunCancelled {});
    assert!(matches!(
        log.append(append(fence, &sample, vec![repeated])).await,
        Err(LogError::Sequence {
            last: 2,
            given: 2,
            ..
        })
    ));
    assert_eq!(log.read(run, 1, 100).await.unwrap().events.len(), 2);
    assert_eq!(log.line(run).await.unwrap().seq, 2);
    go_on(log, &mut sample, fence, 1).await;
}

async fn a_run_that_nobody_began_is_not_there(log: &impl AnyLog) {
    let run = RunId::from_parts(7, 7);
    assert!(matches!(log.read(run, 1, 10).await, Err(LogError::NoRun(missing)) if missing == run));
    assert!(matches!(log.line(run).await, Err(LogError::NoRun(_))));
    assert!(matches!(
        log.post(run, Wish::Cancel, 1).await,
        Err(LogError::NoRun(_))
    ));
    assert!(log.wishes(run).await.unwrap().is_empty());
}

async fn an_old_fence_is_refused(log: &impl AnyLog) {
    let (mut sample, old) = begun(log, 3).await;
    let new = log.fence(sample.run).await.unwrap();
    assert!(new > old);
    let late = sample.event(RunCancelled {});
    let refused = log.append(append(old, &sample, vec![late.clone()])).await;
    assert!(matches!(refused, Err(LogError::Fenced)), "{refused:?}");
    log.append(append(new, &sample, vec![late])).await.unwrap();
    assert_eq!(log.read(sample.run, 1, 10).await.unwrap().events.len(), 3);
}

async fn a_run_of_another_tree_is_refused(log: &impl AnyLog) {
    let (mut mine, _) = begun(log, 4).await;
    let (_, other) = begun(log, 5).await;
    let event = mine.event(RunCancelled {});
    let refused = log.append(append(other, &mine, vec![event])).await;
    assert!(matches!(refused, Err(LogError::Fenced)), "{refused:?}");
    assert_eq!(log.read(mine.run, 1, 10).await.unwrap().events.len(), 2);
}

async fn two_runs_become_durable_together_or_not_at_all(log: &impl AnyLog) {
    let (mut parent, fence) = begun(log, 6).await;
    let mut child = Sample::new(7, TOPIC);
    let part = |sample: &Sample, events| RunAppend {
        run: sample.run,
        events,
        line: line_of(sample),
    };
    let spawned = parent.event(RunCancelled {});
    let begun = child.beginning();
    let mut both = Append {
        fence,
        runs: vec![part(&child, begun.clone()), part(&parent, vec![spawned])],
        blobs: vec![NewBlob::of(b"handed over".to_vec())],
        taken: Vec::new(),
    };
    // The second half does not follow, so the first must not stay.
    both.runs[1].events[0].seq += 1;
    assert!(log.append(both.clone()).await.is_err());
    assert!(matches!(
        log.read(child.run, 1, 10).await,
        Err(LogError::NoRun(_))
    ));
    assert!(log.blob(both.blobs[0].hash).await.is_err());

    both.runs[1].events[0].seq -= 1;
    log.append(both).await.unwrap();
    assert_same(&log.read(child.run, 1, 10).await.unwrap().events, &begun);
    assert_eq!(log.read(parent.run, 1, 10).await.unwrap().events.len(), 3);
}

async fn blobs_come_back_whole_and_are_known_by_hash(log: &impl AnyLog) {
    let (mut sample, fence) = begun(log, 8).await;
    let blobs = vec![
        NewBlob::of(Vec::new()),
        NewBlob::of(b"a short text, and again a short text, and again".to_vec()),
        NewBlob::of(vec![b'x'; 3 << 20]),
        noise(1, 40 << 10),
        noise(2, 300 << 10),
    ];
    for _ in 0..2 {
        let mut with = append(fence, &sample, vec![]);
        with.runs[0].events = vec![sample.event(RunCancelled {})];
        with.blobs.clone_from(&blobs);
        log.append(with).await.unwrap();
    }
    for blob in &blobs {
        assert_eq!(*log.blob(blob.hash).await.unwrap(), blob.bytes[..]);
    }
    let missing = BlobHash::of(b"never stored");
    assert!(matches!(log.blob(missing).await, Err(LogError::Blob(hash)) if hash == missing));
}

async fn a_wish_is_there_until_an_event_answers_it(log: &impl AnyLog) {
    let (mut sample, fence) = begun(log, 9).await;
    let (other, _) = begun(log, 10).await;
    let say = Wish::Say {
        text: "only papers since 2024".to_owned(),
    };
    let first = log.post(sample.run, say.clone(), 5).await.unwrap();
    let second = log.post(sample.run, Wish::Pause, 6).await.unwrap();
    log.post(other.run, Wish::Cancel, 7).await.unwrap();
    assert_eq!(
        log.wishes(sample.run).await.unwrap(),
        [(first, say), (second, Wish::Pause)]
    );

    let mut answer = append(fence, &sample, vec![]);
    answer.runs[0].events = vec![sample.event(RunCancelled {})];
    answer.taken = vec![first];
    log.append(answer).await.unwrap();
    assert_eq!(
        log.wishes(sample.run).await.unwrap(),
        [(second, Wish::Pause)]
    );
    assert_eq!(log.wishes(other.run).await.unwrap().len(), 1);
}

/// Every wish that holds a person's words, with this secret among them.
fn wishes_with(secret: &str) -> [Wish; 7] {
    let (text, action) = (format!("use {secret} now"), || ActionId("a-1".to_owned()));
    let edit = serde_json::json!({ "key": secret }).to_string();
    let rule = PolicyRule {
        tool: None,
        effect: None,
        args: [("key".to_owned(), secret.to_owned())].into(),
        path: Some(text.clone()),
        host: Some(text.clone()),
        command: Some(text.clone()),
        decision: Decision::Allow,
    };
    let always = Always {
        scope: Scope::Run,
        rules: vec![rule],
        tainted: false,
    };
    let from = Surface::Command;
    [
        Wish::Say { text: text.clone() },
        Wish::Give {
            text: text.clone(),
            attachments: Vec::new(),
        },
        Wish::Approve {
            action: action(),
            seen: BlobHash::of(b"seen"),
            edit: Some(edit),
            always: Some(always),
            from,
        },
        Wish::Deny {
            action: action(),
            reason: text.clone(),
            from,
        },
        Wish::Answer {
            action: action(),
            text: text.clone(),
            from,
        },
        Wish::Settle {
            action: action(),
            verdict: Verdict::Happened,
            result: Some(text.clone()),
            from,
        },
        Wish::Accept {
            accepted: false,
            note: text.clone(),
            from,
        },
    ]
}

async fn a_secret_in_a_wish_is_never_in_the_inbox(log: &impl AnyLog) {
    const SECRET: &str = "sk-wish>>/with\"quotes\\and=signs";
    Known::of_process().learn(&SecretText::new(SECRET));
    let (sample, _) = begun(log, 15).await;
    for wish in wishes_with(SECRET) {
        log.post(sample.run, wish, 5).await.unwrap();
    }
    let kept = log.wishes(sample.run).await.unwrap();
    assert_eq!(kept.len(), 7);
    let masked = format!("use {} now", "*".repeat(SECRET.len()));
    assert_eq!(kept[0].1, Wish::Say { text: masked });
    // A rule whose secret is masked would allow any text in its place.
    assert!(matches!(&kept[2].1, Wish::Approve { always: None, .. }));
    for (_, wish) in kept {
        let written = serde_json::to_string(&wish).unwrap();
        assert!(!written.contains("sk-wish"), "{written}");
    }
}

async fn a_wish_stays_when_its_append_is_refused(log: &impl AnyLog) {
    let (mut sample, fence) = begun(log, 11).await;
    let id = log.post(sample.run, Wish::Cancel, 5).await.unwrap();
    let mut answer = append(fence, &sample, vec![]);
    answer.runs[0].events = vec![sample.event(RunCancelled {})];
    answer.runs[0].events[0].seq += 1;
    answer.taken = vec![id];
    log.append(answer).await.unwrap_err();
    assert_eq!(log.wishes(sample.run).await.unwrap(), [(id, Wish::Cancel)]);
}

async fn lists_are_newest_first_and_go_on_page_by_page(log: &impl AnyLog) {
    let mut runs = Vec::new();
    for seed in 20..27 {
        runs.push(begun(log, seed).await.0.run);
    }
    runs.sort_unstable();
    runs.reverse();
    let (mut listed, mut before) = (Vec::new(), None);
    for _ in 0..4 {
        let page = log.lines(3, before).await.unwrap();
        listed.extend(page.iter().map(|line| line.run.parse::<RunId>().unwrap()));
        before = listed.last().copied();
    }
    assert_eq!(listed, runs);
}

async fn appends_in_flight_at_once_keep_their_order(log: &impl AnyLog) {
    let (mut sample, fence) = begun(log, 12).await;
    let waiting: Vec<_> = (0..IN_FLIGHT)
        .map(|_| {
            let event = sample.event(RunCancelled {});
            log.append(append(fence, &sample, vec![event]))
        })
        .collect();
    for outcome in futures::future::join_all(waiting).await {
        outcome.unwrap();
    }
    assert_eq!(
        log.read(sample.run, 1, 1_000).await.unwrap().events.len(),
        2 + IN_FLIGHT
    );
}

#[test]
fn one_that_is_refused_does_not_take_its_neighbours_down() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    block_on(async {
        let mut runs = Vec::new();
        for seed in 0..8 {
            runs.push(begun(&store, seed).await);
        }
        let appends: Vec<_> = runs
            .iter_mut()
            .enumerate()
            .map(|(number, (sample, fence))| {
                let mut event = sample.event(RunCancelled {});
                event.seq += u32::from(number % 2 == 1);
                store.append(append(*fence, sample, vec![event]))
            })
            .collect();
        let outcomes = futures::future::join_all(appends).await;
        for (number, outcome) in outcomes.iter().enumerate() {
            assert_eq!(
                outcome.is_ok(),
                number % 2 == 0,
                "append {number}: {outcome:?}"
            );
        }
        assert!(store.check(None).await.unwrap().is_whole());
    });
}

#[test]
fn many_appends_share_one_commit() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    block_on(async {
        let (mut sample, fence) = begun(&store, 1).await;
        let before = store.writer_stats();
        let appends: Vec<_> = (0..IN_FLIGHT)
            .map(|_| {
                let event = sample.event(RunCancelled {});
                store.append(append(fence, &sample, vec![event]))
            })
            .collect();
        for outcome in futures::future::join_all(appends).await {
            outcome.unwrap();
        }
        let after = store.writer_stats();
        assert_eq!(after.works - before.works, IN_FLIGHT as u64);
        assert!(
            after.commits - before.commits < IN_FLIGHT as u64,
            "{after:?}"
        );
    });
}

#[test]
fn a_closed_store_that_is_opened_again_has_everything() {
    let folder = tempfile::tempdir().unwrap();
    block_on(async {
        let store = Store::open(folder.path()).unwrap();
        let (mut sample, fence) = begun(&store, 1).await;
        go_on(&store, &mut sample, fence, 3).await;
        let head = store.head(sample.run).await.unwrap();
        drop(store);
        let store = Store::open(folder.path()).unwrap();
        assert_eq!(store.head(sample.run).await.unwrap(), head);
        assert!(store.check(None).await.unwrap().is_whole());
        go_on(&store, &mut sample, fence, 1).await;
    });
}

#[test]
fn a_crash_before_the_commit_leaves_nothing_and_after_it_everything() {
    for (moment, durable) in [(Moment::BeforeCommit, 2), (Moment::AfterCommit, 3)] {
        let log = MemoryLog::new();
        block_on(async {
            let (mut sample, fence) = begun(&log, 1).await;
            log.inject(Fault {
                append: 2,
                moment,
                kind: FaultKind::Crash,
            });
            let event = sample.event(RunCancelled {});
            let outcome = log.append(append(fence, &sample, vec![event])).await;
            assert!(matches!(outcome, Err(LogError::Closed)));
            assert!(matches!(
                log.read(sample.run, 1, 10).await,
                Err(LogError::Closed)
            ));
            assert!(matches!(
                log.wishes(sample.run).await,
                Err(LogError::Closed)
            ));
            let reopened = log.reopen();
            assert_eq!(
                reopened.read(sample.run, 1, 10).await.unwrap().events.len(),
                durable
            );
            assert_eq!(log.durable(sample.run).len(), durable);
        });
    }
}

#[test]
fn a_full_disk_in_memory_is_full_once_and_a_busy_one_goes_on() {
    let log = MemoryLog::new();
    block_on(async {
        let (mut sample, fence) = begun(&log, 1).await;
        let fault = |append, kind| Fault {
            append,
            moment: Moment::BeforeCommit,
            kind,
        };
        log.inject(fault(2, FaultKind::Full));
        log.inject(fault(3, FaultKind::Io));
        log.inject(fault(4, FaultKind::Busy(3)));
        let event = sample.event(RunCancelled {});
        let again = || log.append(append(fence, &sample, vec![event.clone()]));
        assert!(matches!(again().await, Err(LogError::Full { .. })));
        assert!(matches!(again().await, Err(LogError::Io { .. })));
        again().await.unwrap();
        assert_eq!(log.commits(), 2);
        assert_eq!(log.appends(), 4);
    });
}
