//! One module for each family of commands.

mod agents;
mod answers;
mod approvals;
mod before;
mod delete;
mod drive;
mod export;
mod files;
mod fork;
mod giving;
mod keys;
mod log;
mod machine;
mod mcp;
mod models;
mod no_key;
mod read;
mod replay;
mod resume;
mod rules;
mod runs;
mod search;
mod skills;
mod take_up;
mod wishes;

use std::future::Future;
use std::io;

use clap::CommandFactory as _;
use tokio::runtime::{Builder, Runtime};

use crate::arguments::{Agent, Arguments, Command, Completions};
use crate::bench;
use crate::context::Context;
use crate::failure::{Failure, Status};

/// Threads of a command that drives a run: one for the run, one for who watches it.
const DRIVING_THREADS: usize = 2;

/// Does what was asked.
///
/// # Errors
/// [`Failure`], with the exit status and what the person can do.
pub fn run(context: &Context, command: Command) -> Result<Status, Failure> {
    no_key::refuse(&command)?;
    match command {
        Command::Run(run) => driving(drive::run(context, run)),
        Command::Demo(demo) => driving(drive::demo(context, demo)),
        Command::Resume(resume) => driving(resume::resume(context, resume)),
        Command::Watch(watch) => light(drive::watch(context, watch)),
        Command::Cancel(run) => driving(wishes::cancel(context, &run.run)),
        Command::Pause(run) => driving(wishes::pause(context, &run.run)),
        Command::Steer(steer) => driving(wishes::steer(context, steer)),
        Command::Approve(approve) => driving(answers::approve(context, approve)),
        Command::Deny(deny) => driving(answers::deny(context, deny)),
        Command::Answer(answer) => driving(answers::answer(context, answer)),
        Command::Accept(accept) => driving(answers::accept(context, accept)),
        Command::Settle(settle) => driving(answers::settle(context, settle)),
        Command::Undo(undo) => driving(answers::undo(context, undo)),
        Command::Drive => driving(take_up::drive(context)),
        Command::Rules(rules) => light(rules::rules(context, rules)),
        Command::Approvals => light(approvals::list(context)),
        Command::Runs(runs) => light(runs::runs(context, &runs)),
        Command::Show(show) => light(read::show(context, show)),
        Command::Files(files) => light(files::files(context, files)),
        Command::Diff(diff) => light(files::diff(context, diff)),
        Command::Fork(fork) => light(fork::fork(context, fork)),
        Command::Replay(replay) => light(replay::replay(context, replay)),
        Command::Delete(delete) => light(delete::delete(context, delete)),
        Command::Storage(limit) => light(delete::storage(context, limit.limit)),
        Command::Gc => light(delete::free(context)),
        Command::Search(search) => light(search::search(context, search)),
        Command::Compare(compare) => light(replay::compare(context, compare)),
        Command::Agents => agents::list(context),
        Command::Agent(Agent::Check(check)) => agents::check(context, &check.file),
        Command::Keys(keys) => light(keys::keys(context, keys)),
        Command::Models(models) => light(models::models(context, models)),
        Command::Mcp(mcp) => light(mcp::mcp(context, mcp)),
        Command::Skills(skills) => light(skills::skills(context, skills)),
        Command::Doctor => light(machine::doctor(context)),
        Command::Log(log) => light(log::run(context, log)),
        Command::Export(export) => light(export::run(context, export)),
        Command::Bench(bench) => bench::run(context, bench),
        Command::Completions(completions) => complete(&completions),
    }
}

/// Runs a command that drives a run.
fn driving(command: impl Future<Output = Result<Status, Failure>>) -> Result<Status, Failure> {
    on(
        Builder::new_multi_thread().worker_threads(DRIVING_THREADS),
        command,
    )
}

/// Runs a command that only looks.
fn light(command: impl Future<Output = Result<Status, Failure>>) -> Result<Status, Failure> {
    on(&mut Builder::new_current_thread(), command)
}

fn on(
    builder: &mut Builder,
    command: impl Future<Output = Result<Status, Failure>>,
) -> Result<Status, Failure> {
    let runtime: Runtime = builder.enable_all().build().map_err(|error| {
        Failure::said(
            Status::Failed,
            format!("No threads can be started: {error}."),
            "",
        )
    })?;
    let outcome = runtime.block_on(command);
    // A request that was given up is not waited for.
    runtime.shutdown_background();
    outcome
}

fn complete(completions: &Completions) -> Result<Status, Failure> {
    let mut command = Arguments::command();
    let mut script = Vec::new();
    clap_complete::generate(completions.shell, &mut command, "longrein", &mut script);
    io::Write::write_all(&mut io::stdout().lock(), &script)?;
    Ok(Status::Done)
}
