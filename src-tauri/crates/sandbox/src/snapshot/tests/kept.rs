//! Contents that are kept, and those that were lost after they were looked up.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::{Contents as _, Hash, Manifest, Place, plain, restore};

impl Place {
    pub(super) fn has(&self, content: &[u8]) -> bool {
        let hash = Hash::of(content);
        !self.contents.kept(HashSet::from([hash])).is_empty()
    }

    fn contents_folder(&self) -> PathBuf {
        self.folder.path().join("contents")
    }

    /// As if nothing had been kept for an hour: folders are believed to stay what they are.
    fn long_ago(&self) {
        for folder in fs::read_dir(self.contents_folder()).expect("it is there") {
            let folder = folder.expect("it is listed").path();
            let hour_ago = SystemTime::now() - Duration::from_secs(3_600);
            let folder = File::open(folder).expect("it is ours");
            folder.set_modified(hour_ago).expect("it is ours");
        }
    }

    fn lose(&self, content: &[u8]) {
        let name = Hash::of(content).to_string();
        let path = self.contents_folder().join(&name[..2]).join(&name[2..]);
        fs::remove_file(path).expect("it was kept");
    }
}

fn taken(place: &Place, files: &[&str]) -> Manifest {
    for name in files {
        place.write(name, name);
    }
    let taken = Place::settled(place.take(None));
    place.long_ago();
    place.reads();
    taken
}

#[test]
fn a_content_that_was_lost_is_kept_again() {
    let place = plain();
    let first = taken(&place, &["f"]);
    fs::remove_dir_all(place.contents_folder()).expect("it is there");
    let second = place.take(Some(&first));
    restore(&second, &place.contents, &place.folder.path().join("r")).expect("it is whole");
}

#[test]
fn a_content_that_is_lost_after_it_was_looked_up_is_kept_again() {
    let place = plain();
    let first = taken(&place, &["f", "g"]);
    let again = Place::settled(place.take(Some(&first)));
    assert_eq!(place.reads(), 0, "nothing is read that did not change");
    place.lose(b"f");
    let third = place.take(Some(&again));
    assert_eq!(place.reads(), 1);
    assert!(place.has(b"f") && place.has(b"g"));
    assert!(again.changes(&third).is_empty());
}

#[test]
fn folders_that_are_looked_up_again_hold_what_came_meanwhile() {
    let place = plain();
    taken(&place, &["f"]);
    assert!(place.has(b"f") && !place.has(b"g"));
    place.write("g", "g");
    place.take(None);
    place.long_ago();
    assert!(place.has(b"f") && place.has(b"g") && !place.has(b"h"));
    place.lose(b"g");
    assert!(place.has(b"f") && !place.has(b"g"));
}

#[test]
fn a_folder_of_very_many_contents_is_looked_up_one_by_one() {
    let place = plain();
    taken(&place, &["f"]);
    let name = Hash::of(b"f").to_string();
    let folder = place.contents_folder().join(&name[..2]);
    for number in 0..1_100 {
        fs::write(folder.join(format!("{number:062x}")), "").expect("it is ours");
    }
    place.long_ago();
    assert!(place.has(b"f") && !place.has(b"g"));
    place.lose(b"f");
    place.long_ago();
    assert!(!place.has(b"f"));
}
