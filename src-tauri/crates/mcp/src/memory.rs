//! How much memory a server holds.

/// How many bytes the unit of proc(5) has.
#[cfg(target_os = "linux")]
const KIB: u64 = 1024;

/// What the processes of a group hold together, in bytes; `None` where that can't be told.
#[cfg(target_os = "linux")]
pub(crate) fn of_group(group: u32) -> Option<u64> {
    let mut held = None;
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let Some(process) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        if group_of(process) == Some(group)
            && let Some(kib) = resident_kib(process)
        {
            held = Some(held.unwrap_or(0) + kib);
        }
    }
    Some(held?.saturating_mul(KIB))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn of_group(_group: u32) -> Option<u64> {
    None
}

/// Field 5 of proc(5); the name in parentheses may hold anything, so it is skipped from the end.
#[cfg(target_os = "linux")]
fn group_of(process: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(2)?.parse().ok()
}

#[cfg(target_os = "linux")]
fn resident_kib(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}
