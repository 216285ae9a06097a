//! What a view draws: rows with keys, the same whether folded at once or followed.

use expect_test::expect;
use longrein_core::view::View;
use longrein_protocol::Body;
use longrein_protocol::view::{Row, RowContent};

use crate::play::play;

fn content(body: &Body) -> String {
    match body {
        Body::Text(text) => text.clone(),
        Body::Blob { blob, .. } => blob.to_string(),
    }
}

fn line(row: &Row) -> String {
    let content = match &row.content {
        RowContent::Question { text } => format!("question {text}"),
        RowContent::Answer { text, .. } => format!("answer {text}"),
        RowContent::Action(action) => format!(
            "action {} {:?} {}",
            action.tool, action.state, action.outcome
        ),
        RowContent::Notice { text } => format!("notice {text}"),
        RowContent::Verification { accepted, .. } => format!("verification {accepted}"),
        RowContent::Splice { text } => format!("splice {text}"),
        RowContent::Files { .. } => "files".to_owned(),
        RowContent::Compacted { .. } => "compacted".to_owned(),
        RowContent::ModelTrouble { text, retrying } => format!("trouble {text} {retrying}"),
        RowContent::Stop { state, text, .. } => format!("stop {state:?} {text}"),
        _ => "other".to_owned(),
    };
    let knot = row.knot.as_ref().map_or("no knot".to_owned(), |knot| {
        format!("{:?} {:?}", knot.shape, knot.tone)
    });
    format!("{} · {content} · {knot}", row.key)
}

const PLAY: &str = "created\nturn Go.\nreveal look mark post\ncompiled\nrequested
    asks a=look b=post\npropose a=look\npropose b=post\ndecide a allow\ndecide b ask\nask b\nstart a
    resumed interrupted\nstart a 2\nfinish a untrusted\napprove b\ndecide b allow\nstart b\nfinish b failed
    compiled\nrequested\nfails overloaded 1\nrequested 2\nreplies It is so.\nended";

#[test]
fn a_run_as_rows() {
    let (_, events) = play(PLAY);
    let mut view = View::default();
    for event in &events {
        view.apply(event, &content);
    }
    let lines: Vec<String> = view.rows().iter().map(|row| line(row)).collect();
    expect![[r#"
        e2 · question Go. · Person Plain
        a · action look Succeeded  · Ring Plain
        b · action post Failed failed · Ring Bad
        e13 · splice The process ended here and another one took the run up. What was in flight can be repeated safely. · Splice Bad
        e22 · trouble It failed. true · Ring Bad
        e24 · answer It is so. · Ring Plain
        e25 · stop Unverified Finished. The agent sets no criteria, so nothing was checked. · End Plain"#]]
    .assert_eq(&lines.join("\n"));
}

#[test]
fn changes_by_key_give_the_same_rows_as_folding_at_once() {
    let (_, events) = play(PLAY);
    let mut whole = View::default();
    let mut followed = View::default();
    let mut shown: Vec<Row> = Vec::new();
    for event in &events {
        whole.apply(event, &content);
        let keys = followed.apply(event, &content);
        for row in followed.change(&keys).rows {
            match shown.iter_mut().find(|old| old.key == row.key) {
                Some(old) => *old = row,
                None => shown.push(row),
            }
        }
        assert!(shown.iter().eq(whole.rows().iter().map(|row| &**row)));
        assert_eq!(followed.head(), whole.head());
    }
    let snapshot = whole.snapshot(3);
    assert_eq!(
        snapshot.earlier as usize + snapshot.rows.len(),
        whole.rows().len()
    );
    let first = snapshot.rows[0].seq;
    let earlier = whole.earlier_rows(first, 100);
    assert_eq!(earlier.len(), snapshot.earlier as usize);
}
