//! Secrets kept for real: in a file that another process opens, and in a keychain on a D-Bus of
//! its own.

#[cfg(target_os = "linux")]
mod keychain;
mod places;
mod script;
#[cfg(target_os = "linux")]
mod session;
