use super::*;

/// A database of the first schema with something in it.
fn first(folder: &Path) -> (PathBuf, Connection) {
    let path = folder.join(FILE_NAME);
    let mut connection = connect(&path, Access::Write).unwrap();
    set_up(&mut connection, &path, &MIGRATIONS[..1]).unwrap();
    let wish = "INSERT INTO inbox (run, at, wish) VALUES (x'00', 1, 'a wish')";
    connection.execute_batch(wish).unwrap();
    (path, connection)
}

fn wishes(connection: &Connection) -> i64 {
    connection
        .query_row("SELECT count(*) FROM inbox", [], |row| row.get(0))
        .unwrap()
}

#[test]
fn a_migration_keeps_what_was_there_and_a_copy_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let (path, mut connection) = first(folder.path());
    let next = [MIGRATIONS[0], "ALTER TABLE inbox ADD COLUMN note TEXT"];
    set_up(&mut connection, &path, &next).unwrap();
    assert_eq!(version(&connection).unwrap(), 2);
    connection
        .execute_batch("UPDATE inbox SET note = 'kept'")
        .unwrap();
    assert_eq!(wishes(&connection), 1);

    let backup = Connection::open(backup_path(&path, 1)).unwrap();
    assert_eq!(version(&backup).unwrap(), 1);
    assert_eq!(wishes(&backup), 1);
    // A second start has nothing to do.
    set_up(&mut connection, &path, &next).unwrap();
    assert_eq!(version(&connection).unwrap(), 2);
}

#[test]
fn a_migration_that_fails_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (path, mut connection) = first(folder.path());
    let broken = [
        MIGRATIONS[0],
        "CREATE TABLE half (x); DROP TABLE inbox; not SQL",
    ];
    set_up(&mut connection, &path, &broken).unwrap_err();
    assert_eq!(version(&connection).unwrap(), 1);
    assert_eq!(wishes(&connection), 1);
    let tables = "SELECT count(*) FROM sqlite_schema WHERE name = 'half'";
    let half: i64 = connection.query_row(tables, [], |row| row.get(0)).unwrap();
    assert_eq!(half, 0);
}

#[test]
fn a_backup_that_was_not_finished_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let (path, mut connection) = first(folder.path());
    let unfinished = backup_path(&path, 1).with_extension("unfinished");
    fs::write(&unfinished, b"half a database").unwrap();
    let next = [MIGRATIONS[0], "ALTER TABLE inbox ADD COLUMN note TEXT"];
    set_up(&mut connection, &path, &next).unwrap();
    assert!(!unfinished.exists());
    assert_eq!(wishes(&Connection::open(backup_path(&path, 1)).unwrap()), 1);
}

#[test]
fn every_commit_is_synced() {
    let folder = tempfile::tempdir().unwrap();
    let opened = open(folder.path()).unwrap();
    let pragma = |name: &str| {
        opened
            .connection
            .pragma_query_value(None, name, |row| row.get::<_, i64>(0))
            .unwrap()
    };
    const FULL: i64 = 2;
    assert_eq!(pragma("synchronous"), FULL);
    assert_eq!(pragma("foreign_keys"), 1);
    assert_eq!(pragma("page_size"), i64::from(PAGE_BYTES));
    assert_eq!(pragma("application_id"), i64::from(APPLICATION_ID));
}
