//! Reading what the system counts.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use longrein_app::Paths;
use tempfile::TempDir;

use crate::context::Context;
use crate::failure::{Failure, Status};

/// What resets the peak of a process's memory when it is written to `clear_refs`.
const RESET_PEAK: &str = "5";

/// Processor time of all threads of this process so far.
#[cfg(unix)]
pub fn cpu_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or(0),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}

/// Not known here, which the report shows as zero.
#[cfg(not(unix))]
pub fn cpu_time() -> Duration {
    Duration::ZERO
}

/// Begins to count the peak of memory anew, where the system can.
pub fn reset_peak() {
    // Elsewhere the peak is that of the whole process, which is never less.
    let _ = fs::write("/proc/self/clear_refs", RESET_PEAK);
}

/// The most memory that this process had, in megabytes; 0 where the system does not say.
pub fn peak_rss_mb() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|peak| peak.trim().trim_end_matches("kB").trim().parse().ok());
    kilobytes.unwrap_or(0.0) / 1_024.0
}

/// A folder for the measurement on the disk that runs are kept on; it is gone afterwards.
pub fn folder(context: &Context) -> Result<TempDir, Failure> {
    let data = Paths::find(context.data_dir().map(PathBuf::as_path))?.data;
    let above = data
        .parent()
        .filter(|above| above.is_dir())
        .map(PathBuf::from);
    let above = if data.is_dir() {
        data
    } else {
        above.unwrap_or_else(std::env::temp_dir)
    };
    made_in(&above, &mut tempfile::Builder::new())
}

/// The same beside the workspaces of runs; everybody may come through it, as commands of root do.
pub fn work_folder(context: &Context) -> Result<TempDir, Failure> {
    let work = Paths::find(context.data_dir().map(PathBuf::as_path))?.work;
    // What can't be made is told with the folder beneath it.
    let _ = fs::create_dir_all(&work);
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o711));
    }
    made_in(&work, &mut builder)
}

fn made_in(above: &Path, builder: &mut tempfile::Builder<'_, '_>) -> Result<TempDir, Failure> {
    builder.prefix("bench-").tempdir_in(above).map_err(|error| {
        Failure::said(
            Status::Failed,
            format!(
                "A folder for the measurement can't be made in {}: {error}.",
                above.display()
            ),
            "Name a data folder that you may write to with --data-dir.",
        )
    })
}
