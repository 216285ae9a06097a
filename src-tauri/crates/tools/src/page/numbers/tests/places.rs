//! Numbers in their places: in dates, in columns, under what they are divided by, beyond what was shown.

use super::*;

#[test]
fn days_and_years_are_found_in_every_form() {
    let meta = SourceMeta {
        title: "Ten rules of 2030".to_owned(),
        date: Some("2031-02-03".to_owned()),
        ..SourceMeta::default()
    };
    let source =
        "On 12 February the process was killed. March 4th, 2029 was quiet, the 1990s were not.";
    let whole = TextRange {
        start: 0,
        end: source.len() as u32,
        page: None,
    };
    check_in(
        source,
        &meta,
        &[whole],
        &[
            "It was killed on 12 February 2031.",
            "It was killed on February 12.",
            "It was killed on 12. Februar 2031.",
            "It was killed on 13 February 2031.",
            "It was killed on 12 February 2028.",
            "It was quiet on 2029-03-04, and on 4/3/2029.",
            "It was quiet in March 2029.",
            "It was published in 2031, on 3 February 2031.",
            "In 2030, and in 1990 or the 1990s.",
            "In 1989.",
            "In May 5 things may 6 times happen.",
        ],
        expect![[r#"
            It was killed on 12 February 2031.
                "12 February 2031" = "12 February"
            It was killed on February 12.
                "February 12" = "12 February"
            It was killed on 12. Februar 2031.
                "12. Februar 2031" = "12 February"
            It was killed on 13 February 2031.
                "13 February 2031" ≠ "On 12 February the process was killed."
            It was killed on 12 February 2028.
                "12 February 2028" ≠ "On 12 February the process was killed."
            It was quiet on 2029-03-04, and on 4/3/2029.
                "2029-03-04" = "March 4th, 2029"; "4/3/2029" = "March 4th, 2029"
            It was quiet in March 2029.
                "March 2029" = "March 4th, 2029"
            It was published in 2031, on 3 February 2031.
                "2031" = its title or date; "3 February 2031" = its title or date
            In 2030, and in 1990 or the 1990s.
                "2030" = its title or date; "1990" = "1990s"; "1990s" = "1990s"
            In 1989.
                "1989" ≠ "2029 was quiet, the 1990s were not."
            In May 5 things may 6 times happen.
                "May 5" ≠ "On 12 February the process was killed."; "6 times" missing
        "#]],
    );
}

#[test]
fn a_document_says_at_its_beginning_when_it_was_written() {
    let text = format!(
        "Smith et al. Received 4 May 2019, 17 pages. {}Then it took 5 s.",
        "Words. ".repeat(400)
    );
    let shown = TextRange {
        start: text.len() as u32 - 20,
        end: text.len() as u32,
        page: None,
    };
    check_in(
        &text,
        &SourceMeta::default(),
        &[shown],
        &[
            "Smith (2019) measured 5 s.",
            "It has 17 pages.",
            "It was received on 4 May 2019.",
        ],
        expect![[r#"
            Smith (2019) measured 5 s.
                "2019" = its title or date; "5 s" = "5 s"
            It has 17 pages.
                "17" beyond "Received 4 May 2019, 17 pages. Words. Words. Words."
            It was received on 4 May 2019.
                "4 May 2019" = its title or date
        "#]],
    );
}

#[test]
fn times_ratios_and_versions_are_compared_as_they_are_written() {
    check(
        "At 14:30, with a ratio of 3:1, version 1.2.3 on 10.0.0.1 in 2020/21, v2.4.1.",
        &[
            "At 14:30, at 3:1.",
            "At 14:31.",
            "With 1.2.3 and 2.4.1, not 1.2.4.",
            "From 2020/21 on.",
        ],
        expect![[r#"
            At 14:30, at 3:1.
                "14:30" = "14:30"; "3:1" = "3:1"
            At 14:31.
                "14:31" missing
            With 1.2.3 and 2.4.1, not 1.2.4.
                "1.2.3" = "1.2.3"; "2.4.1" = "2.4.1"; "1.2.4" missing
            From 2020/21 on.
                "2020/21" = "2020/21"
        "#]],
    );
}

#[test]
fn a_unit_in_the_heading_of_a_column_counts_for_its_numbers() {
    check(
        "| index | latency (ms) | memory [GB] | in millions |\n|---|---|---|---|\n| HNSW | 2.1 | 338 | 7 |\n| IVF | **3.2** | 11 | 9 of 12 |\n\nIt took 42 queries.",
        &[
            "HNSW takes 2.1 ms and 338 GB.",
            "IVF takes 3.2 ms.",
            "There are 7 million.",
            "It took 42 ms.",
            "It took 338 s.",
        ],
        expect![[r#"
            HNSW takes 2.1 ms and 338 GB.
                "2.1 ms" = "2.1"; "338 GB" = "338"
            IVF takes 3.2 ms.
                "3.2 ms" = "3.2"
            There are 7 million.
                "7 million" = "7"
            It took 42 ms.
                "42 ms" ≠ "12 | It took 42 queries."
            It took 338 s.
                "338 s" ≠ "HNSW | 2.1 | 338 | 7 | |"
        "#]],
    );
}

#[test]
fn a_unit_is_divided_by_what_it_is_divided_by() {
    check(
        "The drive gives 400 MB/s and costs 470 crowns a month; it turns 90 km per hour, on 12 m² and 5 km2.",
        &[
            "It gives 400 MB per second.",
            "It gives 400 MB per hour.",
            "It gives 400 MB.",
            "It costs 470 crowns per month.",
            "It costs 470 crowns a year.",
            "It goes 90 km/h on 12 square metres, or 5,000,000 m^2.",
            "It has 12 m.",
        ],
        expect![[r#"
            It gives 400 MB per second.
                "400 MB per second" = "400 MB/s"
            It gives 400 MB per hour.
                "400 MB per hour" ≠ "The drive gives 400 MB/s and costs 470 crowns"
            It gives 400 MB.
                "400 MB" = "400 MB/s"
            It costs 470 crowns per month.
                "470 crowns per month" = "470 crowns a month"
            It costs 470 crowns a year.
                "470 crowns a year" ≠ "400 MB/s and costs 470 crowns a month; it turns 90"
            It goes 90 km/h on 12 square metres, or 5,000,000 m^2.
                "90 km/h" = "90 km per hour"; "12 square metres" = "12 m²"; "5,000,000 m^2" = "5 km2"
            It has 12 m.
                "12 m" ≠ "km per hour, on 12 m² and 5 km2."
        "#]],
    );
}

#[test]
fn what_was_not_shown_is_told_apart_from_what_is_not_there() {
    let source = format!(
        "It needed 338 GB. {}It took 42 ms.",
        "Words and words. ".repeat(20)
    );
    let shown = TextRange {
        start: 0,
        end: 20,
        page: None,
    };
    check_in(
        &source,
        &SourceMeta::default(),
        &[shown],
        &["It needed 338 GB.", "It took 42 ms.", "It took 43 s."],
        expect![[r#"
            It needed 338 GB.
                "338 GB" = "338 GB"
            It took 42 ms.
                "42 ms" beyond "and words. It took 42 ms."
            It took 43 s.
                "43 s" missing
        "#]],
    );
}

#[test]
fn names_count_where_a_source_has_them() {
    check(
        "Larkspur-100M was read at p95 with SHA-256 keys, by an 8-bit code (int8), 768d, in the second generation, one third of it.",
        &[
            "In its 2nd generation, 1/3 of it.",
            "It holds 100 million vectors at the 95th percentile.",
            "It has 256 keys of 8 bits and 768 dimensions.",
        ],
        expect![[r#"
            In its 2nd generation, 1/3 of it.
                "2nd" = "second"; "1/3" = its title or date
            It holds 100 million vectors at the 95th percentile.
                "100 million" = "100M"; "95th" = "95"
            It has 256 keys of 8 bits and 768 dimensions.
                "256" = "256"; "8 bits" = "8-bit"; "768" = "768d"
        "#]],
    );
}
