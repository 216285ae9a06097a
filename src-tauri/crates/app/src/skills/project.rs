//! Which folder is the project that somebody works in.

use std::path::{Path, PathBuf};

/// How far above the folder a project is looked for.
const ABOVE_LIMIT: usize = 32;
/// The folder by which a project is known.
const REPOSITORY: &str = ".git";
/// The folders of a project that skills lie in.
const SKILL_FOLDERS: [&str; 3] = [".longrein/skills", ".agents/skills", ".claude/skills"];

/// The project that `folder` lies in: the nearest folder, itself or above, that has skills, up to
/// the one with the repository. Without a repository only the folder itself counts: what lies above
/// it may be anybody's.
pub fn project_at(folder: &Path) -> Option<PathBuf> {
    let above = || folder.ancestors().take(ABOVE_LIMIT);
    let repository = above().find(|folder| folder.join(REPOSITORY).exists());
    let has_skills = |folder: &Path| {
        SKILL_FOLDERS
            .iter()
            .any(|skills| folder.join(skills).is_dir())
    };
    let mut inside = above().take_while(|above| match repository {
        Some(repository) => above.starts_with(repository),
        None => *above == folder,
    });
    inside
        .find(|folder| has_skills(folder))
        .map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use std::fs::create_dir_all;

    use super::*;

    #[test]
    fn the_nearest_folder_with_skills_up_to_the_repository_is_the_project() {
        let outside = tempfile::tempdir().unwrap();
        let root = outside.path();
        create_dir_all(root.join("repo/part/inner")).unwrap();
        assert_eq!(project_at(&root.join("repo/part/inner")), None);
        create_dir_all(root.join("repo/.agents/skills")).unwrap();
        assert_eq!(project_at(&root.join("repo")), Some(root.join("repo")));
        // No repository says that they belong together.
        assert_eq!(project_at(&root.join("repo/part/inner")), None);
        create_dir_all(root.join("repo/.git")).unwrap();
        let found = project_at(&root.join("repo/part/inner"));
        assert_eq!(found, Some(root.join("repo")));
        create_dir_all(root.join("repo/part/.longrein/skills")).unwrap();
        let found = project_at(&root.join("repo/part/inner"));
        assert_eq!(found, Some(root.join("repo/part")));
        // What lies above the repository is not of the project.
        create_dir_all(root.join(".agents/skills")).unwrap();
        create_dir_all(root.join("other/.git")).unwrap();
        assert_eq!(project_at(&root.join("other")), None);
    }
}
