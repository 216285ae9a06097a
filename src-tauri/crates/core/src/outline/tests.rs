use expect_test::{Expect, expect};

use super::*;

fn check(text: &str, expected: Expect) {
    let Outline { kind, lines } = outline(text);
    expected.assert_eq(&format!("{}\n{}\n", kind.in_words(), lines.join("\n")));
}

#[test]
fn json_is_told_by_its_keys_counts_and_types() {
    let hits: Vec<String> = (0..500)
        .map(|n| {
            let note = if n % 10 == 0 { r#", "note": null"# } else { "" };
            format!(
                r#"{{"id": {n}, "title": "{}", "score": {n}.5, "tags": ["a"]{note}}}"#,
                "t".repeat(n % 90)
            )
        })
        .collect();
    let text = format!(
        r#"{{"total": 500, "query": "heron", "hits": [{}], "empty": []}}"#,
        hits.join(",")
    );
    check(
        &text,
        expect![[r#"
            JSON
            object with 4 keys
            - total: integer (500)
            - query: text (heron)
            - hits: array of 500 items
              - each item: object
                - id: integer
                - title: text of up to 89 bytes
                - score: number
                - tags: array of 1 item
                  - each item: text
                - note: null in 50 of 500
            - empty: array of 0 items
        "#]],
    );
}

#[test]
fn what_the_harness_says_behind_json_is_no_part_of_it() {
    let said = format!("[{}]\n[exit status 0, after 1.2 s]", "1, ".repeat(20) + "2");
    assert_eq!(outline(&said).lines[0], "array of 21 items");
    assert_eq!(json_in("[1] and so on"), None);
    assert_eq!(json_in("[1]\n[2]"), None);
}

#[test]
fn an_object_that_is_used_as_a_map_lists_some_keys_and_counts_the_rest() {
    let entries: Vec<String> = (0..200).map(|n| format!(r#""k{n}": {n}"#)).collect();
    let Outline { lines, .. } = outline(&format!("{{{}}}", entries.join(",")));
    assert_eq!(lines[0], "object with 200 keys");
    assert_eq!(
        lines.last().unwrap(),
        "- … 152 more values under other keys"
    );
}

#[test]
fn json_lines_are_rows_and_a_broken_one_is_counted() {
    let mut text: String = (0..30)
        .map(|n| format!("{{\"n\": {n}, \"who\": \"x\"}}\n"))
        .collect();
    text.push_str("{\"n\": \n");
    check(
        &text,
        expect![[r#"
            JSON Lines
            30 rows, 1 line that can't be read, each:
            object
            - n: integer
            - who: text
        "#]],
    );
}

#[test]
fn a_table_is_told_by_its_columns_types_and_rows() {
    let mut text = String::from("city,people,area,note\n");
    for n in 0..100 {
        text.push_str(&format!(
            "\"Town, {n}\",{},{}.5,{}\n",
            n * 10,
            n,
            if n % 2 == 0 { "" } else { "ok" }
        ));
    }
    check(
        &text,
        expect![[r#"
            CSV
            100 rows, 4 columns:
            - city: text
            - people: integer, 0 to 990
            - area: number, 0.5 to 99.5
            - note: text, 50 empty
        "#]],
    );
    check(
        "1\t2\n3\t4\n5\t6\n",
        expect![[r#"
            TSV
            3 rows, 2 columns:
            - column 1: integer, 1 to 5
            - column 2: integer, 2 to 6
        "#]],
    );
}

#[test]
fn prose_with_commas_is_no_table() {
    let text = "Well, it began.\nThen, much later, it went on, and on.\nIt ended.\n";
    assert_eq!(outline(text).kind, Kind::Text);
}

#[test]
fn markdown_is_told_by_its_headings_and_tables() {
    let text = "# Birds\n\nText.\n\n## Herons\n\n| name | height |\n|---|---:|\n| grey | 98 |\n| great | 140 |\n\n```\n# not a heading\n```\n\n### Food\nFish.\n";
    check(
        text,
        expect![[r##"
            Markdown
            17 lines, the longest of 17 bytes
            # Birds (line 1)
            ## Herons (line 5)
            | table with 2 rows of name, height (line 7)
            ### Food (line 16)
        "##]],
    );
}

#[test]
fn a_page_is_told_by_its_title_and_headings() {
    let text = "<!DOCTYPE html>\n<html><head><title>On <b>herons</b></title></head>\n<body><h1 class=\"x\">Grey\nheron</h1><header>no</header><h2>Food</h2></body></html>";
    check(
        text,
        expect![[r##"
            HTML
            4 lines, the longest of 56 bytes
            title: On herons
            # Grey heron
            ## Food
        "##]],
    );
}

#[test]
fn code_and_logs_are_told_by_their_lines() {
    let text = "start\nERROR: it broke\nwarning: low\nerror again\n";
    check(
        text,
        expect![[r#"
            text
            4 lines, the longest of 15 bytes
            - 2 lines with “error”
            - 1 line with “warn”
        "#]],
    );
}

/// Nothing here may hang, run out of the stack or panic.
#[test]
fn hostile_texts_are_only_text() {
    let deep = "[".repeat(2_000_000);
    assert_eq!(outline(&deep).kind, Kind::Text);
    let closed = format!("{}{}", "[".repeat(400_000), "]".repeat(400_000));
    let told = outline(&closed);
    assert_eq!(told.kind, Kind::Json, "deep but whole JSON is JSON");
    assert!(told.lines.len() < 20);
    let one_line = "x".repeat(8_000_000);
    assert_eq!(
        outline(&one_line).lines,
        ["1 line, the longest of 8,000,000 bytes"]
    );
    for text in [
        "",
        "\0\0\0",
        "{",
        "\"",
        "a,\"b\nc,\"d\ne,\"f",
        "<html",
        "# ",
        "|-|",
        "\u{feff}{}",
    ] {
        outline(text);
    }
    let names = format!("{{\"{}\\nnext\": 1}}", "k".repeat(5_000));
    let told = outline(&names).lines.join("\n");
    assert!(told.len() < 300, "{told}");
}

#[test]
fn a_preview_is_bounded_and_says_how_the_rest_is_read() {
    let rows: Vec<String> = (0..5_000)
        .map(|n| format!(r#"{{"id": {n}, "ä": "ö"}}"#))
        .collect();
    let json = format!("[{}]", rows.join(","));
    let giant = "é".repeat(400_000);
    let log: String = (0..9_000).map(|n| format!("line {n}\n")).collect();
    for text in [json, giant, log] {
        let outline = outline(&text);
        for bytes in [0, 800, 4_000, 16_000] {
            let preview = Preview {
                text: &text,
                outline: &outline,
                name: "a7",
                file: Some("results/a7.json"),
                bytes,
            };
            let shown = preview.text();
            assert!(
                shown.len() <= bytes.max(PREVIEW_BYTES_MIN) + 300,
                "{} of {bytes}",
                shown.len()
            );
            assert!(
                shown.contains("results/a7.json holds it, and read_result with \"result\": \"a7\""),
                "{shown}"
            );
        }
    }
}

#[test]
fn a_preview_shows_the_outline_and_both_ends() {
    let text: String = (0..2_000).map(|n| format!("line {n}\n")).collect();
    let preview = Preview {
        text: &text,
        outline: &outline(&text),
        name: "a7",
        file: None,
        bytes: 800,
    };
    let shown = preview.text();
    assert!(
        shown.starts_with("[18,890 bytes of text: too long to be shown whole. read_result with"),
        "{shown}"
    );
    assert!(
        shown.contains("[It begins:]\nline 0\n") && shown.ends_with("line 1999\n"),
        "{shown}"
    );
    assert!(!shown.contains("\nine "), "lines are shown whole: {shown}");
}
