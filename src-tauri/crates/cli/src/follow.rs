//! Following a run until it stops, whoever drives it.

use std::future::pending;
use std::time::Duration;

use longrein_app::{Driving, Ended, Longrein};
use longrein_protocol::RunId;
use longrein_protocol::view::RunState;
use longrein_protocol::wish::Wish;
use longrein_store::{Holder, Log as _};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use crate::ask::{self, Asked, words};
use crate::failure::Failure;
use crate::hold;
use crate::interrupt::Interrupts;
use crate::narrate::Narrator;
use crate::pump::{Pump, Seen, Standing, What};
use crate::screen::Screen;
use crate::waits;

/// How often the line in place turns, and the holder of a run is looked at.
const TICK: Duration = Duration::from_millis(120);
/// How long a run that was told to stop may take to come to its next step. A request that is
/// still out then is given up: it is made again when the run is resumed.
const PAUSE_GRACE: Duration = Duration::from_millis(1_000);
/// The same while something runs that can't simply be done again.
const ACTION_GRACE: Duration = Duration::from_secs(30);
/// How often it is looked whether children wait for a person.
const CHILDREN_LOOK: Duration = Duration::from_millis(500);
/// How long a driver that was let go may take to end.
const LET_GO_WAIT: Duration = Duration::from_secs(5);
/// Seconds of a minute.
const SECONDS_PER_MINUTE: u64 = 60;
/// How long what is on disk already may take to be read.
const CATCH_UP_WAIT: Duration = Duration::from_secs(30);

/// What is followed, and how.
#[derive(Clone)]
pub struct Follow {
    /// The run.
    pub run: RunId,
    /// What happened before this event is not told.
    pub from: u32,
    /// Its driver, when that is this process.
    pub driving: Option<Driving>,
    /// How long to wait for somebody else.
    pub patience: Patience,
}

/// What to do when nothing happens until somebody else acts: the run needs a person's answer, or
/// the process that drives it was stopped in its tracks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Patience {
    /// Stop following.
    Short,
    /// Keep waiting.
    Long,
}

impl Patience {
    /// As `--wait` says.
    pub fn of(wait: bool) -> Self {
        if wait { Self::Long } else { Self::Short }
    }
}

/// Why following ended.
#[derive(Debug)]
pub enum End {
    /// The driver in this process ended.
    Driven(Ended),
    /// Nobody drives the run any more, or its log can't be read further.
    Undriven,
    /// The run needs a person's answer.
    Asked,
    /// The process that drives the run was stopped in its tracks.
    Stopped(Holder),
    /// The person asked this command to stop.
    Interrupted,
}

/// Follows a run and shows what happens.
///
/// # Errors
/// What reading gives, and [`Failure::Unread`] when nobody reads the output any more; a run that
/// this process drives is let go first.
pub async fn follow(app: &Longrein, follow: Follow, screen: &mut Screen) -> Result<End, Failure> {
    let mut watch = Watch::begin(app, follow, screen).await?;
    let end = watch.until_it_ends().await;
    if let Some(driving) = watch.follow.driving.clone() {
        // Whatever ended the watch, nothing goes on behind the back of whoever typed this.
        driving.let_go();
        let _ = timeout(LET_GO_WAIT, driving.ended()).await;
        if end.is_ok() {
            watch.catch_up().await?;
        }
    }
    watch.screen.clear_status();
    end
}

struct Watch<'w> {
    app: &'w Longrein,
    follow: Follow,
    screen: &'w mut Screen,
    pump: Pump,
    narrator: Narrator,
    standing: Option<Standing>,
    /// When a run that was told to stop is let go.
    let_go_at: Option<Instant>,
    /// When it was looked last whether children wait for a person, and whether they did.
    children_seen: Option<(Instant, bool)>,
    /// When it was looked last whether a server waits for an answer, while one does.
    held_seen: Option<Instant>,
    interrupts: Interrupts,
}

impl<'w> Watch<'w> {
    async fn begin(
        app: &'w Longrein,
        follow: Follow,
        screen: &'w mut Screen,
    ) -> Result<Self, Failure> {
        let pump = if screen.is_json() {
            Pump::events(app, follow.run)?
        } else {
            Pump::rows(app, follow.run)?
        };
        Ok(Self {
            app,
            follow,
            screen,
            pump,
            narrator: Narrator::default(),
            standing: None,
            let_go_at: None,
            children_seen: None,
            held_seen: None,
            interrupts: Interrupts::listen()?,
        })
    }

    async fn until_it_ends(&mut self) -> Result<End, Failure> {
        let driving = self.follow.driving.clone();
        let ended = async move {
            match driving {
                Some(driving) => driving.ended().await,
                None => pending().await,
            }
        };
        tokio::pin!(ended);
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = self.interrupts.next() => {
                    if self.interrupted().await {
                        return Ok(End::Interrupted);
                    }
                }
                seen = self.pump.next() => match seen {
                    Some(seen) => {
                        self.show(seen?)?;
                        if self.is_asked().await?
                            && let Some(end) = self.ask().await?
                        {
                            return Ok(end);
                        }
                    }
                    None => return Ok(End::Undriven),
                },
                ended = &mut ended => {
                    self.catch_up().await?;
                    return Ok(self.driver_ended(ended));
                }
                _ = ticks.tick() => {
                    if let Some(end) = self.look_around().await? {
                        return Ok(end);
                    }
                }
            }
        }
    }

    fn show(&mut self, seen: Seen) -> Result<(), Failure> {
        self.standing = Some(seen.standing);
        match seen.what {
            What::Event(event) if event.seq >= self.follow.from => self.screen.event(&event)?,
            What::Event(_) => {}
            What::Rows {
                rows,
                head,
                is_snapshot,
            } => {
                let from = if is_snapshot { self.follow.from } else { 0 };
                self.narrator.rows(&rows, from, self.screen);
                if let Some(head) = head {
                    self.narrator.head(head);
                }
                self.narrator.live(self.screen);
            }
            What::Writing(letters) => self.narrator.writing(letters),
            What::Acting(actions) => self.narrator.acting(&actions),
            What::Problem(problem) => self.screen.say(&problem),
        }
        Ok(())
    }

    /// Whether the run needs a person's answer, and this command is not to wait for it. What was
    /// read may be old, so the log is asked; an answer that is on its way is waited for.
    async fn is_asked(&mut self) -> Result<bool, Failure> {
        let Some(standing) = self.standing else {
            return Ok(false);
        };
        if self.follow.patience == Patience::Long || !self.pump.is_taken() {
            return Ok(false);
        }
        let run = self.follow.run;
        match standing.state {
            RunState::Waiting => {
                let answers = self.app.store().wishes(run).await?;
                let state = self.app.run_line(run).await?.state;
                Ok(answers.is_empty() && state == RunState::Waiting)
            }
            RunState::Running if standing.delegates => self.children_ask().await,
            _ => Ok(false),
        }
    }

    /// Whether the children of the run wait for a person, and nothing of it goes on by itself: at
    /// two looks, one after the other, since between two facts much seems to rest.
    async fn children_ask(&mut self) -> Result<bool, Failure> {
        let now = Instant::now();
        let waited = match self.children_seen {
            Some((at, _)) if now.duration_since(at) < CHILDREN_LOOK => return Ok(false),
            Some((_, waited)) => waited,
            None => false,
        };
        let waits = waits::rests(self.app, self.follow.run).await?;
        self.children_seen = Some((now, waits));
        Ok(waited && waits)
    }

    /// Asks the person who sits here, while the driver waits. Without an answer following ends.
    async fn ask(&mut self) -> Result<Option<End>, Failure> {
        if self.holds_for_a_server().await? {
            return Ok(None);
        }
        self.screen.clear_status();
        let asked =
            ask::in_place(self.app, self.follow.run, &mut self.interrupts, self.screen).await?;
        Ok(match asked {
            Asked::Answered => None,
            Asked::LeftOpen => Some(End::Asked),
            Asked::Interrupted => Some(End::Interrupted),
        })
    }

    /// Whether this process, at which nobody sits, has to stay so that a server gets its answer:
    /// the call in which it asks ends with it.
    async fn holds_for_a_server(&mut self) -> Result<bool, Failure> {
        if self.follow.driving.is_none() || ask::somebody_is_there(self.screen) {
            return Ok(false);
        }
        let now = Instant::now();
        match self.held_seen {
            Some(seen) if now.duration_since(seen) < CHILDREN_LOOK => return Ok(true),
            _ => {}
        }
        let held = waits::held(self.app, self.follow.run).await?;
        if held.is_empty() {
            self.held_seen = None;
            return Ok(false);
        }
        let is_new = self.held_seen.replace(now).is_none();
        if is_new {
            self.screen.clear_status();
            for ask in &held {
                for line in words::lines(self.app, &ask.what, self.screen).await? {
                    self.screen.say(&line);
                }
            }
            self.screen.say(&format!(
                "Answer it from the window or another terminal: approvals says how. The server waits while this command runs, at most {} min; then it gets no answer.",
                waits::HELD_ANSWER_WAIT.as_secs() / SECONDS_PER_MINUTE
            ));
        }
        Ok(true)
    }

    /// The first Ctrl-C: a run that is driven here is asked to stop before its next step.
    /// Returns whether there is nothing to wait for.
    async fn interrupted(&mut self) -> bool {
        if self.follow.driving.is_none() || self.let_go_at.is_some() {
            return true;
        }
        let acts = self.standing.is_some_and(|standing| standing.acts);
        let grace = if acts { ACTION_GRACE } else { PAUSE_GRACE };
        self.let_go_at = Some(Instant::now() + grace);
        let word = if acts {
            "Stopping when the running action has ended. Ctrl-C again stops at once."
        } else {
            "Stopping."
        };
        self.screen.say(word);
        // A disk that refuses the wish does not keep anybody from stopping.
        let _ = self.app.wish(self.follow.run, Wish::Pause).await;
        false
    }

    fn driver_ended(&self, ended: Ended) -> End {
        if self.let_go_at.is_some() && ended.failure.is_none() && ended.state == RunState::Paused {
            return End::Interrupted;
        }
        End::Driven(ended)
    }

    /// Shows what is on disk and was not read yet.
    async fn catch_up(&mut self) -> Result<(), Failure> {
        let last = self.app.run_line(self.follow.run).await?.seq;
        let deadline = Instant::now() + CATCH_UP_WAIT;
        while self.standing.is_none_or(|standing| standing.seq < last) {
            match tokio::time::timeout_at(deadline, self.pump.next()).await {
                Ok(Some(seen)) => self.show(seen?)?,
                Ok(None) | Err(_) => break,
            }
        }
        Ok(())
    }

    async fn look_around(&mut self) -> Result<Option<End>, Failure> {
        self.narrator.live(self.screen);
        if let Some(at) = self.let_go_at {
            return Ok((Instant::now() >= at).then_some(End::Interrupted));
        }
        if self.is_asked().await?
            && let Some(end) = self.ask().await?
        {
            return Ok(Some(end));
        }
        if self.follow.driving.is_some() {
            return Ok(None);
        }
        match hold::holder(self.app, self.follow.run).await? {
            Some(holder)
                if self.follow.patience == Patience::Short && hold::is_stopped(&holder) =>
            {
                self.catch_up().await?;
                Ok(Some(End::Stopped(holder)))
            }
            Some(_) => Ok(None),
            None => {
                self.catch_up().await?;
                Ok(Some(End::Undriven))
            }
        }
    }
}
