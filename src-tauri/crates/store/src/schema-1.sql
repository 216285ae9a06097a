-- The names of event types, so that a row carries a number of one byte. Names of the future
-- may stand here; nothing is ever removed.
CREATE TABLE types (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

-- The only truth. Rows are inserted, never updated or deleted; a redaction alone may put the
-- payload's hash in the payload's place.
CREATE TABLE events (
    run BLOB NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    type INTEGER NOT NULL,
    v INTEGER NOT NULL,
    payload_hash BLOB,
    hash BLOB NOT NULL,
    payload BLOB,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

-- Content by hash. Without data it lies in a file beneath blobs/.
CREATE TABLE blobs (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    raw_len INTEGER NOT NULL,
    data BLOB
) STRICT;

-- The number that the present driver of a run tree holds.
CREATE TABLE fences (
    tree BLOB PRIMARY KEY,
    number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What a person wants of a run that another process may drive.
CREATE TABLE inbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run BLOB NOT NULL,
    at INTEGER NOT NULL,
    wish TEXT NOT NULL,
    taken_at INTEGER
) STRICT;
CREATE INDEX inbox_open ON inbox (run, id) WHERE taken_at IS NULL;

-- Derived from events, for lists. May be rebuilt at any time.
CREATE TABLE runs (
    run BLOB PRIMARY KEY,
    tree BLOB NOT NULL,
    seq INTEGER NOT NULL,
    head BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    line TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Derived from events: actions that a person was or may be asked about, since only those are
-- ever named by a person.
CREATE TABLE actions (
    action TEXT PRIMARY KEY,
    run BLOB NOT NULL
) STRICT, WITHOUT ROWID;
