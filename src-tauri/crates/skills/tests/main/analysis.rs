//! The programs of `data-analysis`.

use std::fs;

use expect_test::expect;

use crate::bundled::Bench;

const RAW: &str = "Stadt;Preis;Fläche;Tag;Note\n\
    Bern ;1.200,50 EUR;40;03.01.2024;ok\n\
    Bern;980,00 EUR;35;04.01.2024;n/a\n\
    Basel;1.500,00 EUR;50;05.01.2024;\n\
    Basel;auf Anfrage;55;06.01.2024;ok\n\
    Chur;700,00 EUR;30;13.01.2024;OK\n\
    Chur;700,00 EUR;30;13.01.2024;OK\n";

/// A bench with the raw table and the clean one.
fn analysed() -> Bench {
    let bench = Bench::of("data-analysis");
    bench.write("raw.csv", RAW);
    bench.told(
        "clean.py",
        &[
            "raw.csv",
            "clean.csv",
            "--receipt",
            "clean.json",
            "--trim",
            "--missing",
            "--strip-unit",
            "Preis=EUR",
            "--decimal",
            ",",
            "--number",
            "Preis",
            "--date",
            "Tag=%d.%m.%Y",
            "--rename",
            "Stadt=city",
            "--rename",
            "Preis=price",
            "--rename",
            "Fläche=area",
            "--drop-duplicates",
        ],
    );
    bench
}

#[test]
fn a_table_is_profiled_with_all_that_looks_wrong() {
    let bench = Bench::of("data-analysis");
    bench.write("raw.csv", RAW);
    let told = bench.told("profile.py", &["raw.csv", "--json", "profile.json"]);
    let notes: Vec<&str> = told
        .lines()
        .filter(|line| line.contains('!'))
        .map(str::trim)
        .collect();
    expect![[r#"
        [
            "! 1 rows repeat another row exactly",
            "! 1 cells have spaces around or doubled inside",
            "! 5 cells are a number with a unit: use clean.py --strip-unit",
            "! 6 cells are dates whose order of day and month is not known: use clean.py --date",
            "! 1 values differ from another in case only",
        ]
    "#]]
    .assert_debug_eq(&notes);
    let facts: serde_json::Value = serde_json::from_str(&bench.read("profile.json")).unwrap();
    assert_eq!(facts["columns"][2]["median"], "37.5");
    assert_eq!(facts["columns"][4]["missing"], 2);
}

#[test]
fn a_table_is_cleaned_by_named_rules_and_what_does_not_fit_is_left_and_told() {
    let bench = analysed();
    expect![[r#"
        city,price,area,Tag,Note
        Bern,1200.5,40,2024-01-03,ok
        Bern,980,35,2024-01-04,
        Basel,1500,50,2024-01-05,
        Basel,auf Anfrage,55,2024-01-06,ok
        Chur,700,30,2024-01-13,OK
    "#]]
    .assert_eq(&bench.read("clean.csv"));
    let receipt: serde_json::Value = serde_json::from_str(&bench.read("clean.json")).unwrap();
    let left: Vec<_> = receipt["cells"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["left"].is_number())
        .map(|entry| entry["examples"][0]["cell"].as_str().unwrap())
        .collect();
    assert_eq!(left, ["auf Anfrage", "auf Anfrage"]);
    assert_eq!(receipt["dropped"][0]["rows"], 1);
    assert_eq!(bench.read("raw.csv"), RAW);
    let (status, error) =
        bench.refused("clean.py", &["raw.csv", "./raw.csv", "--receipt", "r.json"]);
    assert_eq!(status, Some(2), "{error}");
}

#[test]
fn groups_quantiles_shares_and_formulas_are_computed_exactly() {
    let bench = analysed();
    let told = bench.told(
        "compute.py",
        &[
            "clean.csv",
            "--out",
            "by.csv",
            "--receipt",
            "by.json",
            "--skip-text",
            "--where",
            "area >= 30 and not missing(price)",
            "--derive",
            "unit=price/area",
            "--group-by",
            "city",
            "--agg",
            "count()",
            "--agg",
            "median(price)",
            "--agg",
            "p90(price)",
            "--agg",
            "max(unit)",
            "--agg",
            "share(area)",
            "--sort=-median_price",
        ],
    );
    expect![[r#"
        city,count,median_price,p90_price,max_unit,share_area
        Basel,2,1500,1500,30,0.5
        Bern,2,1090.25,1178.45,30.0125,0.357142857143
        Chur,1,700,700,23.3333333333,0.142857142857
        # where area >= 30 and not missing(price): {'kept': 5, 'dropped': 0, 'dropped_without_value': 0}
        # derive unit: {'rows': 5, 'without_value': 1}
        # count: {}
        # median_price: {'missing': 0, 'text': 1}
        # p90_price: {'missing': 0, 'text': 1}
        # max_unit: {'missing': 1}
        # share_area: {'missing': 0}
    "#]].assert_eq(&told);
    let fit = bench.told(
        "compute.py",
        &[
            "clean.csv",
            "--out",
            "fit.csv",
            "--receipt",
            "fit.json",
            "--skip-text",
            "--fit",
            "area,price",
        ],
    );
    expect![[r#"
        x,y,rows,pearson,spearman,slope,intercept,r_squared,residual_standard_error
        area,price,4,0.987999918358,1,39.2028571429,-423.985714286,0.976143838675,64.0944058178
        # pairs: {'used': 5, 'left_out_without_value': 0, 'text': 1}
    "#]]
    .assert_eq(&fit);
}

#[test]
fn a_formula_runs_nobodys_code_and_a_wrong_one_is_told() {
    let bench = analysed();
    for (formula, part) in [
        ("x=__import__('os').system('id')", "no column"),
        ("x=().__class__", "no formula"),
        ("x=[x for x in (1,)]", "no column"),
        ("x=price/area", "is no number"),
        ("x=9**999", "exponents"),
        ("x=open('raw.csv')", "no column"),
        ("x=nothing+1", "no column"),
        ("x=", "can't be read"),
    ] {
        let (status, error) = bench.refused(
            "compute.py",
            &[
                "clean.csv",
                "--out",
                "x.csv",
                "--receipt",
                "x.json",
                "--derive",
                formula,
            ],
        );
        assert_eq!(status, Some(2), "{formula}: {error}");
        assert!(error.contains(part), "{formula}: {error}");
    }
    assert!(!bench.work.join("x.csv").exists());
}

#[test]
fn every_kind_of_file_is_read_and_a_broken_one_is_told() {
    let bench = Bench::of("data-analysis");
    bench.write(
        "a.json",
        r#"{"items": [{"a": 1.50, "b": {"c": "x"}}, {"a": null, "d": [1, 2]}]}"#,
    );
    bench.write("a.jsonl", "{\"a\": 1}\n\n{\"a\": 2}\n");
    bench.write("a.tsv", "a\tb\n1\t2\n");
    fs::write(bench.work.join("a.txt"), b"name|n\nZ\xfcrich|3\n").unwrap();
    assert!(
        bench
            .told("profile.py", &["a.json"])
            .contains("2 rows, 3 columns")
    );
    assert!(
        bench
            .told("profile.py", &["a.jsonl"])
            .contains("2 rows, 1 columns")
    );
    assert!(
        bench
            .told("profile.py", &["a.tsv"])
            .contains("1 rows, 2 columns")
    );
    let guessed = bench.told("profile.py", &["a.txt"]);
    assert!(
        guessed.contains("Zürich") && guessed.contains("cp1252"),
        "{guessed}"
    );
    bench.write("bad.json", "{");
    bench.write("empty.csv", "\n");
    bench.write("bad.jsonl", "{\"a\": 1}\nno\n");
    for name in ["bad.json", "empty.csv", "bad.jsonl", "missing.csv"] {
        let (status, error) = bench.refused("profile.py", &[name]);
        assert_eq!(status, Some(2), "{name}: {error}");
        assert!(error.starts_with("error: "), "{name}: {error}");
    }
}

#[test]
fn charts_are_drawings_that_load_and_run_nothing() {
    let bench = analysed();
    bench.write("odd.csv", "label,n\n<b>&,3\n\"a \"\"b\"\"\",-2\nnone,\n");
    for (name, arguments) in [
        (
            "bar",
            vec!["odd.csv", "--kind", "bar", "--x", "label", "--y", "n"],
        ),
        (
            "line",
            vec![
                "clean.csv",
                "--kind",
                "line",
                "--x",
                "Tag",
                "--y",
                "area",
                "--series",
                "city",
            ],
        ),
        (
            "scatter",
            vec![
                "clean.csv",
                "--kind",
                "scatter",
                "--x",
                "area",
                "--y",
                "price",
            ],
        ),
        (
            "histogram",
            vec!["clean.csv", "--kind", "histogram", "--x", "price"],
        ),
    ] {
        let file = format!("{name}.svg");
        let mut arguments = arguments;
        arguments.insert(1, &file);
        arguments.extend(["--title", "A <title> & more", "--unit", "EUR"]);
        bench.told("chart.py", &arguments);
        let drawing = bench.read(&file);
        assert!(
            drawing.contains("<title>A &lt;title&gt; &amp; more</title><desc>"),
            "{drawing}"
        );
        assert!(drawing.ends_with("</svg>\n"));
        for barred in ["<script", "href", "url(", "<b>", "nan", "inf\""] {
            assert!(!drawing.contains(barred), "{name}: {barred}");
        }
        assert_eq!(drawing.matches("http").count(), 1, "the name space alone");
    }
}

#[test]
fn bars_of_several_rows_for_one_label_are_told_to_be_aggregated() {
    let bench = analysed();
    let (_, error) = bench.refused(
        "chart.py",
        &[
            "clean.csv",
            "x.svg",
            "--kind",
            "bar",
            "--x",
            "city",
            "--y",
            "area",
            "--title",
            "T",
        ],
    );
    assert!(error.contains("Aggregate"), "{error}");
}

#[test]
fn a_report_holds_only_while_its_files_are_what_the_receipts_say() {
    let bench = analysed();
    bench.told(
        "compute.py",
        &[
            "clean.csv",
            "--out",
            "by.csv",
            "--receipt",
            "by.json",
            "--group-by",
            "city",
            "--agg",
            "sum(area)",
        ],
    );
    let arguments = [
        "report.md",
        "--title",
        "Areas",
        "--question",
        "How large?",
        "--receipts",
        "clean.json",
        "by.json",
        "--table",
        "by.csv",
    ];
    bench.told("report.py", &arguments);
    let report = bench.read("report.md");
    assert!(report.contains("| Bern | 75 |"), "{report}");
    assert!(report.contains("`raw.csv` (raw): `"), "{report}");
    bench.write("clean.csv", "city,area\nBern,1\n");
    let (status, error) = bench.refused("report.py", &arguments);
    assert_eq!(status, Some(2));
    assert!(error.contains("clean.csv' changed since"), "{error}");
}
