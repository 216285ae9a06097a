//! The library's folders: what is followed, what is refused, and how they are told apart.

use super::*;

#[test]
fn documents_of_several_folders_are_told_apart_by_the_folders_names() {
    let outer = tempfile::tempdir().unwrap();
    let folders = ["notes", "papers"].map(|name| outer.path().join(name));
    for folder in &folders {
        fs::create_dir(folder).unwrap();
        fs::write(
            folder.join("a.md"),
            format!("Words in {}.", folder.display()),
        )
        .unwrap();
    }
    let library = Library::open(&folders, &outer.path().join("index")).unwrap();
    let findings = library
        .search("words", 6, &CancellationToken::new())
        .unwrap();
    let mut names: Vec<_> = findings
        .passages
        .iter()
        .map(|passage| passage.meta.file.clone().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["notes/a.md", "papers/a.md"]);
}

#[test]
fn no_link_leads_out_of_the_library_and_no_pipe_stops_it() {
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let place = Place::new(&[("good.md", "Words within.")]);
    let papers = place.outer.path().join("papers");
    let secret = place.outer.path().join("secret");
    fs::create_dir(&secret).unwrap();
    fs::write(secret.join("words.md"), "Secret words.").unwrap();
    symlink(secret.join("words.md"), papers.join("link.md")).unwrap();
    symlink(&secret, papers.join("folder")).unwrap();
    symlink(".", papers.join("circle")).unwrap();
    mknodat(
        CWD,
        papers.join("pipe.md"),
        FileType::Fifo,
        Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    fs::File::create(papers.join("giant.txt"))
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    expect![[r#"
        good.md: "Words within."
        note: giant.txt could not be read: it has 1099511627776 bytes, more than the 67108864 that are read
        note: circle was left out: it is a link, and links are not followed
        note: folder was left out: it is a link, and links are not followed
        note: link.md was left out: it is a link, and links are not followed
        note: pipe.md was left out: it is not a regular file"#]].assert_eq(&place.shown("words"));
}

#[cfg(unix)]
#[test]
fn what_is_left_out_is_told_and_the_list_has_an_end() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    let place = Place::new(&[("good.md", "Words within."), (".hidden.md", "Words.")]);
    let papers = place.outer.path().join("papers");
    fs::write(papers.join(OsStr::from_bytes(b"caf\xe9.md")), "Words.").unwrap();
    expect![[r#"
        good.md: "Words within."
        note: caf�.md was left out: its name is not valid Unicode, so rename it"#]]
    .assert_eq(&place.shown("words"));
    for number in 0..30 {
        symlink("good.md", papers.join(format!("link{number}.md"))).unwrap();
    }
    let notes = place.search("words").notes;
    assert_eq!(notes.len(), 21);
    assert_eq!(notes[20], "… and 11 more of these");
}

#[test]
fn a_folder_that_can_not_be_read_is_named_with_a_remedy() {
    let outer = tempfile::tempdir().unwrap();
    fs::write(outer.path().join("file"), "").unwrap();
    let told = |folder: PathBuf| {
        let error = Library::open(&[folder], &outer.path().join("index"))
            .err()
            .expect("it can't be opened");
        error
            .to_string()
            .replace(&*outer.path().to_string_lossy(), "OUTER")
    };
    expect!["the library folder OUTER/missing does not exist: make it, or name another one under [library] folders"].assert_eq(&told(outer.path().join("missing")));
    expect!["the library folder OUTER/file is a file: name the folder that holds it under [library] folders"].assert_eq(&told(outer.path().join("file")));
}

#[test]
fn a_folder_that_vanishes_is_an_error_and_its_documents_are_not_forgotten() {
    let place = Place::new(&[("a.md", "Words that stay.")]);
    place.search("words");
    let (papers, away) = (
        place.outer.path().join("papers"),
        place.outer.path().join("away"),
    );
    fs::rename(&papers, &away).unwrap();
    let error = place
        .library
        .search("words", 1, &CancellationToken::new())
        .expect_err("the folder is gone");
    assert!(matches!(error, LibraryError::Missing(_)), "{error}");
    assert_eq!(
        place
            .library
            .shelves
            .with_index(|index| index.counts())
            .unwrap(),
        (1, 0)
    );
}

#[cfg(unix)]
#[test]
fn a_file_that_could_not_be_opened_is_tried_again() {
    use std::os::unix::fs::symlink;

    // A folder in the way stands for missing rights, which the tests' own user may always have.
    let outer = tempfile::tempdir().unwrap();
    put(outer.path(), "sub/a.md", b"Words that come back.");
    let papers = outer.path().join("papers");
    let shelves =
        Shelves::open(std::slice::from_ref(&papers), &outer.path().join("index")).unwrap();
    let entry = || {
        let mut scan = Scan::default();
        scan.add(0, &papers).unwrap();
        let mut entry = scan.entries.remove(0);
        // Long ago, so that nothing but the failure keeps it from being settled.
        entry.modified = 0;
        entry
    };
    let found = entry();
    fs::rename(papers.join("sub"), outer.path().join("away")).unwrap();
    symlink(outer.path().join("away"), papers.join("sub")).unwrap();
    let failed = shelves.entered(found, None);
    assert!(!failed.settled && matches!(failed.content, Content::Unreadable { .. }));
    fs::remove_file(papers.join("sub")).unwrap();
    fs::rename(outer.path().join("away"), papers.join("sub")).unwrap();
    let read = shelves.entered(entry(), None);
    assert!(read.settled && matches!(read.content, Content::Read(_)));
}

#[test]
fn a_known_secret_in_a_document_is_not_in_the_index() {
    const SECRET: &str = "sk-K3yInTheLibrary0123";
    longrein_keys::Known::of_process().learn(&longrein_keys::SecretText::new(SECRET));
    let place = Place::new(&[(
        "setup.md",
        &format!("# How {SECRET} came\n\nThe key is {SECRET} and apples follow."),
    )]);
    let masked = "*".repeat(SECRET.len());
    let findings = place.search("apples");
    let [passage] = &findings.passages[..] else {
        panic!("{}", shown(&findings))
    };
    assert_eq!(passage.meta.title, format!("How {masked} came"));
    assert!(
        words(passage).ends_with(&format!("The key is {masked} and apples follow.")),
        "{}",
        words(passage)
    );
    let folder = place.outer.path().join("library-index");
    let mut files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        let lower = bytes.to_ascii_lowercase();
        // The full-text index has each word by itself, in small letters.
        let word = b"k3yinthelibrary0123";
        assert!(!lower.windows(word.len()).any(|found| found == word));
        files += 1;
    }
    assert!(files > 0);
}
