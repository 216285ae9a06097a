//! What the program is started with. A second start hands its arguments to the first.

use std::path::{Path, PathBuf};

use clap::Parser;

/// Longrein, the desktop app: long research runs that hold up.
#[derive(Parser, Clone, PartialEq, Eq, Default, Debug)]
#[command(name = "longrein-desktop", version, about)]
pub struct Arguments {
    /// Start the demo run, which works offline and without a key, and show it.
    #[arg(long)]
    pub demo: bool,
    /// The data folder, instead of the usual one.
    #[arg(long, value_name = "DIR", env = "LONGREIN_HOME")]
    pub data_dir: Option<PathBuf>,
    /// A run to show: its id, or as much of it as is unique.
    pub run: Option<String>,
}

/// What an instance of a data folder is called on the session bus: two instances of one folder
/// are one, and instances of two folders know nothing of each other.
pub fn instance_name(identifier: &str, data_dir: Option<&Path>) -> String {
    match data_dir {
        None => identifier.to_owned(),
        Some(folder) => {
            let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
            let hash = blake3::hash(folder.as_os_str().as_encoded_bytes()).to_hex();
            // A part of a bus name may not begin with a digit.
            format!("{identifier}.d{}", &hash[..INSTANCE_HASH_LETTERS])
        }
    }
}

/// How many letters of a folder's hash stand in its instance's name.
const INSTANCE_HASH_LETTERS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_data_folder_has_an_instance_of_its_own() {
        let usual = instance_name("org.longrein.desktop", None);
        let one = instance_name("org.longrein.desktop", Some(Path::new("/data/one")));
        let other = instance_name("org.longrein.desktop", Some(Path::new("/data/other")));
        assert_eq!(usual, "org.longrein.desktop");
        assert!(one.starts_with("org.longrein.desktop.d"), "{one}");
        assert_ne!(one, other);
        assert_eq!(
            one,
            instance_name("org.longrein.desktop", Some(Path::new("/data/one")))
        );
    }

    #[test]
    fn arguments_name_a_run_a_folder_and_the_demo() {
        let arguments =
            Arguments::parse_from(["longrein-desktop", "--demo", "--data-dir", "d", "01ABC"]);
        assert!(arguments.demo);
        assert_eq!(arguments.data_dir.as_deref(), Some(Path::new("d")));
        assert_eq!(arguments.run.as_deref(), Some("01ABC"));
    }
}
