//! The demonstration library, embedded: invented notes of an invented laboratory.

macro_rules! document {
    ($name:literal) => {
        (
            $name,
            include_bytes!(concat!("../../demo-library/", $name)).as_slice(),
        )
    };
}

/// The documents: name and bytes.
pub const LIBRARY: &[(&str, &[u8])] = &[
    document!("01-test-bench.md"),
    document!("02-hnsw-in-memory.md"),
    document!("03-ivf-pq.md"),
    document!("04-graph-on-disk.html"),
    document!("05-build-times.txt"),
    document!("06-updates-and-deletes.md"),
    document!("07-filtered-search.html"),
    document!("08-what-it-costs.md"),
    document!("09-things-that-went-wrong.txt"),
    document!("10-recommendation.pdf"),
    document!("11-night-log.txt"),
];

/// The question that the demonstration asks of it.
pub const QUESTION: &str = "Which vector index fits 100 million vectors on one machine: HNSW in memory, IVF-PQ, or a \
                            graph on disk? Compare memory, recall and latency.";
