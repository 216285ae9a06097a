//! Handing an order over a socket, with open files beside it: its length as `u32`, big-endian, and
//! JSON. What is handed over with it comes with the first byte.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use crate::supervise::Order;

/// The most bytes of an order: a command with its environment.
const ORDER_MAX_BYTES: usize = 600 * 1024;
/// How many bytes say how long the order is.
const LENGTH_BYTES: usize = 4;
/// The most files that go with one: input, output and errors.
const FILES_MAX: usize = 3;

/// Hands an order over, with files beside it.
pub(crate) fn over(to: &UnixStream, order: &Order, files: &[BorrowedFd<'_>]) -> io::Result<()> {
    let order = serde_json::to_vec(order)?;
    let length = u32::try_from(order.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let mut bytes = length.to_be_bytes().to_vec();
    bytes.extend(order);
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES_MAX))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(files)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let sent = sendmsg(
        to,
        &[IoSlice::new(&bytes)],
        &mut ancillary,
        SendFlags::NOSIGNAL,
    )?;
    (&mut &*to).write_all(&bytes[sent..])
}

/// Takes an order, and what comes with its first bytes. No byte more: a word may follow at once.
pub(crate) fn taken(from: &UnixStream) -> io::Result<(Order, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES_MAX))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut length = [0; LENGTH_BYTES];
    let first = recvmsg(
        from,
        &mut [IoSliceMut::new(&mut length)],
        &mut ancillary,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    let files = ancillary.drain().flat_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => files.collect(),
        _ => Vec::new(),
    });
    let files = files.collect();
    (&mut &*from).read_exact(&mut length[first.bytes..])?;
    let length = u32::from_be_bytes(length) as usize;
    if length > ORDER_MAX_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut order = vec![0; length];
    (&mut &*from).read_exact(&mut order)?;
    Ok((serde_json::from_slice(&order)?, files))
}
