//! The box from outside: what a run's commands can and can't do, and what outlives whom.
