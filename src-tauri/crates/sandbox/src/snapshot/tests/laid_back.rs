//! Folders that are made what a snapshot says that they were.

use std::fs;
use std::os::unix::fs::symlink;

use super::super::{Entry, SnapshotLimits, lay_back};
use super::Place;

#[test]
fn a_folder_is_laid_back_and_what_no_snapshot_has_stays() {
    let place = Place::new(&["kept/"], SnapshotLimits::default());
    place.write("same", "same");
    place.write("changed", "before");
    place.write("gone", "gone");
    place.write("folder/in", "in");
    place.write("turned", "a file");
    symlink("same", place.path("link")).expect("a link");
    let wanted = place.take(None);
    place.write("changed", "after");
    place.write("new", "new");
    place.write("more/and/more", "new");
    place.write("more/kept/this", "no snapshot has it");
    for path in ["gone", "folder/in", "turned", "link"] {
        fs::remove_file(place.path(path)).expect("it is there");
    }
    fs::remove_dir(place.path("folder")).expect("it is empty");
    place.write("turned/into/a/folder", "new");
    symlink("changed", place.path("link")).expect("a link");
    let fifo = std::process::Command::new("mkfifo")
        .arg(place.path("gone"))
        .status();
    assert!(fifo.expect("mkfifo is there").success());
    for _ in 0..2 {
        let found = place.take(None);
        let folder = place.folder.path().join("w");
        lay_back(&found, &wanted, &place.contents, &folder).expect("it can be laid back");
        let mut again = place.take(None);
        let left = again.entries.remove("more");
        assert_eq!(left, Some(Entry::Folder), "what stays keeps its folder");
        assert_eq!(wanted.changes(&again), []);
    }
    let kept = fs::read_to_string(place.path("more/kept/this"));
    assert_eq!(kept.expect("it stays"), "no snapshot has it");
}
