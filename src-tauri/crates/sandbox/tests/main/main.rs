//! The box from outside: what a run's commands can and can't do, and what outlives whom.

/// These need container engines: `scripts/sandbox-tests` starts them and runs these.
#[cfg(target_os = "linux")]
mod on_an_engine;

/// These need bubblewrap alone, and run with all others.
#[cfg(target_os = "linux")]
mod without_an_engine;
