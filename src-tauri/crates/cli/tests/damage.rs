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
    // A child's line names its parent too.
    let own = format!("\"run\":\"{run}\"");
    rows.find(|(_, line)| line.contains(&own))
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
    for words in [["show", &run], ["watch", &run]] {
        let shown = home.run(&words);
        assert_eq!(shown.status, 1, "{shown}");
        let told = format!("{}{}", shown.err, shown.out);
        assert!(
            told.contains("I split the question into its words"),
            "{shown}"
        );
        for words in [
            "Unreadable: Event 20 is damaged: ",
            "What is shown ends with event 19.",
            &format!("longrein log check {run}"),
        ] {
            assert!(shown.out.contains(words), "{words}: {shown}");
        }
        assert!(!shown.out.contains("Accepted"), "{shown}");
        assert!(!shown.out.contains("  time"), "{shown}");
    }
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

#[test]
fn a_database_that_was_cut_off_is_told_with_what_helps_and_stays_as_it_is() {
    let home = Home::new();
    home.run(&["demo"]);
    let bytes = std::fs::read(home.database()).unwrap();
    for left in [&bytes[..bytes.len() / 2], &[b'x'; 20_000]] {
        std::fs::write(home.database(), left).unwrap();
        let runs = home.run(&["runs"]);
        assert_eq!(runs.status, 1, "{runs}");
        assert!(runs.err.contains("is damaged"), "{runs}");
        assert!(runs.err.contains("longrein log check"), "{runs}");
        assert!(runs.err.contains("Nothing in it is overwritten"), "{runs}");
        let checked = home.run(&["log", "check"]);
        assert_eq!(checked.status, 1, "{checked}");
        assert!(checked.err.contains("Restore the file"), "{checked}");
        assert!(!checked.err.contains("log check"), "{checked}");
        let json = home.run(&["log", "check", "--json"]);
        assert_eq!((json.status, &json.json()[0]["whole"]), (1, &false.into()));
        let doctor = home.run(&["doctor"]);
        assert_eq!(doctor.status, 1, "{doctor}");
        assert!(doctor.out.contains("data folder"), "{doctor}");
        assert!(doctor.out.contains("is damaged"), "{doctor}");
        assert_eq!(std::fs::read(home.database()).unwrap(), left);
    }
}

#[test]
fn a_malformed_page_is_named_by_log_check_and_doctor() {
    let home = Home::new();
    home.run(&["demo"]);
    let connection = Connection::open(home.database()).unwrap();
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = 'inbox_open'";
    let page: u32 = connection.query_row(root, [], |row| row.get(0)).unwrap();
    drop(connection);
    let mut bytes = std::fs::read(home.database()).unwrap();
    let start = (page as usize - 1) * 8_192;
    bytes[start..start + 64].fill(0xee);
    std::fs::write(home.database(), bytes).unwrap();
    let checked = home.run(&["log", "check"]);
    assert_eq!(checked.status, 1, "{checked}");
    assert!(checked.out.contains("database: "), "{checked}");
    assert!(!checked.out.contains("is whole"), "{checked}");
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.status, 1, "{doctor}");
    assert!(doctor.out.contains("of the database itself"), "{doctor}");
}
