//! `bench context`: what a long research costs in tokens, with everything that keeps the context
//! small, with each of these off, and with none; and whether what matters is still there at the end.

mod measured;
mod meter;
mod workload;
mod world;

use std::path::Path;
use std::sync::Arc;

use longrein_core::run::BYTES_PER_TOKEN;
use longrein_protocol::agent::AgentSpec;
use serde::Serialize;

use self::measured::{Measured, Stopped};
use self::workload::Workload;
use self::world::ResearchWorld;
use super::{measure, threads};
use crate::arguments::BenchContext;
use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::screen::Screen;
use crate::text;

/// Larger than anything that a research sends.
const NO_WINDOW_TOKENS: u32 = 500_000_000;
/// Larger than anything that a tool returns.
const NO_LIMIT_TOKENS: u32 = 100_000_000;

/// Something that keeps the context small, and can be switched off.
struct Feature {
    name: &'static str,
    switch_off: fn(&mut Way),
}

/// A way of doing the research.
#[derive(Clone, Debug)]
pub struct Way {
    /// The agent that does it.
    pub agent: AgentSpec,
    /// Whether it has the tool that looks back.
    pub recalls: bool,
}

/// Everything that can be switched off.
const FEATURES: &[Feature] = &[
    Feature {
        name: "offloading",
        switch_off: |way| way.agent.context.offload_above_tokens = NO_LIMIT_TOKENS,
    },
    Feature {
        name: "compaction",
        // Without it only a window without end takes the research.
        switch_off: |way| way.agent.model.window_tokens = NO_WINDOW_TOKENS,
    },
    Feature {
        name: "summaries",
        switch_off: |way| way.agent.context.summaries = false,
    },
    Feature {
        name: "recall",
        switch_off: |way| way.recalls = false,
    },
];

/// What was measured.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// Steps of the research.
    pub steps: u32,
    /// The model's window.
    pub window_tokens: u32,
    /// Facts that were planted.
    pub facts: u32,
    /// One for each way of doing it.
    pub runs: Vec<Line>,
}

/// What one way of doing the research came to.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Line {
    /// Which way.
    pub with: String,
    /// All tokens that were sent, four bytes each.
    pub tokens_sent: u64,
    /// The same as a part of what is sent with none of the features.
    pub of_naive: f64,
    /// The part of them that equals the front of the request before, which a provider has cached.
    pub cacheable: f64,
    /// The largest request.
    pub peak_tokens: u64,
    /// What the log holds of it.
    pub stored_bytes: u64,
    /// How often older parts were taken out.
    pub compactions: u32,
    /// Summaries that were asked for.
    pub summaries: u32,
    /// Results that were shown by what they are made of.
    pub offloaded: u32,
    /// Facts in the last request.
    pub in_view: u32,
    /// Facts that the model found when it looked back.
    pub recalled: u32,
    /// Requests that the log does not rebuild byte for byte.
    pub not_rebuilt: u32,
    /// Where it did not come to its end: then the rest says what it came to until there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
}

/// `bench context`.
pub fn run(context: &Context, bench: &BenchContext) -> Result<Status, Failure> {
    let mut screen = context.screen();
    let folder = measure::folder(context)?;
    let report = report(folder.path(), bench, &mut |words| screen.status(words))?;
    if screen.is_json() {
        screen.json(&report)?;
    } else {
        tell(&report, &mut screen)?;
    }
    Ok(Status::Done)
}

fn report(
    folder: &Path,
    bench: &BenchContext,
    status: &mut dyn FnMut(&str),
) -> Result<Report, Failure> {
    let workload = Arc::new(Workload::new(bench.seed, bench.steps));
    let mut ways: Vec<(String, Vec<&Feature>)> = vec![("all".to_owned(), Vec::new())];
    ways.extend(
        FEATURES
            .iter()
            .map(|off| (format!("without {}", off.name), vec![off])),
    );
    ways.push(("none".to_owned(), FEATURES.iter().collect()));
    let mut measured = Vec::with_capacity(ways.len());
    for (number, (name, off)) in ways.into_iter().enumerate() {
        status(&name);
        let agent = ResearchWorld::agent(bench.window);
        let agent = agent.map_err(|error| {
            Failure::said(
                Status::Failed,
                format!("The bench's agent is none: {error}."),
                "",
            )
        })?;
        let mut way = Way {
            agent,
            recalls: true,
        };
        off.iter()
            .for_each(|feature| (feature.switch_off)(&mut way));
        let folder = folder.join(number.to_string());
        let research = measured::research(&folder, way, workload.clone());
        measured.push((name, threads()?.block_on(research)?));
    }
    let naive = measured.last().map_or(0, |(_, naive)| naive.sent.bytes);
    Ok(Report {
        steps: bench.steps,
        window_tokens: bench.window,
        facts: workload.facts.len() as u32,
        runs: measured
            .into_iter()
            .map(|(name, one)| line(name, &one, naive))
            .collect(),
    })
}

fn line(with: String, measured: &Measured, naive_bytes: u64) -> Line {
    let Measured { sent, .. } = measured;
    let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
    Line {
        with,
        tokens_sent: sent.bytes / BYTES_PER_TOKEN as u64,
        of_naive: share(sent.bytes, naive_bytes),
        cacheable: share(sent.same_bytes, sent.bytes),
        peak_tokens: sent.peak_bytes / BYTES_PER_TOKEN as u64,
        stored_bytes: measured.stored_bytes,
        compactions: measured.compactions,
        summaries: sent.side_requests,
        offloaded: measured.offloaded,
        in_view: sent.in_view,
        recalled: sent.recalled,
        not_rebuilt: measured.requests - measured.rebuilt,
        stopped: measured.stopped.clone(),
    }
}

fn tell(report: &Report, screen: &mut Screen) -> Result<(), Failure> {
    screen.result(&format!(
        "A research of {}, in a window of {} tokens, with {} planted facts",
        text::counted(report.steps, "step"),
        text::count(report.window_tokens.into()),
        report.facts
    ))?;
    screen.result("")?;
    screen.result(&format!(
        "{:<20} {:>14} {:>9} {:>10} {:>14} {:>10} {:>12} {:>10} {:>10} {:>14}",
        "",
        "tokens sent",
        "of naive",
        "cacheable",
        "peak request",
        "stored",
        "compactions",
        "summaries",
        "offloaded",
        "view + recall"
    ))?;
    for line in &report.runs {
        screen.result(&format!(
            "{:<20} {:>14} {:>7.1} % {:>8.1} % {:>14} {:>7.1} MB {:>12} {:>10} {:>10} {:>14}",
            line.with,
            text::count(line.tokens_sent),
            line.of_naive * 100.0,
            line.cacheable * 100.0,
            text::count(line.peak_tokens),
            line.stored_bytes as f64 / 1e6,
            line.compactions,
            line.summaries,
            line.offloaded,
            format!("{} + {}", line.in_view, line.recalled)
        ))?;
    }
    for line in &report.runs {
        if let Some(Stopped { steps, why }) = &line.stopped {
            let steps = text::counted(*steps, "step");
            screen.result(&format!("{} stopped after {steps}: {why}", line.with))?;
        }
    }
    let off: u32 = report.runs.iter().map(|line| line.not_rebuilt).sum();
    screen.result("")?;
    screen.result(&match off {
        0 => "Every request was rebuilt from the log, byte for byte.".to_owned(),
        off => format!("{off} requests were NOT rebuilt from the log."),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report_of(steps: u32) -> Report {
        let folder = tempfile::tempdir().expect("a folder");
        let bench = BenchContext {
            steps,
            window: 32_000,
            seed: 11,
        };
        report(folder.path(), &bench, &mut |_| {}).expect("the disk is there")
    }

    #[test]
    fn every_request_is_rebuilt_and_storage_grows_with_the_steps_alone() {
        let (short, long) = (report_of(40), report_of(80));
        for (short, long) in short.runs.iter().zip(&long.runs) {
            assert_eq!((short.not_rebuilt, long.not_rebuilt), (0, 0), "{long:?}");
            let growth = long.stored_bytes as f64 / short.stored_bytes as f64;
            assert!(growth < 2.6, "{growth}: {short:?} {long:?}");
        }
        let (all, none) = (&long.runs[0], &long.runs[long.runs.len() - 1]);
        assert_eq!((&all.stopped, &none.stopped), (&None, &None));
        assert!(all.compactions > 0 && all.offloaded > 0, "{all:?}");
        assert!(all.peak_tokens < 32_000 && all.of_naive < 0.5, "{all:?}");
        assert_eq!((none.compactions, none.offloaded), (0, 0));
        assert_eq!(none.in_view, long.facts, "the naive one holds everything");
    }

    #[test]
    fn every_planted_fact_is_in_view_or_found_again_and_only_so_by_looking_back() {
        let report = report_of(80);
        let of = |with: &str| report.runs.iter().find(|line| line.with == with);
        let all = of("all").expect("there is one");
        assert_eq!(all.in_view + all.recalled, report.facts, "{all:?}");
        let blind = of("without recall").expect("there is one");
        assert_eq!(blind.recalled, 0, "{blind:?}");
        assert_eq!(blind.in_view, all.in_view, "{blind:?} {all:?}");
        let bare = of("without summaries").expect("there is one");
        assert_eq!(bare.in_view + bare.recalled, report.facts, "{bare:?}");
        assert!(all.summaries > 0 && bare.summaries == 0, "{all:?} {bare:?}");
    }

    #[test]
    fn what_does_not_fit_is_told_as_where_it_stopped() {
        let short = report_of(40);
        let without = short
            .runs
            .iter()
            .find(|line| line.with == "without offloading");
        let stopped = without
            .and_then(|line| line.stopped.as_ref())
            .expect("it stops");
        assert!(stopped.why.contains("window"), "{stopped:?}");
    }
}
