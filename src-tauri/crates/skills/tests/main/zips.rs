//! Zips: honest ones, and those that are made to do harm.

use std::fs;
use std::io::{Cursor, Write};
use std::path::PathBuf;

use longrein_skills::{Origin, SkillError, ZipFault};
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

use crate::kit::{World, manifest, write};

/// A zip in the making.
struct Zip(ZipWriter<Cursor<Vec<u8>>>);

impl Zip {
    fn new() -> Self {
        Self(ZipWriter::new(Cursor::new(Vec::new())))
    }

    /// With a skill in it already, in a folder of its name.
    fn of_skill() -> Self {
        Self::new().file("beans/SKILL.md", manifest("beans"))
    }

    fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        self.with(
            name,
            content,
            SimpleFileOptions::default().unix_permissions(0o644),
        )
    }

    fn with(mut self, name: &str, content: impl AsRef<[u8]>, options: SimpleFileOptions) -> Self {
        let options = options.compression_method(CompressionMethod::Deflated);
        self.0.start_file(name, options).unwrap();
        self.0.write_all(content.as_ref()).unwrap();
        self
    }

    fn link(mut self, name: &str, target: &str) -> Self {
        self.0
            .add_symlink(name, target, SimpleFileOptions::default())
            .unwrap();
        self
    }

    fn folder(mut self, name: &str) -> Self {
        self.0
            .add_directory(name, SimpleFileOptions::default())
            .unwrap();
        self
    }

    fn bytes(self) -> Vec<u8> {
        self.0.finish().unwrap().into_inner()
    }

    fn save(self, world: &World) -> PathBuf {
        save(world, self.bytes())
    }
}

fn save(world: &World, bytes: Vec<u8>) -> PathBuf {
    let path = world.at("outside/beans.zip");
    write(&path, bytes);
    path
}

/// Nothing of the zip may be left anywhere.
fn refused(world: &World, path: &std::path::Path) -> ZipFault {
    let error = world.install(path).unwrap_err();
    assert_eq!(world.shelved(), [] as [&str; 0]);
    assert!(!world.at("data/evil.txt").exists());
    match error {
        SkillError::Zip { fault, .. } => fault,
        other => panic!("{other}"),
    }
}

fn refusal(zip: Zip) -> ZipFault {
    let world = World::new();
    let path = zip.save(&world);
    refused(&world, &path)
}

/// Replaces `from` by `to`, as long, wherever it stands in the zip: names that no honest writer
/// would take.
fn renamed(zip: Zip, from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = zip.bytes();
    let mut times = 0;
    for at in 0..bytes.len() - from.len() {
        if bytes[at..].starts_with(from.as_bytes()) {
            bytes[at..at + from.len()].copy_from_slice(to.as_bytes());
            times += 1;
        }
    }
    assert_eq!(times, 2, "a name stands before its file and in the index");
    bytes
}

#[test]
fn a_zip_of_a_folder_is_installed() {
    let world = World::new();
    let path = Zip::of_skill()
        .folder("beans/scripts/")
        .with(
            "beans/scripts/sort.sh",
            "echo sorted\n",
            SimpleFileOptions::default().unix_permissions(0o755),
        )
        .file("__MACOSX/beans/._SKILL.md", "x")
        .file("beans/.DS_Store", "x")
        .save(&world);
    let record = world.install(&path).unwrap();
    let Origin::Zip { path: from, hash } = record.origin else {
        panic!("it came from a zip");
    };
    assert_eq!(from, path);
    assert_eq!(
        hash,
        blake3::hash(&fs::read(&path).unwrap()).to_hex().to_string()
    );
    let files: Vec<_> = record.fingerprint.files.keys().collect();
    assert_eq!(files, ["SKILL.md", "scripts/sort.sh"]);
    assert!(record.fingerprint.files["scripts/sort.sh"].executable);
    assert!(world.skills.load("beans").is_ok());
}

#[test]
fn a_zip_of_the_files_alone_is_installed() {
    let world = World::new();
    let path = Zip::new()
        .file("SKILL.md", manifest("beans"))
        .file("references/a.md", "A.\n")
        .save(&world);
    world.install(&path).unwrap();
    assert_eq!(world.skills.load("beans").unwrap().files.len(), 1);
}

#[test]
fn a_zip_without_a_skill_or_with_several_is_told() {
    let world = World::new();
    let path = Zip::new().file("a/README.md", "x").save(&world);
    let error = world.install(&path).unwrap_err();
    assert!(matches!(error, SkillError::NotASkill { .. }), "{error}");
    let path = Zip::of_skill()
        .file("peas/SKILL.md", manifest("peas"))
        .save(&world);
    let error = world.install(&path).unwrap_err();
    assert!(matches!(error, SkillError::Several { .. }), "{error}");
    assert_eq!(world.shelved(), [] as [&str; 0]);
}

#[test]
fn names_that_lead_out_unpack_nothing() {
    for name in [
        "../../evil.txt",
        "beans/../../evil.txt",
        "/tmp/evil.txt",
        "..\\evil.txt",
        "C:/evil.txt",
        "\\evil.txt",
    ] {
        let world = World::new();
        let harmless = "x".repeat(name.len());
        let path = save(
            &world,
            renamed(Zip::of_skill().file(&harmless, "evil"), &harmless, name),
        );
        let fault = refused(&world, &path);
        assert_eq!(fault, ZipFault::LeadsOut(name.to_owned()));
    }
}

#[test]
fn names_that_not_every_system_keeps_unpack_nothing() {
    for name in [
        "beans/nul",
        "beans/a:b",
        "beans/a.",
        "beans//a",
        "beans/./a",
        "beans/a\u{1b}",
    ] {
        let world = World::new();
        let harmless = "x".repeat(name.len());
        let path = save(
            &world,
            renamed(Zip::of_skill().file(&harmless, "x"), &harmless, name),
        );
        assert!(
            matches!(refused(&world, &path), ZipFault::Name { .. }),
            "{name}"
        );
    }
}

#[test]
fn links_unpack_nothing() {
    let fault = refusal(Zip::of_skill().link("beans/notes.md", "/etc/passwd"));
    assert_eq!(fault, ZipFault::Link("beans/notes.md".to_owned()));
    // Not even one through which a later file would be written elsewhere.
    let fault = refusal(
        Zip::of_skill()
            .link("beans/d", "..")
            .file("beans/d/evil.txt", "x"),
    );
    assert_eq!(fault, ZipFault::Link("beans/d".to_owned()));
}

#[test]
fn pipes_and_devices_unpack_nothing() {
    let world = World::new();
    let mut bytes = Zip::of_skill().file("beans/pipe", "").bytes();
    // The kind of file stands in the upper half of the attributes, in the index.
    let index = bytes
        .windows(4)
        .rposition(|four| four == b"PK\x01\x02")
        .unwrap();
    bytes[index + 40..index + 42].copy_from_slice(&0o010_644_u16.to_le_bytes());
    let path = save(&world, bytes);
    assert_eq!(
        refused(&world, &path),
        ZipFault::Special("beans/pipe".to_owned())
    );
}

#[test]
fn two_names_that_some_system_takes_for_one_unpack_nothing() {
    let fault = refusal(Zip::of_skill().file("beans/skill.md", "x"));
    assert_eq!(fault, ZipFault::Twice("beans/skill.md".to_owned()));
    let fault = refusal(Zip::of_skill().file("BEANS/a.md", "x"));
    assert_eq!(fault, ZipFault::Twice("BEANS".to_owned()));
    let fault = refusal(
        Zip::of_skill()
            .file("beans/é", "x")
            .file("beans/e\u{301}", "x"),
    );
    assert!(matches!(fault, ZipFault::Twice(_)));
    let fault = refusal(Zip::of_skill().file("beans/SKILL.md/a", "x"));
    assert_eq!(fault, ZipFault::FileAndFolder("beans/SKILL.md".to_owned()));
}

#[test]
fn the_same_name_twice_unpacks_nothing() {
    let world = World::new();
    let path = save(
        &world,
        renamed(
            Zip::of_skill().file("beans/SKILL.xx", "x"),
            "beans/SKILL.xx",
            "beans/SKILL.md",
        ),
    );
    assert!(matches!(refused(&world, &path), ZipFault::Repeated));
}

#[test]
fn a_bomb_is_stopped_while_it_unpacks() {
    let zeros = vec![0; 15 * 1024 * 1024];
    let fault = refusal(Zip::of_skill().file("beans/bomb", &zeros));
    assert!(matches!(fault, ZipFault::Ratio { .. }), "{fault}");
    // A zip that is not honest about it is stopped as well.
    let world = World::new();
    let mut bytes = Zip::of_skill().file("beans/bomb", &zeros).bytes();
    let size = (zeros.len() as u32).to_le_bytes();
    for at in 0..bytes.len() - 4 {
        if bytes[at..at + 4] == size {
            bytes[at..at + 4].copy_from_slice(&1_000_u32.to_le_bytes());
        }
    }
    let path = save(&world, bytes);
    refused(&world, &path);
}

#[test]
fn more_than_a_skill_may_have_unpacks_nothing() {
    let mut zip = Zip::of_skill();
    for at in 0..1_001 {
        zip = zip.file(&format!("beans/{at}"), "");
    }
    assert_eq!(refusal(zip), ZipFault::Parts { limit: 1_000 });
    // Bytes that hardly shrink, and are too many together.
    let noise: Vec<u8> = (0_u32..12 * 1024 * 1024)
        .map(|at| b'a' + (at.wrapping_mul(2_654_435_761) >> 28) as u8)
        .collect();
    let zip = (0..3).fold(Zip::of_skill(), |zip, at| {
        zip.file(&format!("beans/{at}"), &noise)
    });
    let fault = refusal(zip);
    assert!(matches!(fault, ZipFault::Bytes { .. }), "{fault}");
}

#[test]
fn a_part_that_needs_a_password_unpacks_nothing() {
    let world = World::new();
    let mut bytes = Zip::of_skill().file("beans/locked.md", "x").bytes();
    let local = bytes
        .windows(4)
        .rposition(|four| four == b"PK\x03\x04")
        .unwrap();
    let index = bytes
        .windows(4)
        .rposition(|four| four == b"PK\x01\x02")
        .unwrap();
    bytes[local + 6] |= 1;
    bytes[index + 8] |= 1;
    let path = save(&world, bytes);
    assert_eq!(
        refused(&world, &path),
        ZipFault::Encrypted("beans/locked.md".to_owned())
    );
}

#[test]
fn parts_that_share_their_bytes_unpack_nothing() {
    let world = World::new();
    let mut bytes = Zip::of_skill()
        .file("beans/a.md", "aaaa")
        .file("beans/b.md", "aaaa")
        .bytes();
    let entries: Vec<usize> = (0..bytes.len() - 4)
        .filter(|&at| bytes[at..].starts_with(b"PK\x01\x02"))
        .collect();
    // The last one is said to begin where the one before begins.
    let begins: [u8; 4] = bytes[entries[1] + 42..entries[1] + 46].try_into().unwrap();
    bytes[entries[2] + 42..entries[2] + 46].copy_from_slice(&begins);
    let path = save(&world, bytes);
    let fault = refused(&world, &path);
    assert!(
        matches!(fault, ZipFault::Overlap | ZipFault::Damaged(_)),
        "{fault}"
    );
}

#[test]
fn a_damaged_zip_unpacks_nothing() {
    let world = World::new();
    let whole = Zip::of_skill()
        .file("beans/a.md", "letters ".repeat(100))
        .bytes();
    for cut in (2..whole.len()).step_by(37) {
        let path = save(&world, whole[..cut].to_vec());
        assert!(matches!(refused(&world, &path), ZipFault::Damaged(_)));
    }
    let mut spoiled = whole.clone();
    let data = whole.windows(8).position(|at| at == b"beans/a.").unwrap() + 20;
    spoiled[data] ^= 0xff;
    let path = save(&world, spoiled);
    assert!(matches!(refused(&world, &path), ZipFault::Damaged(_)));
    for other in ["", "no zip at all", "\u{1f}\u{8b}"] {
        let path = save(&world, other.into());
        let error = world.install(&path).unwrap_err();
        assert!(matches!(error, SkillError::NotASkill { .. }), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_zip_is_not_waited_for() {
    let world = World::new();
    let path = world.at("outside/beans.zip");
    crate::broken::pipe(&path);
    let error = world.install(&path).unwrap_err();
    assert!(matches!(error, SkillError::NotAFile { .. }), "{error}");
}

#[test]
fn a_zip_of_a_terabyte_is_not_read() {
    let world = World::new();
    let path = world.at("outside/beans.zip");
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    let error = world.install(&path).unwrap_err();
    assert!(matches!(error, SkillError::TooLarge { .. }), "{error}");
}
