use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use expect_test::expect;
use longrein_runtime::ports::Tool;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::testing::{call, context, run, told};

fn tool(name: &str) -> Arc<dyn Tool> {
    let mut tools = super::tools(Arc::new(Mutex::new(()))).into_iter();
    tools
        .find(|tool| tool.spec().name == name)
        .expect("the tool exists")
}

async fn use_tool(workspace: &Path, name: &str, arguments: Value) -> String {
    told(run(&tool(name), call(context(workspace), arguments)).await)
}

fn workspace(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    folder
}

#[tokio::test]
async fn a_file_is_read_by_lines_and_says_where_to_read_on() {
    let folder = workspace(&[("a.txt", "one\ntwo\nthree\nfour")]);
    let page = json!({"path": "a.txt", "start_line": 2, "lines": 2});
    expect![[r#"
        a.txt: lines 2-3 of 4; read on with start_line 4
        two
        three
    "#]]
    .assert_eq(&use_tool(folder.path(), "read_file", page).await);
    expect!["invalid_arguments: `a.txt` has 4 lines, so there is no line 9"].assert_eq(
        &use_tool(
            folder.path(),
            "read_file",
            json!({"path": "a.txt", "start_line": 9}),
        )
        .await,
    );
    expect!["not_found: `b.txt` is not in the workspace; list_files shows what is"]
        .assert_eq(&use_tool(folder.path(), "read_file", json!({"path": "b.txt"})).await);
    expect!["conflict: `.` is a folder, not a file; list_files shows what is in it"]
        .assert_eq(&use_tool(folder.path(), "read_file", json!({"path": "."})).await);
}

#[tokio::test]
async fn hostile_bytes_are_shown_safely_and_binary_data_is_named() {
    let folder = workspace(&[("empty", ""), ("ansi", "\u{1b}[2Jgone\u{202e}\n")]);
    fs::write(folder.path().join("surrogate"), b"a\xed\xa0\x80b\n").unwrap();
    fs::write(folder.path().join("binary"), b"\x7fELF\0\0").unwrap();
    fs::write(folder.path().join("long"), "x".repeat(200_000)).unwrap();
    let read = |path: &'static str| use_tool(folder.path(), "read_file", json!({"path": path}));
    expect!["empty: empty"].assert_eq(&read("empty").await);
    expect![[r#"
        ansi: lines 1-1 of 1
        \u{1b}[2Jgone\u{202e}
    "#]]
    .assert_eq(&read("ansi").await);
    expect![[r#"
        surrogate: lines 1-1 of 1
        a���b
    "#]]
    .assert_eq(&read("surrogate").await);
    expect!["failed: `binary` is binary data (6 bytes), not text; it begins with the bytes 7f 45 4c 46 00 00"]
        .assert_eq(&read("binary").await);
    let long = read("long").await;
    assert!(long.len() < 3_000, "{}", long.len());
    assert!(
        long.contains("(this line has 200000 bytes)"),
        "{}",
        &long[long.len() - 100..]
    );
}

#[tokio::test]
async fn a_large_file_is_shown_in_part_and_counted_whole() {
    let folder = workspace(&[("big", &"a line of thirty-two characters\n".repeat(10_000))]);
    let shown = use_tool(
        folder.path(),
        "read_file",
        json!({"path": "big", "lines": 2000}),
    )
    .await;
    assert!(
        shown.starts_with("big: lines 1-2000 of 10000; read on with start_line 2001\n"),
        "{}",
        &shown[..80]
    );
    assert!(shown.len() < 70_000);
}

#[tokio::test]
async fn a_file_is_written_whole_with_its_folders() {
    let folder = workspace(&[]);
    let write = |content: &'static str| {
        use_tool(
            folder.path(),
            "write_file",
            json!({"path": "a/b/c.md", "content": content}),
        )
    };
    expect!["Wrote a/b/c.md: 12 bytes, 2 lines."].assert_eq(&write("first\nlines\n").await);
    expect!["Replaced a/b/c.md: 6 bytes, 1 line."].assert_eq(&write("second").await);
    assert_eq!(
        fs::read_to_string(folder.path().join("a/b/c.md")).unwrap(),
        "second"
    );
    assert_eq!(
        fs::read_dir(folder.path().join("a/b")).unwrap().count(),
        1,
        "nothing is left behind"
    );
    expect!["conflict: `a/b` is a folder, not a file; list_files shows what is in it"].assert_eq(
        &use_tool(
            folder.path(),
            "write_file",
            json!({"path": "a/b", "content": ""}),
        )
        .await,
    );
    expect!["conflict: a part of `a/b/c.md/d` is a file, not a folder"].assert_eq(
        &use_tool(
            folder.path(),
            "write_file",
            json!({"path": "a/b/c.md/d", "content": ""}),
        )
        .await,
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_rewritten_file_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let folder = workspace(&[("run.sh", "old")]);
    let path = folder.path().join("run.sh");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
    use_tool(
        folder.path(),
        "write_file",
        json!({"path": "run.sh", "content": "new"}),
    )
    .await;
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o750
    );
}

#[tokio::test]
async fn a_published_copy_is_neither_written_nor_edited() {
    let folder = workspace(&[("artifacts/a.html", "as published")]);
    let mut told = Vec::new();
    for path in [
        "artifacts/a.html",
        "./artifacts//a.html",
        "Artifacts/new/b.html",
        "artifact\u{17f}/a.html",
        "artifacts",
        "artifacts./a.html",
    ] {
        for (tool, arguments) in [
            ("write_file", json!({"path": path, "content": "forged"})),
            (
                "edit_file",
                json!({"path": path, "old": "as", "new": "not as"}),
            ),
        ] {
            let answer = use_tool(folder.path(), tool, arguments).await;
            assert!(answer.starts_with("not_permitted: "), "{path}: {answer}");
            told.push(answer);
        }
    }
    expect!["not_permitted: `artifacts/a.html` lies among the published copies, which publish_artifact writes; change the original and publish it again"].assert_eq(&told[0]);
    assert_eq!(
        fs::read_to_string(folder.path().join("artifacts/a.html")).unwrap(),
        "as published"
    );
    let beside = json!({"path": "notes/artifacts/a.html", "content": "its own"});
    expect!["Wrote notes/artifacts/a.html: 7 bytes, 1 line."]
        .assert_eq(&use_tool(folder.path(), "write_file", beside).await);
}

#[cfg(unix)]
#[tokio::test]
async fn no_link_leads_in_among_the_published_copies() {
    let folder = workspace(&[("artifacts/out/a.html", "as published")]);
    std::os::unix::fs::symlink("artifacts", folder.path().join("side")).unwrap();
    for (tool, arguments) in [
        (
            "write_file",
            json!({"path": "side/out/a.html", "content": "forged"}),
        ),
        (
            "edit_file",
            json!({"path": "side/out/a.html", "old": "as", "new": "not as"}),
        ),
    ] {
        expect!["not_permitted: `side/out/a.html` lies among the published copies, which publish_artifact writes; change the original and publish it again"].assert_eq(&use_tool(folder.path(), tool, arguments).await);
    }
}

#[tokio::test]
async fn an_edit_replaces_exact_text_and_says_how_many_places_matched() {
    let folder = workspace(&[("a.txt", "one two\none  three\none")]);
    let edit = |arguments: Value| use_tool(folder.path(), "edit_file", arguments);
    let outcomes = [
        edit(json!({"path": "a.txt", "old": "one", "new": "1"})).await,
        edit(json!({"path": "a.txt", "old": "two", "new": "2"})).await,
        edit(json!({"path": "a.txt", "old": "one three", "new": "3"})).await,
        edit(json!({"path": "a.txt", "old": "four", "new": "4"})).await,
        edit(json!({"path": "a.txt", "old": "one", "new": "1", "all": true})).await,
    ];
    expect![[r#"
        conflict: 3 matches in `a.txt` (lines 1, 2, 3): give more of the surrounding text, or set `all`; nothing was changed
        Replaced 1 place in a.txt, the first in line 1.
        not_found: 0 matches in `a.txt`: `old` does not occur there; the words do occur, with other white space: copy them exactly as read_file shows them
        not_found: 0 matches in `a.txt`: `old` does not occur there; read the file again and copy the text exactly
        Replaced 3 places in a.txt, the first in line 1."#]]
    .assert_eq(&outcomes.join("\n"));
    assert_eq!(
        fs::read_to_string(folder.path().join("a.txt")).unwrap(),
        "1 2\n1  three\n1"
    );
}

#[tokio::test]
async fn an_edit_that_was_cut_off_after_it_wrote_is_not_made_twice() {
    let folder = workspace(&[("a.txt", "a list")]);
    let arguments = json!({"path": "a.txt", "old": "list", "new": "list of lists", "all": true});
    for attempt in 1..=3 {
        let mut again = call(context(folder.path()), arguments.clone());
        again.attempt = attempt;
        run(&tool("edit_file"), again).await.unwrap();
    }
    assert_eq!(
        fs::read_to_string(folder.path().join("a.txt")).unwrap(),
        "a list of lists"
    );
}

#[tokio::test]
async fn two_edits_at_once_lose_nothing() {
    let folder = workspace(&[("a.txt", "<0><1><2><3><4><5><6><7>")]);
    let tool = tool("edit_file");
    let mut edits = Vec::new();
    for number in 0..8 {
        let arguments =
            json!({"path": "a.txt", "old": format!("<{number}>"), "new": format!("[{number}]")});
        let (tool, call) = (Arc::clone(&tool), call(context(folder.path()), arguments));
        edits.push(tokio::spawn(async move { tool.run(call).await }));
    }
    for edit in edits {
        edit.await.unwrap().unwrap();
    }
    assert_eq!(
        fs::read_to_string(folder.path().join("a.txt")).unwrap(),
        "[0][1][2][3][4][5][6][7]"
    );
}

#[tokio::test]
async fn a_listing_is_sorted_and_cut_by_depth() {
    let folder = workspace(&[
        ("b.txt", "12345"),
        ("a/one.md", "1"),
        ("a/deep/er/two.md", ""),
    ]);
    expect![[r#"
        a/
        a/deep/
        a/one.md (1 byte)
        b.txt (5 bytes)"#]]
    .assert_eq(&use_tool(folder.path(), "list_files", json!({"depth": 2})).await);
    expect![[r#"
        a/deep/er/
        a/deep/er/two.md (0 bytes)"#]]
    .assert_eq(&use_tool(folder.path(), "list_files", json!({"path": "a/deep"})).await);
    expect!["b.txt (5 bytes)"]
        .assert_eq(&use_tool(folder.path(), "list_files", json!({"path": "b.txt"})).await);
}

#[tokio::test]
async fn a_search_shows_path_line_and_text() {
    let folder = workspace(&[
        ("a.txt", "Budget: 3\nnothing\n"),
        ("sub/b.txt", "the budget\nthe Budget\n"),
        (".git/config", "budget"),
        ("binary", "budget\0"),
    ]);
    expect![[r#"
        a.txt:1: Budget: 3
        sub/b.txt:1: the budget
        sub/b.txt:2: the Budget"#]]
    .assert_eq(
        &use_tool(
            folder.path(),
            "search_files",
            json!({"pattern": "(?i)budget"}),
        )
        .await,
    );
    expect![[r#"
        sub/b.txt:1: the budget
        … cut after 1 lines: narrow the pattern or the path"#]]
    .assert_eq(
        &use_tool(
            folder.path(),
            "search_files",
            json!({"pattern": "the", "path": "sub", "limit": 1}),
        )
        .await,
    );
    expect!["No match in 1 file."].assert_eq(
        &use_tool(
            folder.path(),
            "search_files",
            json!({"pattern": "x", "path": "a.txt"}),
        )
        .await,
    );
    let broken = use_tool(folder.path(), "search_files", json!({"pattern": "(a"})).await;
    assert!(
        broken.starts_with("invalid_arguments: `pattern` is not a regular expression"),
        "{broken}"
    );
}

#[tokio::test]
async fn arguments_that_the_tool_does_not_know_are_refused_by_its_schema() {
    let folder = workspace(&[]);
    let told = use_tool(
        folder.path(),
        "read_file",
        json!({"path": "a", "encoding": "utf-8"}),
    )
    .await;
    assert!(told.starts_with("invalid_arguments: schema:"), "{told}");
}

#[cfg(unix)]
mod escapes {
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    /// A workspace beside a secret, with links that lead to it.
    fn trap() -> (TempDir, std::path::PathBuf) {
        let outer = workspace(&[("secret.txt", "secret"), ("work/own.txt", "own")]);
        let work = outer.path().join("work");
        symlink("../secret.txt", work.join("relative")).unwrap();
        symlink(outer.path().join("secret.txt"), work.join("absolute")).unwrap();
        symlink("..", work.join("up")).unwrap();
        symlink("own.txt", work.join("inside")).unwrap();
        symlink("loop", work.join("loop")).unwrap();
        (outer, work)
    }

    #[tokio::test]
    async fn no_path_and_no_link_leads_out_of_the_workspace() {
        let (outer, work) = trap();
        for path in [
            "relative",
            "absolute",
            "up/secret.txt",
            "../secret.txt",
            "/etc/passwd",
            "a/../../secret.txt",
        ] {
            let attempts = [
                use_tool(&work, "read_file", json!({"path": path})).await,
                use_tool(&work, "write_file", json!({"path": path, "content": "x"})).await,
                use_tool(
                    &work,
                    "edit_file",
                    json!({"path": path, "old": "secret", "new": "x"}),
                )
                .await,
                use_tool(&work, "search_files", json!({"path": path, "pattern": "."})).await,
            ];
            for told in attempts {
                assert!(told.starts_with("not_permitted: "), "{path}: {told}");
            }
        }
        assert_eq!(
            fs::read_to_string(outer.path().join("secret.txt")).unwrap(),
            "secret"
        );
        let listed = use_tool(&work, "list_files", json!({"path": "up"})).await;
        assert!(listed.starts_with("not_permitted: "), "{listed}");
    }

    #[tokio::test]
    async fn links_are_listed_and_never_walked() {
        let (_outer, work) = trap();
        expect![[r#"
            absolute (link, not followed)
            inside (link, not followed)
            loop (link, not followed)
            own.txt (3 bytes)
            relative (link, not followed)
            up (link, not followed)"#]]
        .assert_eq(&use_tool(&work, "list_files", json!({})).await);
        expect!["own.txt:1: own"]
            .assert_eq(&use_tool(&work, "search_files", json!({"pattern": "."})).await);
    }

    #[tokio::test]
    async fn a_link_that_stays_inside_is_read_but_never_written_through() {
        let (_outer, work) = trap();
        assert!(
            use_tool(&work, "read_file", json!({"path": "inside"}))
                .await
                .ends_with("own\n")
        );
        expect!["not_permitted: `inside` is a link; write to the file that it names instead"]
            .assert_eq(
                &use_tool(
                    &work,
                    "write_file",
                    json!({"path": "inside", "content": "x"}),
                )
                .await,
            );
    }

    #[tokio::test]
    async fn what_a_crash_left_behind_is_no_way_out() {
        let (outer, work) = trap();
        symlink("../secret.txt", work.join(".longrein-unfinished")).unwrap();
        use_tool(
            &work,
            "write_file",
            json!({"path": "new.txt", "content": "x"}),
        )
        .await;
        assert_eq!(
            fs::read_to_string(outer.path().join("secret.txt")).unwrap(),
            "secret"
        );
        assert_eq!(fs::read_to_string(work.join("new.txt")).unwrap(), "x");
    }

    #[tokio::test]
    async fn a_pipe_is_refused_at_once_and_a_sparse_giant_is_not_swallowed() {
        let folder = workspace(&[("text", "needle\n")]);
        let pipe = folder.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        let giant = fs::File::create(folder.path().join("giant")).unwrap();
        giant.set_len(1 << 40).unwrap();
        let refused = "not_permitted: `pipe` is not a regular file (a pipe, a socket or a device), and is not opened";
        for (name, arguments) in [
            ("read_file", json!({"path": "pipe"})),
            ("write_file", json!({"path": "pipe", "content": ""})),
            ("edit_file", json!({"path": "pipe", "old": "a", "new": "b"})),
            ("search_files", json!({"path": "pipe", "pattern": "a"})),
        ] {
            assert_eq!(
                use_tool(folder.path(), name, arguments).await,
                refused,
                "{name}"
            );
        }
        expect![[r#"
            text:1: needle
            1 file was passed over (too large, or not readable as text)"#]]
        .assert_eq(&use_tool(folder.path(), "search_files", json!({"pattern": "needle"})).await);
        let told = use_tool(folder.path(), "read_file", json!({"path": "giant"})).await;
        assert!(
            told.starts_with("failed: `giant` is binary data (1099511627776 bytes)"),
            "{told}"
        );
        let told = use_tool(
            folder.path(),
            "edit_file",
            json!({"path": "giant", "old": "a", "new": "b"}),
        )
        .await;
        assert!(
            told.starts_with("failed: `giant` has 1099511627776 bytes"),
            "{told}"
        );
    }
}
