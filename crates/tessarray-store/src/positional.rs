//! Reads and writes at an offset, which leave no cursor for threads to race on.

use std::fs::File;
use std::io::{self, ErrorKind};

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::write_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

#[cfg(windows)]
fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_write(file, bytes, offset)
}

/// Elsewhere a seek and a read, one at a time in the whole process: slow, but right.
#[cfg(not(any(unix, windows)))]
mod elsewhere {
    use std::fs::File;
    use std::io::{self, Read, Seek, SeekFrom, Write};
    use std::sync::{Mutex, PoisonError};

    static CURSOR: Mutex<()> = Mutex::new(());

    pub(super) fn read_at(mut file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let _turn = CURSOR.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))?;
        file.read(buffer)
    }

    pub(super) fn write_at(mut file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let _turn = CURSOR.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))?;
        file.write(bytes)
    }
}
#[cfg(not(any(unix, windows)))]
use elsewhere::{read_at, write_at};

/// Fills the buffer from the offset; `UnexpectedEof` where the file ends before.
pub(crate) fn read_exact_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match read_at(file, buffer, offset) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(n) => {
                buffer = buffer.get_mut(n..).unwrap_or_default();
                offset = offset.saturating_add(crate::span::as_u64(n));
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes all bytes at the offset.
pub(crate) fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match write_at(file, bytes, offset) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(n) => {
                bytes = bytes.get(n..).unwrap_or_default();
                offset = offset.saturating_add(crate::span::as_u64(n));
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// `length` bytes from the offset, in a new vector that is not zeroed first. Refuses, and does not abort, where the
/// memory is not there.
#[cfg(unix)]
pub(crate) fn read_vec_at(file: &File, length: usize, offset: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length)?;
    while bytes.len() < length {
        let at = offset.saturating_add(crate::span::as_u64(bytes.len()));
        match rustix::io::pread(file, rustix::buffer::spare_capacity(&mut bytes), at) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    bytes.truncate(length);
    Ok(bytes)
}

/// `length` bytes from the offset, in a new vector. Refuses, and does not abort, where the memory is not there.
#[cfg(not(unix))]
pub(crate) fn read_vec_at(file: &File, length: usize, offset: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length)?;
    bytes.resize(length, 0);
    read_exact_at(file, &mut bytes, offset)?;
    Ok(bytes)
}
