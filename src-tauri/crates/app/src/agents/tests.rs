//! Where agents are found, and that what ships is sound.

use std::fs;

use super::*;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("agents")).unwrap();
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn with(self, name: &str, text: &str) -> Self {
        fs::write(self.path().join(name), text).unwrap();
        self
    }
}

#[test]
fn what_ships_has_no_mistake_and_is_read_again_as_the_same() {
    for (name, text) in SHIPPED {
        let agent = AgentFile::read(name, AgentOrigin::Shipped, text);
        assert_eq!(agent.problems, [], "{name}");
        let spec = agent.usable().unwrap();
        assert_eq!(spec.name, *name);
        assert!(!spec.instructions.is_empty() && !spec.done_when.is_empty());
        let again = agent_file::parse(&agent_file::to_toml(&spec), name).unwrap();
        assert_eq!(again, spec);
    }
}

#[test]
fn a_name_is_a_path_first_then_of_the_data_folder_then_of_what_ships() {
    let folder = Folder::new();
    assert_eq!(
        find(folder.path(), "research").unwrap().origin,
        AgentOrigin::Shipped
    );
    let folder = folder
        .with("agents/research.agent.toml", "description = \"mine\"")
        .with("research.agent.toml", "name = \"by-path\"");
    let own = find(folder.path(), "research").unwrap();
    assert!(matches!(own.origin, AgentOrigin::DataFolder(_)));
    assert_eq!(own.usable().unwrap().description, "mine");
    let path = folder.path().join("research.agent.toml");
    assert_eq!(
        resolve(folder.path(), path.to_str().unwrap()).unwrap().name,
        "by-path"
    );
}

#[test]
fn an_agent_that_is_not_there_is_told_with_the_nearest_one() {
    let folder = Folder::new().with("agents/audit.agent.toml", "");
    let error = resolve(folder.path(), "reserch").unwrap_err();
    assert_eq!(error.code, AppErrorCode::NotFound);
    assert_eq!(error.message, "There is no agent “reserch”.");
    assert!(
        error.remedy.starts_with("Did you mean “research”?"),
        "{}",
        error.remedy
    );
    let error = resolve(folder.path(), "zzz").unwrap_err();
    assert!(
        error.remedy.starts_with("Known are audit and research."),
        "{}",
        error.remedy
    );
    for path in ["./research", "missing.agent.toml", "../agents/audit"] {
        let error = resolve(folder.path(), path).unwrap_err();
        assert_eq!(error.message, format!("There is no agent file {path}."));
    }
}

#[test]
fn a_file_with_mistakes_is_refused_with_each_of_them_and_its_line() {
    let folder = Folder::new()
        .with("agents/one.agent.toml", "# x\n[budget]\nsteps = 0\n")
        .with("agents/two.agent.toml", "stepz = 1\n[budget]\nsteps = 0\n");
    let error = resolve(folder.path(), "one").unwrap_err();
    assert_eq!(error.code, AppErrorCode::Usage);
    assert!(
        error
            .message
            .ends_with("one.agent.toml, line 3: budget.steps can't be 0."),
        "{}",
        error.message
    );
    assert_eq!(error.remedy, "Give a number from 1 to 1,000,000.");
    let error = resolve(folder.path(), "two").unwrap_err();
    assert!(
        error
            .message
            .contains("has 2 mistakes:\n  line 1, column 1:"),
        "{}",
        error.message
    );
}

#[test]
fn every_agent_is_listed_with_its_mistakes_and_none_hides_another() {
    let folder = Folder::new()
        .with("agents/good.agent.toml", "")
        .with("agents/bad.agent.toml", "[budget]\nsteps = 0")
        .with("agents/notes.txt", "not an agent");
    fs::write(folder.path().join("agents/bytes.agent.toml"), [0xff, 0xfe]).unwrap();
    fs::create_dir(folder.path().join("agents/folder.agent.toml")).unwrap();
    let agents = list_agents(folder.path());
    let usable: Vec<(&str, bool)> = agents
        .iter()
        .map(|(name, agent)| (name.as_str(), agent.spec.is_some()))
        .collect();
    assert_eq!(
        usable,
        [
            ("bad", false),
            ("bytes", false),
            ("folder", false),
            ("good", true),
            ("research", true)
        ]
    );
    assert!(agents.values().all(|agent| {
        agent.spec.is_some()
            != agent
                .problems
                .iter()
                .any(|problem| problem.severity == Severity::Error && !problem.remedy.is_empty())
    }));
}

#[test]
fn a_tilde_is_the_home_folder_only_where_people_mean_it() {
    let home = Some(Path::new("/homes/ada"));
    for (written, meant) in [
        ("~", "/homes/ada"),
        ("~/Papers", "/homes/ada/Papers"),
        ("~//Papers", "/homes/ada/Papers"),
        ("~joe/Papers", "~joe/Papers"),
        ("/srv/~", "/srv/~"),
        ("notes", "notes"),
    ] {
        assert_eq!(expand(written, home), Path::new(meant), "{written}");
    }
    assert_eq!(expand("~/Papers", None), Path::new("~/Papers"));
}
