//! Nothing is too long to be read in one go.

use longrein_tidy::{Function, RustFile, SourceFile, Tree, Violations, demand_none, script};

const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 70;

const SOURCES: &[&str] = &[".rs", ".ts", ".svelte", ".css", ".mjs", ".js"];

#[test]
fn files_are_under_500_lines() -> Result<(), Violations> {
    let tree = Tree::read();
    let violations = tree
        .written(SOURCES)
        .filter_map(|file| {
            let lines = file.text.lines().count();
            (lines >= FILE_LINES_MAX).then(|| format!("{}: {lines} lines", file.path))
        })
        .collect();
    demand_none("A file has 500 lines or more.", violations)
}

#[test]
fn functions_are_under_70_lines() -> Result<(), Violations> {
    let tree = Tree::read();
    let mut violations = Vec::new();
    for file in tree.written(&[".rs"]) {
        let parsed = match RustFile::parse(&file.text) {
            Ok(parsed) => parsed,
            Err(error) => panic!("{} is no Rust: {error}", file.path),
        };
        violations.extend(too_long(file, parsed.functions));
    }
    for file in tree.written(&[".ts", ".mjs", ".js"]) {
        violations.extend(too_long(file, script::functions(&file.text)));
    }
    for file in tree.written(&[".svelte"]) {
        violations.extend(too_long(file, script::functions(&script_of(&file.text))));
    }
    demand_none("A function has 70 lines or more.", violations)
}

fn too_long(file: &SourceFile, functions: Vec<Function>) -> Vec<String> {
    functions
        .into_iter()
        .filter(|function| function.length >= FUNCTION_LINES_MAX)
        .map(|function| {
            let Function { name, line, length } = function;
            format!("{}:{line}: {name} has {length} lines", file.path)
        })
        .collect()
}

/// A component's script, at its lines; everything else is left empty.
fn script_of(component: &str) -> String {
    let mut inside = false;
    let mut script = String::new();
    for line in component.lines() {
        if line.starts_with("</script") {
            inside = false;
        }
        if inside {
            script.push_str(line);
        }
        if line.starts_with("<script") {
            inside = true;
        }
        script.push('\n');
    }
    script
}
