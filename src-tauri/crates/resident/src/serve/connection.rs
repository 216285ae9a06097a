//! One app's pipe: asks in, answers out.

use std::os::unix::net::UnixStream;
use std::sync::Arc;

use longrein_resident::wire::{Answer, Ask, Asked, Code, End, Frame, LIST_PAGE, VERSION, read};

use super::job::{Input, Job};
use super::link::Link;
use super::output::Due;
use super::{Refused, Server, launch, lock};

/// Speaks with an app until its pipe ends, or another app comes.
pub(crate) fn serve(server: &Arc<Server>, stream: UnixStream) {
    let Ok(writing) = stream.try_clone() else {
        return;
    };
    let Ok(link) = Link::open(writing) else {
        return;
    };
    let link = Arc::new(link);
    let mut stream = stream;
    if greet(server, &link, &mut stream).is_some() {
        while let Ok(Some(frame)) = read::<Asked>(&mut stream) {
            take(server, &link, frame);
        }
    }
    link.close();
    let mut current = lock(&server.link);
    if current
        .as_ref()
        .is_some_and(|current| Arc::ptr_eq(current, &link))
    {
        *current = None;
        drop(current);
        server.tunnels.close_all();
    }
}

/// The first word must be a hello of the same version; then this is the app, and no other is.
fn greet(server: &Server, link: &Arc<Link>, stream: &mut UnixStream) -> Option<()> {
    let first = read::<Asked>(stream).ok()??;
    let Asked { id, ask } = first.header;
    let Ask::Hello { version } = ask else {
        return None;
    };
    // Answered in any case: the version in it says why nothing else will be.
    link.answer(
        id,
        Answer::Hello {
            version: VERSION,
            life: server.life.clone(),
        },
        &[],
    );
    if version != VERSION {
        return None;
    }
    let before = lock(&server.link).replace(Arc::clone(link));
    if let Some(before) = before {
        before.close();
        server.tunnels.close_all();
    }
    for job in server.running() {
        job.calls.tell_again(&job.id, link);
    }
    Some(())
}

fn take(server: &Arc<Server>, link: &Arc<Link>, frame: Frame<Asked>) {
    let Asked { id, ask } = frame.header;
    let due = Due {
        link: Arc::downgrade(link),
        id,
    };
    match answer(server, ask, due, frame.body) {
        Ok(Some(answer)) => link.answer(id, answer, &[]),
        // Answered already, or later.
        Ok(None) => {}
        Err(Refused(code, message)) => link.answer(id, Answer::Refused { code, message }, &[]),
    }
}

fn answer(
    server: &Arc<Server>,
    ask: Ask,
    due: Due,
    body: Vec<u8>,
) -> Result<Option<Answer>, Refused> {
    match ask {
        Ask::Hello { .. } => Err(Refused(Code::Invalid, "hello is said once".to_owned())),
        Ask::Start(start) => launch::start(server, *start).map(|now| Some(Answer::Started { now })),
        Ask::Read {
            command,
            stream,
            offset,
            wait,
        } => {
            server.job(&command)?.read(stream, due, offset, wait)?;
            Ok(None)
        }
        Ask::Write { command, end } => {
            server.job(&command)?.write(Input {
                bytes: body,
                end,
                due,
            })?;
            Ok(None)
        }
        Ask::Signal { command, signal } => {
            server.job(&command)?.signal(signal)?;
            Ok(Some(Answer::Done))
        }
        Ask::Kill { command } => {
            server.job(&command)?.end(End::Killed);
            Ok(Some(Answer::Done))
        }
        Ask::Wait { command } => {
            server.job(&command)?.wait(due)?;
            Ok(None)
        }
        Ask::State { command } => Ok(Some(Answer::State(server.job(&command)?.state()))),
        Ask::List { after } => Ok(Some(list(server, &after))),
        Ask::Forget { command } => forget(server, &command).map(|()| Some(Answer::Done)),
        Ask::Answer { call } => {
            // A command that is gone needs no answer.
            if let Ok(job) = server.job(&call.command) {
                job.calls.answer(call.number, body);
            }
            Ok(Some(Answer::Done))
        }
        Ask::TunnelData { tunnel } => {
            server.tunnels.data(tunnel, body);
            Ok(None)
        }
        Ask::TunnelGrant { tunnel, bytes } => {
            server.tunnels.grant(tunnel, bytes);
            Ok(None)
        }
        Ask::TunnelEnd { tunnel } => {
            server.tunnels.end(tunnel);
            Ok(None)
        }
        Ask::Stop => {
            server.stop();
            Ok(Some(Answer::Done))
        }
    }
}

fn list(server: &Server, after: &str) -> Answer {
    let jobs: Vec<Arc<Job>> = lock(&server.jobs)
        .values()
        .filter(|job| job.id.as_str() > after)
        .take(LIST_PAGE)
        .cloned()
        .collect();
    Answer::States {
        states: jobs.iter().map(|job| job.state()).collect(),
    }
}

fn forget(server: &Server, command: &str) -> Result<(), Refused> {
    let mut jobs = lock(&server.jobs);
    let Some(job) = jobs.get(command) else {
        // Forgotten already.
        return Ok(());
    };
    if job.is_running() {
        return Err(Refused(
            Code::Running,
            format!("the command {command} still runs"),
        ));
    }
    std::fs::remove_dir_all(job.folder())?;
    jobs.remove(command);
    Ok(())
}
