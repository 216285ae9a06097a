//! `bench steps`, small.

use crate::support::Home;

#[test]
fn the_bench_measures_a_step_and_says_so_as_a_table_and_as_json() {
    let home = Home::new();
    let bench = home.run(&["bench", "steps", "--n", "40,1000", "--json"]);
    assert_eq!(bench.status, 0, "{bench}");
    let report = &bench.json()[0];
    let steps = report["steps"].as_array().unwrap();
    assert_eq!(
        (steps.len(), &steps[0]["n"], &steps[1]["n"]),
        (2, &40.into(), &1_000.into())
    );
    for cost in steps {
        let keys = [
            "wall_ms_per_step",
            "cpu_ms_per_step",
            "bytes_per_step",
            "peak_rss_mb",
        ];
        for key in keys {
            assert!(
                cost[key].as_f64().is_some_and(|value| value > 0.0),
                "{key}: {cost}"
            );
        }
    }
    assert!(
        report["start_to_first_request_ms"]
            .as_f64()
            .is_some_and(|ms| ms > 0.0)
    );
    let table = home.run(&["bench", "steps", "--n", "5"]);
    assert!(table.out.contains("cpu/step"), "{table}");
    assert!(home.runs().is_empty(), "the bench leaves nothing behind");
}
