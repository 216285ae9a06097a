mod folders;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use expect_test::expect;
use longrein_runtime::ports::{CancellationToken, Tool};
use serde_json::json;
use tempfile::TempDir;

use super::document::tests::{PAGES, pdf};
use super::*;
use crate::testing::{call, context, run, text, told, words};

struct Place {
    outer: TempDir,
    library: Library,
}

impl Place {
    fn new(files: &[(&str, &str)]) -> Self {
        let outer = tempfile::tempdir().unwrap();
        fs::create_dir(outer.path().join("papers")).unwrap();
        for (path, content) in files {
            put(outer.path(), path, content.as_bytes());
        }
        let library = open(outer.path());
        Self { outer, library }
    }

    fn put(&self, path: &str, content: &str) {
        put(self.outer.path(), path, content.as_bytes());
    }

    fn search(&self, query: &str) -> Findings {
        self.library
            .search(query, 6, &CancellationToken::new())
            .unwrap()
    }

    /// `file: words` for each passage, then the notes.
    fn shown(&self, query: &str) -> String {
        shown(&self.search(query))
    }
}

fn open(outer: &Path) -> Library {
    Library::open(&[outer.join("papers")], &outer.join("library-index")).unwrap()
}

fn put(outer: &Path, path: &str, content: &[u8]) {
    let path = outer.join("papers").join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn shown(findings: &Findings) -> String {
    let passages = findings.passages.iter().map(|passage| {
        format!(
            "{}: {:?}",
            passage.meta.file.as_deref().unwrap_or("?"),
            words(passage)
        )
    });
    let notes = findings.notes.iter().map(|note| format!("note: {note}"));
    passages.chain(notes).collect::<Vec<_>>().join("\n")
}

const HNSW: &str = "---\ntitle: \"Graphs for search\"\nauthors:\n  - Ada Doe\n  - Bo Roe\ndate: 2021-05-04\n---\n# Graphs\n\n\
    A hierarchical graph answers queries fast.\n\nIt needs much memory.\n";

#[test]
fn a_document_is_found_with_what_it_says_of_itself() {
    let place = Place::new(&[
        ("notes/hnsw.md", HNSW),
        ("flat.txt", "A flat index scans everything."),
    ]);
    let findings = place.search("Which graph needs memory?");
    let [passage] = &findings.passages[..] else {
        panic!("{}", shown(&findings))
    };
    expect![[r#"
        SourceMeta {
            title: "Graphs for search",
            authors: [
                "Ada Doe",
                "Bo Roe",
            ],
            date: Some(
                "2021-05-04",
            ),
            url: None,
            file: Some(
                "notes/hnsw.md",
            ),
            media_type: "text/markdown",
            private: true,
            pdf: None,
        }
    "#]]
    .assert_debug_eq(&passage.meta);
    assert_eq!(&*passage.bytes, HNSW.as_bytes());
    assert_eq!(&*passage.text, HNSW);
    assert_eq!(
        words(passage),
        "# Graphs\n\nA hierarchical graph answers queries fast.\n\nIt needs much memory."
    );
    assert_eq!(findings.documents, 2);
}

#[test]
fn words_match_in_any_form_and_the_title_counts_more() {
    let place = Place::new(&[
        ("a.md", "# Quantization\n\nCodes are short."),
        (
            "b.md",
            "# Other things\n\nSome words on quantization and other things that are said here.",
        ),
        ("c.md", "# Café\n\nDes épreuves."),
    ]);
    expect![[r##"
        a.md: "# Quantization\n\nCodes are short."
        b.md: "# Other things\n\nSome words on quantization and other things that are said here.""##]].assert_eq(&place.shown("quantize"));
    expect![[r##"c.md: "# Café\n\nDes épreuves.""##]].assert_eq(&place.shown("CAFE epreuve"));
    expect![[r#""#]].assert_eq(&place.shown("zebra"));
}

#[test]
fn a_query_can_hold_anything() {
    let place = Place::new(&[("a.md", "Plain words.")]);
    for query in [
        "\"",
        "a* AND (",
        "NEAR(x y)",
        "words:plain",
        "-plain",
        "{a b}",
        "' OR 1=1 --",
        "\0",
        "*",
    ] {
        place.search(query);
    }
    expect![[r#"a.md: "Plain words.""#]].assert_eq(&place.shown("AND OR NOT plain"));
}

#[test]
fn a_changed_library_gives_changed_results() {
    let place = Place::new(&[("a.md", "The first version speaks of apples.")]);
    expect![[r#"a.md: "The first version speaks of apples.""#]].assert_eq(&place.shown("apples"));
    // The same length and, on most file systems, the same time.
    place.put("a.md", "The other version speaks of grapes.");
    assert_eq!(place.shown("apples"), "");
    expect![[r#"a.md: "The other version speaks of grapes.""#]].assert_eq(&place.shown("grapes"));
    place.put("sub/b.txt", "More grapes here.");
    expect![[r#"
        sub/b.txt: "More grapes here."
        a.md: "The other version speaks of grapes.""#]]
    .assert_eq(&place.shown("grapes"));
    fs::remove_file(place.outer.path().join("papers/a.md")).unwrap();
    expect![[r#"sub/b.txt: "More grapes here.""#]].assert_eq(&place.shown("grapes"));
}

#[test]
fn an_unchanged_file_is_not_read_again_and_a_touched_one_is_not_indexed_again() {
    // Without the background thread, which might look in between.
    let outer = tempfile::tempdir().unwrap();
    put(outer.path(), "a.md", b"Words of an old file.");
    let path = outer.path().join("papers/a.md");
    let shelves =
        Shelves::open(&[outer.path().join("papers")], &outer.path().join("index")).unwrap();
    let refreshed = || {
        shelves
            .refresh(Instant::now() + Duration::from_secs(60), &|| false)
            .unwrap();
        shelves.with_index(|index| index.known()).unwrap()[&(0, "a.md".to_owned())].clone()
    };
    let old = SystemTime::now() - Duration::from_secs(3_600);
    let age = || {
        fs::File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(old)
            .unwrap()
    };
    age();
    let before = refreshed();
    assert!(before.settled);
    // Other bytes with the old size and time go unseen: so the file was not read.
    fs::write(&path, "Texts of an old file.").unwrap();
    age();
    assert_eq!(refreshed().hash, before.hash);
    fs::write(&path, "Words of an old file.").unwrap();
    let touched = refreshed();
    assert_eq!((touched.id, touched.hash), (before.id, before.hash));
    assert_ne!(touched.modified, before.modified);
}

#[test]
fn the_index_lasts_and_a_damaged_one_is_made_again() {
    let place = Place::new(&[("a.md", "Words that last.")]);
    place.search("words");
    let Place { outer, library } = place;
    let index = library.shelves.index_path.clone();
    drop(library);
    assert_eq!(
        shown(
            &open(outer.path())
                .search("last", 1, &CancellationToken::new())
                .unwrap()
        ),
        "a.md: \"Words that last.\""
    );
    fs::write(
        &index,
        "this is no database, and has never been one, whatever its name may say",
    )
    .unwrap();
    assert_eq!(
        shown(
            &open(outer.path())
                .search("last", 1, &CancellationToken::new())
                .unwrap()
        ),
        "a.md: \"Words that last.\""
    );
}

#[test]
fn two_libraries_on_one_index_agree() {
    let place = Place::new(&[("a.md", "Words of one."), ("b.md", "Words of two.")]);
    let other = open(place.outer.path());
    let search = |library: &Library| {
        shown(
            &library
                .search("words", 6, &CancellationToken::new())
                .unwrap(),
        )
    };
    std::thread::scope(|scope| {
        let searches = [&place.library, &other].map(|library| scope.spawn(move || search(library)));
        let found = searches.map(|search| search.join().unwrap());
        assert_eq!(found[0], found[1]);
        assert_eq!(found[0].lines().count(), 2);
    });
}

#[test]
fn a_passage_of_a_pdf_says_its_page_and_what_reading_the_pdf_gave() {
    let outer = tempfile::tempdir().unwrap();
    put(outer.path(), "paper.pdf", &pdf(&PAGES, |_, _| {}));
    let library = open(outer.path());
    let search = |query| library.search(query, 6, &CancellationToken::new()).unwrap();
    let findings = search("result percent");
    let [passage] = &findings.passages[..] else {
        panic!("{}", shown(&findings))
    };
    assert_eq!(
        words(passage),
        "The second page has a result of 42 percent."
    );
    assert_eq!(passage.range.page, Some(2));
    assert_eq!(passage.meta.pdf.as_ref().unwrap().read, 3);
    assert_eq!(
        search("Trees").passages.len(),
        0,
        "references are no evidence"
    );
}

#[test]
fn one_unreadable_document_never_hides_the_others() {
    let place = Place::new(&[
        ("good.md", "Readable words."),
        ("broken.pdf", "%PDF-1.5 and then nothing of the kind"),
        ("binary.txt", "words\0\0words"),
        (".hidden.md", "Hidden words."),
        (".git/words.md", "Words of git."),
        ("picture.png", "words"),
    ]);
    expect![[r#"
        good.md: "Readable words."
        note: binary.txt could not be read: it is binary data, not text
        note: broken.pdf could not be read: it is not a PDF that can be read (couldn't parse input: invalid file header)"#]].assert_eq(&place.shown("words"));
}

#[cfg(unix)]
#[test]
fn no_document_takes_all_the_room_while_others_match() {
    let long: String = (0..8)
        .map(|number| format!("## Part {number}\n\nApples again and again, apples apples.\n\n"))
        .collect();
    let place = Place::new(&[
        ("long.md", &long),
        (
            "short.md",
            "A word on apples, among many words that are said of other fruit.",
        ),
    ]);
    let findings = place.search("apples");
    let names: Vec<&str> = findings
        .passages
        .iter()
        .filter_map(|passage| passage.meta.file.as_deref())
        .collect();
    assert_eq!(
        names.iter().filter(|name| **name == "long.md").count(),
        5,
        "{names:?}"
    );
    assert_eq!(
        names.iter().position(|name| *name == "short.md"),
        Some(3),
        "{names:?}"
    );
}

#[test]
fn the_same_bytes_in_two_places_are_one_document() {
    let place = Place::new(&[
        ("a.md", "The very same words."),
        ("copy/a.md", "The very same words."),
    ]);
    expect![[r#"a.md: "The very same words.""#]].assert_eq(&place.shown("same words"));
}

#[test]
fn the_index_is_kept_fresh_in_the_background() {
    /// Far more than a file event takes.
    const PATIENCE: Duration = Duration::from_secs(60);
    let place = Place::new(&[("a.md", "One.")]);
    let indexed = |wanted: u32| {
        let deadline = Instant::now() + PATIENCE;
        while place
            .library
            .shelves
            .with_index(|index| index.counts())
            .unwrap()
            .0
            != wanted
        {
            assert!(
                Instant::now() < deadline,
                "the background thread does not see the change"
            );
            std::thread::yield_now();
        }
    };
    indexed(1);
    place.put("b.md", "Two.");
    indexed(2);
}

#[test]
fn a_search_can_be_stopped() {
    let place = Place::new(&[("a.md", "Words.")]);
    let cancel = CancellationToken::new();
    cancel.cancel();
    assert!(matches!(
        place.library.search("words", 1, &cancel),
        Err(LibraryError::Cancelled)
    ));
}

fn tool(library: Option<Library>) -> Arc<dyn Tool> {
    search_library(library.map(Arc::new))
}

#[tokio::test]
async fn the_tool_shows_passages_between_a_summary_and_what_is_missing() {
    let Place { outer, library } = Place::new(&[
        ("a.md", "# Apples\n\nWords on apples."),
        ("b.pdf", "%PDF-1.4\n"),
    ]);
    let tool = tool(Some(library));
    let search =
        |query: &'static str| run(&tool, call(context(outer.path()), json!({"query": query})));
    let found = search("apples").await.unwrap();
    expect![[r#"
        1 passage of 1 document for “apples”, best first, from a library of 1 document.
        «# Apples

        Words on apples.»
        Not everything could be searched:
        - b.pdf could not be read: it is not a PDF that can be read (failed parsing cross reference table: invalid start value)"#]].assert_eq(&text(&found));
    assert_eq!(found.outcome, "1 passage of 1 document, 1 note");
    expect![[r#"
        Nothing in the library (1 document) matches “pears”. Documents that it holds:
        - Apples (a.md)
        Not everything could be searched:
        - b.pdf could not be read: it is not a PDF that can be read (failed parsing cross reference table: invalid start value)"#]].assert_eq(&told(search("pears").await));
    expect!["invalid_arguments: `query` has no words to look for"]
        .assert_eq(&told(search("?!").await));
}

#[tokio::test]
async fn an_agent_without_a_library_is_told_where_to_name_one() {
    let outer = tempfile::tempdir().unwrap();
    let told = told(
        run(
            &tool(None),
            call(context(outer.path()), json!({"query": "x"})),
        )
        .await,
    );
    expect!["not_found: this agent has no library: the person can name folders under [library] in the agent's file"].assert_eq(&told);
}
