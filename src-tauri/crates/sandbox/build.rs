//! Builds the resident agent as a static Linux binary, to be carried inside of this crate: an
//! agent that was another version than the app, or was not found, would be worse than a build that
//! takes some seconds longer. It is a call of cargo of its own because only this one binary may be
//! linked statically.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const BINARY: &str = "longrein-resident";

fn main() -> Result<(), Box<dyn Error>> {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let crates = here.parent().ok_or("the crate lies in no folder")?;
    for path in ["resident/src", "resident/Cargo.toml"] {
        println!("cargo:rerun-if-changed={}", crates.join(path).display());
    }
    println!("cargo:rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let carried = out.join(BINARY);
    let (target, flags) = target()?;
    match built(&here, &out, &target, flags) {
        Ok(binary) => {
            fs::copy(binary, &carried)?;
        }
        // Elsewhere the Linux target may not be installed: the app then says that its build has no
        // agent, instead of not being built at all.
        Err(error) if env::var("CARGO_CFG_TARGET_OS")? != "linux" => {
            println!(
                "cargo:warning=without sandbox: {error}; 'rustup target add {target}' may help"
            );
            fs::write(&carried, b"")?;
        }
        Err(error) => return Err(error),
    }
    println!("cargo:rustc-env=LONGREIN_RESIDENT={}", carried.display());
    println!(
        "cargo:rustc-env=LONGREIN_RESIDENT_ARCH={}",
        env::var("CARGO_CFG_TARGET_ARCH")?
    );
    Ok(())
}

/// The target whose code runs inside, and what makes it static.
fn target() -> Result<(String, &'static str), env::VarError> {
    if env::var("CARGO_CFG_TARGET_OS")? == "linux" {
        return Ok((env::var("TARGET")?, "-Ctarget-feature=+crt-static"));
    }
    let target = format!("{}-unknown-linux-musl", env::var("CARGO_CFG_TARGET_ARCH")?);
    // It links without a C compiler for Linux, which other systems seldom have.
    Ok((
        target,
        "-Ctarget-feature=+crt-static\u{1f}-Clinker=rust-lld",
    ))
}

fn built(here: &Path, out: &Path, target: &str, flags: &str) -> Result<PathBuf, Box<dyn Error>> {
    // Beside the other builds rather than in this one's folder: a check and a build share it.
    let folder = out
        .ancestors()
        .nth(4)
        .ok_or("the build has no folder")?
        .join("resident");
    let mut cargo = Command::new(env::var("CARGO")?);
    cargo
        .current_dir(here)
        .args([
            "build",
            "--offline",
            "--quiet",
            "--release",
            "--package",
            BINARY,
            "--bin",
            BINARY,
        ])
        .args(["--target", target, "--target-dir"])
        .arg(&folder)
        .env("CARGO_ENCODED_RUSTFLAGS", flags)
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
    // What a linter or another target has set up for the build around is not for this one.
    for name in [
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTFLAGS",
        "CARGO_BUILD_TARGET",
        "CLIPPY_ARGS",
    ] {
        cargo.env_remove(name);
    }
    let status = cargo.status()?;
    if !status.success() {
        return Err(format!("building {BINARY} for {target} failed").into());
    }
    Ok(folder.join(target).join("release").join(BINARY))
}
