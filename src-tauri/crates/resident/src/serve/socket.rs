//! Sockets in folders whose paths may be longer than a socket's address.

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Listens at a path of any length: the kernel takes it for an address by way of its folder.
pub(super) fn listen(path: &Path) -> io::Result<UnixListener> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::open(folder, flags, Mode::empty())?;
    let short = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string());
    UnixListener::bind(short.join(name))
}
