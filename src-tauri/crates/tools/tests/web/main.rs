//! Pages of the web in whole runs: the real driver, gate, tool and verifier, a scripted model, and
//! a web server of the test's own.

mod runs;
mod server;
mod stage;
