//! Starts a command: its folder, its pipes, its supervisor, and the threads that watch it.

use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Instant;

use longrein_resident::wire::{Answer, Code, RECORDS_MAX, RUNNING_MAX, Start, Stream, is_id};

use super::gates::Gates;
use super::job::{Inlet, Input, Job, Running, ended};
use super::output::{Output, pump};
use super::{Refused, Server, lock, now_ms, records, thread};
use crate::handing;
use crate::measure::memory_kills;
use crate::supervise::{Order, Report};

/// Pieces of input that wait to be written.
const INPUTS_MAX: usize = 1;
/// A supervisor says at most this, in bytes.
const REPORTS_MAX_BYTES: u64 = 64 * 1024;
/// This program, where commands run in a box that another program makes.
const RESIDENT_INSIDE: &str = "/longrein/resident";

/// Starts a command, unless one with its id was started before; says whether it did.
pub(crate) fn start(server: &Arc<Server>, start: Start) -> Result<bool, Refused> {
    check(&start)?;
    // Held until the command is known, so that an id is not started twice.
    let mut jobs = lock(&server.jobs);
    if jobs.contains_key(&start.command) {
        return Ok(false);
    }
    if server.stopping.load(Ordering::SeqCst) {
        return Err(Refused(Code::Ended, "the agent is stopping".to_owned()));
    }
    let running = jobs.values().filter(|job| job.is_running()).count();
    if running >= RUNNING_MAX || jobs.len() >= RECORDS_MAX {
        let message = format!(
            "{running} commands run and {} are remembered; the limits are {RUNNING_MAX} and {RECORDS_MAX}",
            jobs.len()
        );
        return Err(Refused(Code::TooMany, message));
    }
    let folder = records::folder(&server.setup.state, &start.command);
    let begun = records::Begun {
        started_at_ms: now_ms(),
        merged: start.merged,
    };
    records::begin(&folder, &begun)?;
    match launch(server, start, folder.clone(), begun.started_at_ms) {
        Ok(job) => {
            jobs.insert(job.id.clone(), job);
            Ok(true)
        }
        Err(error) => {
            // It never ran, so nothing may be left that says it began.
            let _ = std::fs::remove_dir_all(&folder);
            Err(error)
        }
    }
}

fn check(start: &Start) -> Result<(), Refused> {
    let fault = if !is_id(&start.command) {
        "the command's id is not one"
    } else if start.program.is_empty() {
        "no program is named"
    } else if start
        .environment
        .keys()
        .any(|name| name.is_empty() || name.contains(['=', '\0']))
    {
        "a variable of the environment has no name that it could have"
    } else if !start.directory.starts_with('/') {
        "the folder to start in is not absolute"
    } else {
        return Ok(());
    };
    Err(Refused(Code::Invalid, fault.to_owned()))
}

struct Pipes {
    output: (PipeReader, PipeWriter),
    error: Option<(PipeReader, PipeWriter)>,
    input: Option<(PipeReader, PipeWriter)>,
    control: (UnixStream, UnixStream),
}

fn pipes(start: &Start) -> io::Result<Pipes> {
    Ok(Pipes {
        output: io::pipe()?,
        error: if start.merged {
            None
        } else {
            Some(io::pipe()?)
        },
        input: if start.input { Some(io::pipe()?) } else { None },
        control: UnixStream::pair()?,
    })
}

fn launch(
    server: &Arc<Server>,
    start: Start,
    folder: PathBuf,
    started_at_ms: u64,
) -> Result<Arc<Job>, Refused> {
    let output = Output::begin(records::output(&folder, Stream::Output))?;
    let mut error = Output::begin(records::output(&folder, Stream::Error))?;
    let pipes = pipes(&start)?;
    let gates = Gates::open(server, &start)?;
    let (limits, id) = (start.limits, start.command.clone());
    let order = order(server, start, &gates);
    let (inputs, taken) = sync_channel(INPUTS_MAX);
    if pipes.error.is_none() {
        error.end();
    }
    let running = Running {
        control: pipes.control.0.try_clone()?,
        inlet: match pipes.input {
            Some(_) => Inlet::Open(inputs),
            None => Inlet::Missing,
        },
        limits,
        begun: Instant::now(),
        still_ms: server.still_ms(),
        memory_kills: memory_kills(),
    };
    let job = Arc::new(Job::begun(
        id,
        folder,
        started_at_ms,
        (output, error),
        running,
    ));
    watch(server, &job, &gates, pipes, (&order, taken))?;
    Ok(job)
}

/// What the supervisor starts. Where a door stands before the command, the door gets no
/// environment: a variable could make it do what the command wants, outside of the box.
fn order(server: &Server, start: Start, gates: &Gates) -> Order {
    let mut environment = start.environment;
    environment.extend(gates.environment(&server.setup.run_inside));
    let command = Order {
        program: start.program,
        directory: Some(start.directory),
        environment,
        user: None,
        limits: Some(start.limits),
        network: gates.network_inside(&server.setup.run_inside),
        inside: None,
    };
    if server.setup.door.is_empty() {
        let user = server.setup.user;
        return Order { user, ..command };
    }
    let mut program = server.setup.door.clone();
    program.extend(["--clearenv", "--", RESIDENT_INSIDE, "inside"].map(str::to_owned));
    Order {
        program,
        directory: None,
        environment: std::collections::BTreeMap::new(),
        user: server.setup.user,
        limits: None,
        network: None,
        inside: Some(Box::new(command)),
    }
}

/// Starts the threads first, then the supervisor: without a thread there must be no command.
fn watch(
    server: &Arc<Server>,
    job: &Arc<Job>,
    gates: &Gates,
    pipes: Pipes,
    (order, inputs): (&Order, Receiver<Input>),
) -> Result<(), Refused> {
    let Pipes {
        output,
        error,
        input,
        control,
    } = pipes;
    let reading = Arc::clone(job);
    thread("output", move || {
        pump(output.0, |bytes| reading.keep(Stream::Output, bytes));
        reading.close(Stream::Output);
    })?;
    let error_writer = match error {
        Some((from, to)) => {
            let reading = Arc::clone(job);
            thread("error", move || {
                pump(from, |bytes| reading.keep(Stream::Error, bytes));
                reading.close(Stream::Error);
            })?;
            to
        }
        None => output.1.try_clone()?,
    };
    let input_reader = match input {
        Some((from, to)) => {
            let fed = Arc::clone(job);
            thread("input", move || feed(&fed, to, &inputs))?;
            Some(from)
        }
        None => None,
    };
    let (ours, theirs) = control;
    let (concluding, watching, reports) = (Arc::clone(server), Arc::clone(job), ours.try_clone()?);
    let closing = gates.closer()?;
    let (started, is_started) = sync_channel::<()>(1);
    thread("command", move || {
        // Nothing to conclude where it was never started.
        if is_started.recv().is_ok() {
            conclude(&concluding, &watching, reports);
        }
        closing.close();
    })?;
    gates.serve(server, job)?;
    spawn(server, theirs, output.1, error_writer)?;
    let input: Vec<_> = input_reader.iter().map(AsFd::as_fd).collect();
    handing::over(&ours, order, &input)?;
    // The thread is there: it waits for this.
    let _ = started.send(());
    Ok(())
}

fn spawn(
    server: &Server,
    control: UnixStream,
    output: PipeWriter,
    error: PipeWriter,
) -> io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .arg("supervise")
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(std::os::fd::OwnedFd::from(control)))
        .stdout(output)
        .stderr(error);
    // Held over the start, so that it is known before its end can be.
    let mut supervisors = lock(&server.supervisors);
    let child = command.spawn()?;
    supervisors.extend(i32::try_from(child.id()));
    Ok(())
}

/// Writes the app's input as it comes. Each piece is answered: after the last one the inlet is
/// closed first, so that none can come in that nobody looks at any more.
fn feed(job: &Job, mut to: PipeWriter, inputs: &Receiver<Input>) {
    while let Ok(Input { bytes, end, due }) = inputs.recv() {
        let written = to.write_all(&bytes);
        let is_over = end || written.is_err();
        if is_over {
            job.close_inlet();
        }
        due.answer(
            match written {
                Ok(()) => Answer::Done,
                Err(error) => Answer::Refused {
                    code: Code::Ended,
                    message: error.to_string(),
                },
            },
            &[],
        );
        if is_over {
            break;
        }
    }
    drop(to);
    for late in inputs.try_iter() {
        let Refused(code, message) = ended(&job.id);
        late.due.answer(Answer::Refused { code, message }, &[]);
    }
}

/// Waits for all that the supervisor says, and writes the receipt.
fn conclude(server: &Server, job: &Job, control: UnixStream) {
    let mut reports = Vec::new();
    for line in BufReader::new(control.take(REPORTS_MAX_BYTES)).lines() {
        let Ok(line) = line else { break };
        if let Ok(report) = serde_json::from_str(&line) {
            reports.push(report);
        }
    }
    let is_all_gone = reports.iter().any(|report| {
        matches!(
            report,
            Report::Gone { all: true, .. } | Report::NotStarted { .. }
        )
    });
    if !is_all_gone {
        server.sweep();
    }
    job.conclude(&reports, server.still_ms());
}
