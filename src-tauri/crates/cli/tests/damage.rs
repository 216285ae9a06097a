//! One byte that is not what was written.

use rusqlite::{Connection, params};

use crate::support::Home;

/// Flips one bit in the middle of the payload of an event.
fn flip(home: &Home, run: &str, seq: u32) {
    let connection = Connection::open(home.database()).unwrap();
    let key = run_key(&connection, run);
    let place = params![key, seq];
    let select = "SELECT payload FROM events WHERE run = ?1 AND seq = ?2";
    let mut payload: Vec<u8> = connection
        .query_row(select, place, |row| row.get(0))
        .unwrap();
    let middle = payload.len() / 2;
    payload[middle] ^= 1;
    let update = "UPDATE events SET payload = ?3 WHERE run = ?1 AND seq = ?2";
    assert_eq!(
        connection
            .execute(update, params![key, seq, payload])
            .unwrap(),
        1
    );
}

/// The key of a run's rows: the list has its id in words beside it.
fn run_key(connection: &Connection, run: &str) -> Vec<u8> {
    let mut select = connection.prepare("SELECT run, line FROM runs").unwrap();
    let rows = select
        .query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))
        .unwrap();
    let mut rows = rows.map(Result::unwrap);
    rows.find(|(_, line)| line.contains(run))
        .map(|(key, _): (Vec<u8>, _)| key)
        .unwrap()
}

#[test]
fn a_flipped_byte_is_named_by_log_check_and_hides_nothing_else() {
    let home = Home::new();
    let spoilt = home.run(&["demo"]).run_id();
    let whole = home.run(&["demo"]).run_id();
    home.assert_whole();
    flip(&home, &spoilt, 20);

    let checked = home.run(&["log", "check"]);
    assert_eq!(checked.status, 1, "{checked}");
    assert!(
        checked.out.contains(&format!("run {spoilt} event 20: ")),
        "{checked}"
    );
    assert!(!checked.out.contains(&whole), "{checked}");
    let one = home.run(&["log", "check", &whole]);
    assert_eq!(one.status, 0, "{one}");
    let json = home.run(&["log", "check", "--json"]).json();
    assert_eq!(
        (&json[0]["run"], &json[0]["seq"]),
        (&spoilt.as_str().into(), &20.into())
    );
    assert_eq!(json.last().unwrap()["whole"], false);

    assert_eq!(home.runs().len(), 2);
    let shown = home.run(&["show", &whole]);
    assert_eq!(shown.status, 0, "{shown}");
    assert!(shown.out.contains("Accepted"), "{shown}");
    let begun = home.run(&["demo"]);
    assert_eq!(begun.status, 0, "{begun}");
}

#[test]
fn a_damaged_run_is_read_as_far_as_it_is_whole_and_is_not_continued() {
    let home = Home::new();
    let run = home.run(&["demo"]).run_id();
    flip(&home, &run, 20);
    let shown = home.run(&["show", &run]);
    assert_eq!(shown.status, 0, "{shown}");
    assert!(shown.out.contains("search_library"), "{shown}");
    let events = home.run(&["show", &run, "--json"]);
    assert_eq!((events.status, events.json().len()), (1, 19), "{events}");
    let resumed = home.run(&["resume", &run, "Go on."]);
    assert_eq!(resumed.status, 1, "{resumed}");
    assert!(resumed.err.contains("20"), "{resumed}");
    assert!(resumed.err.contains("longrein log check"), "{resumed}");
}

#[test]
fn a_list_that_was_lost_is_written_anew_from_the_events() {
    let home = Home::new();
    let run = home.run(&["demo"]).run_id();
    let before = home.runs();
    let connection = Connection::open(home.database()).unwrap();
    connection.execute("DELETE FROM runs", []).unwrap();
    drop(connection);
    assert!(home.runs().is_empty());
    let checked = home.run(&["log", "check"]);
    assert_eq!(checked.status, 1, "{checked}");
    assert!(checked.out.contains("longrein log rebuild"), "{checked}");
    let rebuilt = home.run(&["log", "rebuild"]);
    assert_eq!(rebuilt.status, 0, "{rebuilt}");
    assert_eq!(home.runs(), before);
    assert_eq!(home.run(&["show", &run]).status, 0);
    home.assert_whole();
}
