//! Which crate may import which: the arrows of `docs/architecture.md`, read from cargo.

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};
use longrein_tidy::{Violations, demand_none};

/// The crates from the bottom up. A crate may import what stands on a lower floor, and nothing
/// beside it on its own.
const FLOORS: &[&[&str]] = &[
    &["longrein-protocol"],
    &[
        "longrein-core",
        "longrein-keys",
        "longrein-resident",
        "longrein-web",
    ],
    &["longrein-store"],
    &["longrein-runtime"],
    &[
        "longrein-models",
        "longrein-tools",
        "longrein-mcp",
        "longrein-skills",
        "longrein-sandbox",
    ],
    // It plays the other side of what stands below it, so it may know all of that.
    &[TESTKIT],
    &["longrein-trace"],
    &["longrein-app"],
    &["longrein-api"],
    &["longrein-cli"],
    &[DESKTOP],
];

const TESTKIT: &str = "longrein-testkit";
const DESKTOP: &str = "longrein-desktop";
const TIDY: &str = "longrein-tidy";

/// Who may have the test kit in what ships: the command, for `bench`.
const TESTKIT_USERS: &[&str] = &["longrein-cli"];

/// What would let I/O, time or chance into a pure crate.
const IMPURE: &[&str] = &[
    "async-std",
    "async-trait",
    "cap-std",
    "chrono",
    "crossbeam-channel",
    "fastrand",
    "futures",
    "getrandom",
    "hyper",
    "libc",
    "mio",
    "nix",
    "notify",
    "rand",
    "reqwest",
    "rusqlite",
    "rustix",
    "smol",
    "tempfile",
    "time",
    "tokio",
    "tokio-util",
    "tracing",
    "uuid",
    "walkdir",
];

const PURE: &[&str] = &["longrein-protocol", "longrein-core"];

fn workspace() -> Metadata {
    MetadataCommand::new()
        .no_deps()
        .other_options(vec!["--offline".to_owned()])
        .exec()
        .expect("cargo describes the workspace")
}

fn floor(name: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&name))
}

fn is_for_tests(kind: DependencyKind) -> bool {
    kind == DependencyKind::Development
}

/// What is wrong with this arrow, if anything.
fn fault(package: &Package, dependency: &str, kind: DependencyKind) -> Option<String> {
    let from = package.name.as_str();
    let arrow = format!("{from} imports {dependency}");
    if dependency == TESTKIT {
        let allowed = is_for_tests(kind) || TESTKIT_USERS.contains(&from);
        return (!allowed).then(|| format!("{arrow}, which is for tests only"));
    }
    let (Some(here), Some(there)) = (floor(from), floor(dependency)) else {
        return Some(format!(
            "{arrow}, and one of them stands on no floor of this test"
        ));
    };
    (there >= here).then(|| format!("{arrow}, which stands no lower"))
}

#[test]
fn imports_only_point_down() -> Result<(), Violations> {
    let metadata = workspace();
    let mut violations = Vec::new();
    for package in metadata.workspace_packages() {
        let name = package.name.as_str();
        if name == TIDY {
            continue;
        }
        if floor(name).is_none() {
            violations.push(format!(
                "{name} stands on no floor of this test: say where it belongs"
            ));
        }
        for dependency in &package.dependencies {
            if dependency.name.starts_with("longrein-") {
                violations.extend(fault(package, &dependency.name, dependency.kind));
            }
        }
    }
    demand_none("An import points up or sideways.", violations)
}

#[test]
fn crates_are_named_after_their_folder() -> Result<(), Violations> {
    let metadata = workspace();
    let mut violations = Vec::new();
    for package in metadata.workspace_packages() {
        let folder = package
            .manifest_path
            .parent()
            .expect("a manifest lies in a folder");
        let expected = if folder == metadata.workspace_root {
            DESKTOP.to_owned()
        } else {
            format!(
                "longrein-{}",
                folder.file_name().expect("a crate's folder has a name")
            )
        };
        if package.name.as_str() != expected {
            violations.push(format!(
                "{} is named {}, not {expected}",
                folder, package.name
            ));
        }
        if package.publish != Some(Vec::new()) {
            violations.push(format!("{} could be published by mistake", package.name));
        }
    }
    demand_none("A crate's name is not its folder's.", violations)
}

#[test]
fn only_the_desktop_package_names_tauri() -> Result<(), Violations> {
    let metadata = workspace();
    let mut violations = Vec::new();
    for package in metadata.workspace_packages() {
        for dependency in &package.dependencies {
            let windowed = ["tauri", "wry", "tao", "gtk", "webkit2gtk"]
                .iter()
                .any(|name| dependency.name == *name || dependency.name.starts_with("tauri-"));
            if windowed && package.name.as_str() != DESKTOP {
                violations.push(format!("{} imports {}", package.name, dependency.name));
            }
        }
    }
    demand_none("A crate below the window knows of it.", violations)
}

#[test]
fn pure_crates_import_nothing_that_acts() -> Result<(), Violations> {
    let metadata = workspace();
    let mut violations = Vec::new();
    for package in metadata.workspace_packages() {
        if !PURE.contains(&package.name.as_str()) {
            continue;
        }
        for dependency in &package.dependencies {
            let acts = IMPURE.contains(&dependency.name.as_str());
            if acts && !is_for_tests(dependency.kind) {
                violations.push(format!("{} imports {}", package.name, dependency.name));
            }
        }
    }
    demand_none(
        "A pure crate imports what reads, writes, waits or rolls dice.",
        violations,
    )
}
