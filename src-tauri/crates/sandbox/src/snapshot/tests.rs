//! Snapshots of workspaces that mean well, and of those that do not.

mod kept;
mod laid_back;

use std::cell::RefCell;
use std::collections::HashSet;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{
    Contents, ContentsFolder, DEFAULT_IGNORED, Entry, Hash, Manifest, SnapshotLimits,
    SnapshotRules, Why, restore, take,
};

/// Counts how many files are read.
struct Counting {
    folder: ContentsFolder,
    read: RefCell<usize>,
}

impl Contents for Counting {
    fn keep(&self, from: &mut dyn Read, limit_bytes: u64) -> io::Result<(Hash, u64)> {
        *self.read.borrow_mut() += 1;
        self.folder.keep(from, limit_bytes)
    }

    fn settle(&self) -> io::Result<()> {
        self.folder.settle()
    }

    fn kept(&self, hashes: HashSet<Hash>) -> HashSet<Hash> {
        self.folder.kept(hashes)
    }

    fn open(&self, hash: Hash) -> io::Result<Box<dyn Read>> {
        self.folder.open(hash)
    }
}

struct Place {
    folder: tempfile::TempDir,
    contents: Counting,
    rules: SnapshotRules,
}

impl Place {
    fn new(patterns: &[&str], limits: SnapshotLimits) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("w")).expect("a workspace");
        let contents = Counting {
            folder: ContentsFolder::at(folder.path().join("contents")),
            read: RefCell::new(0),
        };
        let rules =
            SnapshotRules::new(patterns.iter().copied(), limits).expect("they are patterns");
        Self {
            folder,
            contents,
            rules,
        }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join("w").join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
        fs::write(path, text).expect("it is written");
    }

    fn take(&self, before: Option<&Manifest>) -> Manifest {
        let workspace = self.folder.path().join("w");
        take(&workspace, before, &self.rules, &self.contents).expect("it is taken")
    }

    fn reads(&self) -> usize {
        self.contents.read.replace(0)
    }

    /// As if the snapshot had been taken long after the last change.
    fn settled(mut manifest: Manifest) -> Manifest {
        for entry in manifest.entries.values_mut() {
            if let Entry::File { stamp, .. } = entry {
                stamp.fresh = false;
            }
        }
        manifest
    }
}

fn plain() -> Place {
    Place::new(&[], SnapshotLimits::default())
}

fn left_out(manifest: &Manifest) -> Vec<(&str, Why)> {
    manifest
        .left_out
        .listed
        .iter()
        .map(|(path, why)| (path.as_str(), *why))
        .collect()
}

fn text(folder: &Path, path: &str) -> String {
    fs::read_to_string(folder.join(path)).expect("it is there")
}

#[test]
fn what_was_taken_is_laid_out_again_as_it_was() {
    let place = plain();
    place.write("a.txt", "one");
    place.write("deep/er/b.sh", "two");
    fs::set_permissions(
        place.path("deep/er/b.sh"),
        fs::Permissions::from_mode(0o755),
    )
    .expect("ours");
    fs::create_dir(place.path("empty")).expect("a folder");
    symlink("deep/er", place.path("link")).expect("a link");
    let manifest = place.take(None);
    let into = place.folder.path().join("again");
    restore(&manifest, &place.contents, &into).expect("it is laid out");
    assert_eq!(
        (text(&into, "a.txt"), text(&into, "link/b.sh")),
        ("one".into(), "two".into())
    );
    assert!(into.join("empty").is_dir());
    let mode = fs::metadata(into.join("deep/er/b.sh"))
        .expect("it is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o755);
    let again = take(&into, None, &place.rules, &place.contents).expect("it is taken");
    assert_eq!(manifest.changes(&again), []);
    assert!(
        restore(&manifest, &place.contents, &into).is_err(),
        "nothing is overwritten"
    );
}

#[test]
fn what_has_not_changed_is_not_read_and_what_has_is() {
    let place = plain();
    for n in 0..20 {
        place.write(&format!("f{n}"), "same");
    }
    let first = Place::settled(place.take(None));
    assert_eq!(place.reads(), 20);
    let second = place.take(Some(&first));
    assert_eq!((place.reads(), first.changes(&second).len()), (0, 0));
    place.write("f7", "else");
    let third = place.take(Some(&first));
    assert_eq!(place.reads(), 1);
    let changes = first.changes(&third);
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].path, "f7");
    fs::remove_file(place.path("f7")).expect("it is ours");
    let gone = third.changes(&place.take(Some(&third)));
    assert!(gone.len() == 1 && gone[0].after.is_none(), "{gone:?}");
}

#[test]
fn a_time_that_is_set_back_hides_no_change() {
    let place = plain();
    place.write("f", "old!");
    let old = SystemTime::now() - Duration::from_secs(1000);
    fs::File::options()
        .write(true)
        .open(place.path("f"))
        .expect("ours")
        .set_modified(old)
        .expect("ours");
    let first = Place::settled(place.take(None));
    place.write("f", "new!");
    fs::File::options()
        .write(true)
        .open(place.path("f"))
        .expect("ours")
        .set_modified(old)
        .expect("ours");
    assert_eq!(first.changes(&place.take(Some(&first))).len(), 1);
}

#[test]
fn a_file_that_changed_just_before_is_read_again() {
    let place = plain();
    place.write("f", "x");
    let mut first = place.take(None);
    place.reads();
    assert_eq!(place.take(Some(&first)).changes(&first), []);
    assert_eq!(place.reads(), 0, "what is the same is not kept once more");
    // As if it had been written again at the same time.
    place.write("other", "y");
    let other = place.take(None);
    let entry = first.entries.get_mut("f").expect("it is there");
    if let (Entry::File { hash, .. }, Some(Entry::File { hash: y, .. })) =
        (entry, other.entries.get("other"))
    {
        *hash = *y;
    }
    place.reads();
    let again = place.take(Some(&first));
    assert_eq!(again.entries.get("f"), other.entries.get("f"));
    // It, and the other one, which is new to that snapshot.
    assert_eq!(place.reads(), 2);
}

#[test]
fn links_are_kept_and_never_followed() {
    let place = plain();
    let outside = place.folder.path().join("outside");
    fs::create_dir(&outside).expect("a folder");
    fs::write(outside.join("secret"), "secret").expect("it is written");
    symlink(&outside, place.path("folder")).expect("a link");
    symlink(outside.join("secret"), place.path("file")).expect("a link");
    symlink("../../../../etc/passwd", place.path("up")).expect("a link");
    symlink("itself", place.path("itself")).expect("a link");
    let manifest = place.take(None);
    assert_eq!(manifest.entries.len(), 4);
    assert!(
        manifest
            .entries
            .values()
            .all(|entry| matches!(entry, Entry::Link { .. }))
    );
    assert_eq!(place.reads(), 0);
    let into = place.folder.path().join("r");
    restore(&manifest, &place.contents, &into).expect("links are links");
    assert_eq!(
        fs::read_link(into.join("up")).expect("a link"),
        Path::new("../../../../etc/passwd")
    );
}

#[test]
fn a_workspace_with_traps_is_taken_without_falling_into_one() {
    let limits = SnapshotLimits {
        file_bytes: 1000,
        depth: 3,
        ..SnapshotLimits::default()
    };
    let place = Place::new(&[], limits);
    place.write("good", "good");
    let fifo = std::process::Command::new("mkfifo")
        .arg(place.path("fifo"))
        .status();
    assert!(fifo.expect("mkfifo is there").success());
    let sparse = fs::File::create(place.path("sparse")).expect("it is ours");
    sparse.set_len(1 << 40).expect("it takes no room");
    place.write("a/b/c/d/e", "deep");
    let _socket = std::os::unix::net::UnixListener::bind(place.path("socket")).expect("a socket");
    fs::write(
        place
            .path("x")
            .with_file_name(std::ffi::OsString::from("\u{fffd}")),
        "",
    )
    .expect("ours");
    let manifest = place.take(None);
    let expected = [
        ("a/b/c/d", Why::TooDeep),
        ("fifo", Why::Special),
        ("socket", Why::Special),
        ("sparse", Why::TooLarge),
    ];
    assert_eq!(left_out(&manifest), expected);
    assert!(manifest.entries.contains_key("good"));
}

#[test]
fn a_name_that_is_no_text_is_left_out_and_said() {
    use std::os::unix::ffi::OsStringExt;
    let place = plain();
    let name = std::ffi::OsString::from_vec(vec![b'a', 0xff]);
    fs::write(place.folder.path().join("w").join(name), "x").expect("it is ours");
    assert_eq!(left_out(&place.take(None)), [("a\u{fffd}", Why::Name)]);
}

#[test]
fn rules_leave_out_and_take_back() {
    let mut patterns = DEFAULT_IGNORED.to_vec();
    patterns.extend(["*.log", "!keep.log", "/build"]);
    let place = Place::new(&patterns, SnapshotLimits::default());
    for path in [
        "a/node_modules/x/y",
        "b.log",
        "keep.log",
        "build/x",
        "src/build/x",
    ] {
        place.write(path, "x");
    }
    let manifest = place.take(None);
    let files: Vec<&str> = manifest
        .entries
        .iter()
        .filter(|(_, entry)| matches!(entry, Entry::File { .. }))
        .map(|(path, _)| path.as_str())
        .collect();
    assert_eq!(files, ["keep.log", "src/build/x"]);
    let expected = [
        ("a/node_modules", Why::Ignored),
        ("b.log", Why::Ignored),
        ("build", Why::Ignored),
    ];
    assert_eq!(left_out(&manifest), expected);
}

#[test]
fn a_limit_that_is_reached_is_said_and_the_same_every_time() {
    let limits = SnapshotLimits {
        total_bytes: 25,
        entries: 6,
        ..SnapshotLimits::default()
    };
    let place = Place::new(&[], limits);
    for n in 0..9 {
        place.write(&format!("f{n}"), "ten bytes.");
    }
    let manifest = place.take(None);
    assert_eq!(manifest.entries.keys().collect::<Vec<_>>(), ["f0", "f1"]);
    assert_eq!(manifest.left_out.count, 7);
    assert_eq!(manifest.left_out, place.take(None).left_out);
}

#[test]
fn a_damaged_content_is_not_laid_out() {
    let place = plain();
    place.write("f", "content");
    let manifest = place.take(None);
    let hash = Hash::of(b"content").to_string();
    fs::write(
        place
            .folder
            .path()
            .join("contents")
            .join(&hash[..2])
            .join(&hash[2..]),
        "forged",
    )
    .expect("it is ours");
    let into = place.folder.path().join("r");
    let error = restore(&manifest, &place.contents, &into).expect_err("it is damaged");
    assert!(error.to_string().contains("damaged"), "{error}");
    assert!(!into.exists(), "nothing half is left");
}

#[test]
fn a_manifest_with_a_path_that_leads_out_lays_out_nothing_there() {
    let place = plain();
    place.write("f", "content");
    let mut manifest = place.take(None);
    let entry = manifest.entries["f"].clone();
    for path in ["../out", "/tmp/longrein-out", "a/../../out"] {
        manifest.entries.insert(path.to_owned(), entry.clone());
        let into = place.folder.path().join("r");
        assert!(
            restore(&manifest, &place.contents, &into).is_err(),
            "{path}"
        );
        assert!(!place.folder.path().join("out").exists());
        manifest.entries.remove(path);
    }
}

#[test]
fn a_manifest_is_the_same_after_being_written_down() {
    let place = plain();
    place.write("f", "x");
    symlink("f", place.path("l")).expect("a link");
    let manifest = place.take(None);
    let json = serde_json::to_string(&manifest).expect("it is plain");
    assert_eq!(
        serde_json::from_str::<Manifest>(&json).expect("it is its own"),
        manifest
    );
}

#[test]
fn a_folder_that_becomes_a_link_while_it_is_read_leads_nowhere() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    let place = plain();
    let outside = place.folder.path().join("outside");
    fs::create_dir(&outside).expect("a folder");
    fs::write(outside.join("f"), "secret").expect("it is written");
    place.write("d/f", "open");
    let (folder, aside) = (place.path("d"), place.path("aside"));
    let stop = Arc::new(AtomicBool::new(false));
    let stopping = Arc::clone(&stop);
    let swapping = std::thread::spawn(move || {
        while !stopping.load(Ordering::Relaxed) {
            fs::rename(&folder, &aside).expect("it is ours");
            symlink(&outside, &folder).expect("it is ours");
            fs::remove_file(&folder).expect("it is ours");
            fs::rename(&aside, &folder).expect("it is ours");
        }
    });
    for _ in 0..300 {
        place.take(None);
    }
    stop.store(true, Ordering::Relaxed);
    swapping.join().expect("it ends");
    assert!(place.has(b"open"));
    assert!(!place.has(b"secret"), "it was read through the link");
}

#[test]
fn a_snapshot_is_the_one_before_and_what_differs() {
    let place = plain();
    place.write("a.txt", "one");
    place.write("b/c.txt", "two");
    let first = place.take(None);
    place.write("a.txt", "three");
    fs::remove_dir_all(place.path("b")).expect("it goes");
    symlink("a.txt", place.path("link")).expect("a link");
    let second = place.take(Some(&first));
    let delta = first.delta(&second);
    let told: Vec<(&str, bool)> = delta
        .entries
        .iter()
        .map(|(path, entry)| (path.as_str(), entry.is_some()))
        .collect();
    let expected = [
        ("a.txt", true),
        ("b", false),
        ("b/c.txt", false),
        ("link", true),
    ];
    assert_eq!(told, expected);
    let mut again = first.clone();
    let written = serde_json::to_string(&delta).expect("it is written");
    again.apply(serde_json::from_str(&written).expect("it is read"));
    assert_eq!(again, second);
    assert!(second.delta(&second).entries.is_empty());
}

#[test]
fn a_content_that_was_cut_off_is_kept_anew() {
    let place = plain();
    place.write("a.txt", "one");
    let manifest = place.take(None);
    let kept = walk(&place.folder.path().join("contents"));
    let [file] = kept.as_slice() else {
        panic!("one content is kept: {kept:?}");
    };
    fs::write(file, "").expect("it is cut off");
    place.take(None);
    let into = place.folder.path().join("again");
    restore(&manifest, &place.contents, &into).expect("it is whole again");
    assert_eq!(text(&into, "a.txt"), "one");
    fs::remove_file(file).expect("it goes");
    let lost = restore(&manifest, &place.contents, &place.folder.path().join("no"));
    let lost = lost.expect_err("its content is gone").to_string();
    assert!(lost.contains("not kept any more"), "{lost}");
    let mode = fs::metadata(&into)
        .expect("it is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
}

/// Every file below.
fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        match entry.path() {
            path if path.is_dir() => files.extend(walk(&path)),
            path => files.push(path),
        }
    }
    files
}
