//! Unpacking a zip that anybody may have made.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

use zip::ZipArchive;
use zip::result::ZipError;

use crate::error::{SkillError, ZipFault};
use crate::file_name;
use crate::folder::{ENTRIES_LIMIT, FILE_LIMIT_BYTES, LEFT_OUT, TOTAL_LIMIT_BYTES};
use crate::hash::hash_of;
use crate::load::write_new;

/// The largest zip that is read, in bytes.
pub const ZIP_LIMIT_BYTES: u64 = 32 * 1024 * 1024;
/// The most parts of a zip, folders counted.
pub const PARTS_LIMIT: usize = ENTRIES_LIMIT;
/// How many times larger than its packed form a file may be.
pub const RATIO_LIMIT: u64 = 200;
/// A file up to this size may grow as it likes: text of one letter is no attack.
const RATIO_FREE_BYTES: u64 = 1024 * 1024;
/// How much is unpacked before the limits are looked at again.
const CHUNK_BYTES: usize = 64 * 1024;

/// How every zip begins that was not put behind something else.
const ZIP_MARK: &[u8] = b"PK";

/// The bits of a mode that say what kind of file it is, and three of the kinds.
const MODE_KIND: u32 = 0o170_000;
const MODE_FILE: u32 = 0o100_000;
const MODE_FOLDER: u32 = 0o040_000;
const MODE_LINK: u32 = 0o120_000;

/// A file of the zip that is to be unpacked.
struct Part {
    index: usize,
    path: String,
    executable: bool,
}

/// Unpacks the zip into the folder `into`, which it makes, and gives the hash of the zip's bytes.
pub(super) fn unpack(zip: &Path, into: &Path) -> Result<String, SkillError> {
    let bytes = read(zip)?;
    if !bytes.starts_with(ZIP_MARK) {
        return Err(SkillError::NotASkill {
            path: zip.to_path_buf(),
        });
    }
    let hash = hash_of(&bytes);
    let refused = |fault| SkillError::Zip {
        path: zip.to_path_buf(),
        fault,
    };
    let mut archive =
        ZipArchive::new(Cursor::new(bytes)).map_err(|error| refused(damaged(&error)))?;
    let parts = parts(&mut archive).map_err(refused)?;
    std::fs::create_dir(into).map_err(SkillError::io(into, "made"))?;
    let mut total = 0;
    for part in parts {
        let bytes = part_bytes(&mut archive, &part, &mut total).map_err(refused)?;
        let place = into.join(&part.path);
        write_new(&place, &bytes, part.executable)
            .map_err(SkillError::io(place.clone(), "written"))?;
    }
    Ok(hash)
}

fn read(zip: &Path) -> Result<Vec<u8>, SkillError> {
    let of_zip = || SkillError::io(zip, "read");
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // A pipe would have the reader wait for a writer.
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    let file = options.open(zip).map_err(of_zip())?;
    let metadata = file.metadata().map_err(of_zip())?;
    if !metadata.is_file() {
        return Err(SkillError::NotAFile {
            place: zip.display().to_string(),
        });
    }
    let mut bytes = Vec::new();
    file.take(ZIP_LIMIT_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(of_zip())?;
    if bytes.len() as u64 > ZIP_LIMIT_BYTES {
        return Err(SkillError::TooLarge {
            place: zip.display().to_string(),
            what: format!("has {} bytes", metadata.len()),
            limit: ZIP_LIMIT_BYTES,
            unit: "bytes",
        });
    }
    Ok(bytes)
}

fn damaged(error: &ZipError) -> ZipFault {
    ZipFault::Damaged(crate::show::brief(&error.to_string(), 200))
}

/// What is to be unpacked, once every name in the zip is known to be harmless.
fn parts(archive: &mut ZipArchive<Cursor<Vec<u8>>>) -> Result<Vec<Part>, ZipFault> {
    if archive.len() > PARTS_LIMIT {
        return Err(ZipFault::Parts { limit: PARTS_LIMIT });
    }
    if archive.has_duplicate_names() {
        return Err(ZipFault::Repeated);
    }
    if archive
        .has_overlapping_entries()
        .map_err(|error| damaged(&error))?
    {
        return Err(ZipFault::Overlap);
    }
    let mut names = Names::default();
    let mut parts = Vec::new();
    let mut declared = 0_u64;
    for index in 0..archive.len() {
        let part = archive
            .by_index_raw(index)
            .map_err(|error| damaged(&error))?;
        let name = part.name().map_err(|error| damaged(&error))?.into_owned();
        let shown = crate::show::brief(&name, 120);
        if part.encrypted() {
            return Err(ZipFault::Encrypted(shown));
        }
        let mode = part.unix_mode().unwrap_or(0);
        let is_folder = match mode & MODE_KIND {
            MODE_LINK => return Err(ZipFault::Link(shown)),
            MODE_FOLDER => true,
            0 | MODE_FILE => name.ends_with('/'),
            _ => return Err(ZipFault::Special(shown)),
        };
        let path = harmless(&name, &shown)?;
        if path.split('/').any(|part| LEFT_OUT.contains(&part)) {
            continue;
        }
        names.take(path, is_folder)?;
        if is_folder {
            continue;
        }
        declared = declared.saturating_add(part.size());
        if declared > TOTAL_LIMIT_BYTES {
            return Err(too_many_bytes());
        }
        parts.push(Part {
            index,
            path: path.to_owned(),
            executable: mode & 0o111 != 0,
        });
    }
    Ok(parts)
}

fn too_many_bytes() -> ZipFault {
    ZipFault::Bytes {
        limit_bytes: TOTAL_LIMIT_BYTES,
    }
}

/// The path that a name means, when it stays in the folder and every system can keep it.
fn harmless<'n>(name: &'n str, shown: &str) -> Result<&'n str, ZipFault> {
    let has_drive = name.as_bytes().get(1) == Some(&b':');
    let leads_out = name.starts_with(['/', '\\'])
        || has_drive
        || name.split(['/', '\\']).any(|part| part == "..");
    if leads_out {
        return Err(ZipFault::LeadsOut(shown.to_owned()));
    }
    let path = name.trim_start_matches("./");
    let path = path.strip_suffix('/').unwrap_or(path);
    match file_name::fault(path) {
        Some(fault) => Err(ZipFault::Name {
            name: shown.to_owned(),
            fault,
        }),
        None => Ok(path),
    }
}

/// The names so far, as the system takes them that tells the fewest apart.
#[derive(Default)]
struct Names {
    /// The name as it is written, and whether it is a folder, by its folded form.
    taken: BTreeMap<String, (String, bool)>,
}

impl Names {
    fn take(&mut self, path: &str, is_folder: bool) -> Result<(), ZipFault> {
        let ends = path.match_indices('/').map(|(at, _)| at);
        for end in ends {
            self.one(&path[..end], true)?;
        }
        self.one(path, is_folder)
    }

    fn one(&mut self, path: &str, is_folder: bool) -> Result<(), ZipFault> {
        let shown = || crate::show::brief(path, 120);
        let folded = file_name::folded(path);
        match self.taken.get(&folded) {
            Some((written, _)) if written != path => Err(ZipFault::Twice(shown())),
            Some((_, was_folder)) if *was_folder != is_folder => {
                Err(ZipFault::FileAndFolder(shown()))
            }
            Some((_, false)) => Err(ZipFault::Twice(shown())),
            Some((_, true)) => Ok(()),
            None => {
                self.taken.insert(folded, (path.to_owned(), is_folder));
                Ok(())
            }
        }
    }
}

/// The bytes of a part, unpacked only as far as the limits go, whatever the zip says of its size.
fn part_bytes(
    archive: &mut ZipArchive<Cursor<Vec<u8>>>,
    part: &Part,
    total: &mut u64,
) -> Result<Vec<u8>, ZipFault> {
    let mut packed = archive
        .by_index(part.index)
        .map_err(|error| damaged(&error))?;
    let packed_bytes = packed.compressed_size().max(1);
    let mut bytes: Vec<u8> = Vec::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let read = match packed.read(&mut chunk) {
            Ok(0) => return Ok(bytes),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(ZipFault::Damaged(error.to_string())),
        };
        bytes.extend_from_slice(&chunk[..read]);
        *total += read as u64;
        let size = bytes.len() as u64;
        if *total > TOTAL_LIMIT_BYTES || size > FILE_LIMIT_BYTES {
            return Err(too_many_bytes());
        }
        if size > RATIO_FREE_BYTES && size / packed_bytes > RATIO_LIMIT {
            return Err(ZipFault::Ratio {
                name: crate::show::brief(&part.path, 120),
                limit: RATIO_LIMIT,
            });
        }
    }
}
