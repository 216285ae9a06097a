//! Every dependency's licence is one of those that `deny.toml` lists.

use cargo_metadata::MetadataCommand;
use longrein_tidy::{Tree, Violations, demand_none};
use spdx::{Expression, ParseMode};

/// What a Linux build links; other systems' crates need not be on this machine.
const TARGET: &str = "x86_64-unknown-linux-gnu";

fn allowed() -> Vec<String> {
    let tree = Tree::read();
    let text = std::fs::read_to_string(tree.root.join("deny.toml")).expect("deny.toml is there");
    let settings: toml::Table = text.parse().expect("deny.toml is TOML");
    settings["licenses"]["allow"]
        .as_array()
        .expect("licenses.allow is a list")
        .iter()
        .filter_map(|licence| licence.as_str().map(str::to_owned))
        .collect()
}

#[test]
fn every_dependency_has_a_permissive_licence() -> Result<(), Violations> {
    let allowed = allowed();
    let metadata = MetadataCommand::new()
        .other_options(vec![
            "--offline".to_owned(),
            "--locked".to_owned(),
            format!("--filter-platform={TARGET}"),
        ])
        .exec()
        .expect("cargo lists the dependencies without the network");
    let mut violations = Vec::new();
    for package in &metadata.packages {
        let Some(licence) = &package.license else {
            violations.push(format!(
                "{} {} states no licence",
                package.name, package.version
            ));
            continue;
        };
        let permitted = Expression::parse_mode(licence, ParseMode::LAX).is_ok_and(|expression| {
            expression.evaluate(|wanted| allowed.contains(&wanted.to_string()))
        });
        if !permitted {
            violations.push(format!("{} {}: {licence}", package.name, package.version));
        }
    }
    demand_none("A licence is not in deny.toml's list.", violations)
}
