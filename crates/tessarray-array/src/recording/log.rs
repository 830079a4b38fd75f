//! A file of recorded accesses.

use serde_json::json;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// What the header of a log says its format is.
pub const FORMAT: &str = "tessarray-log/1";

/// A log that is open for appending. Its counts are those of this process.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: File,
    lines: AtomicU64,
    lost: AtomicU64,
    /// Whether the last write may have left a part of a line.
    torn: AtomicBool,
}

impl Log {
    /// Opens a log and writes its header where it is empty.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut file = OpenOptions::new().create(true).append(true).read(true).open(path)?;
        let path = path.canonicalize()?;
        let size = file.metadata()?.len();
        let mut torn = false;
        if size > 0 {
            check(&mut file)?;
            torn = last_byte(&mut file)? != b'\n';
        }
        let log = Self {
            path,
            file,
            lines: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            torn: AtomicBool::new(torn),
        };
        if size == 0 {
            // Two processes may both find it empty: readers take a header wherever it stands.
            let header = json!({
                "format": FORMAT,
                "tessarray": env!("CARGO_PKG_VERSION"),
                "time": now(),
                "process": std::process::id(),
            });
            log.write(&format!("{header}\n"))?;
        }
        Ok(log)
    }

    /// Where it is, absolute and with links resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Lines that this process appended.
    pub fn lines(&self) -> u64 {
        self.lines.load(Ordering::Relaxed)
    }

    /// Lines that could not be written.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Appends a line, with its line feed. Gives the failure where it is the first.
    pub(super) fn append(&self, line: &str) -> Option<io::Error> {
        match self.write(line) {
            Ok(()) => {
                self.lines.fetch_add(1, Ordering::Relaxed);
                None
            }
            Err(error) => (self.lost.fetch_add(1, Ordering::Relaxed) == 0).then_some(error),
        }
    }

    fn write(&self, line: &str) -> io::Result<()> {
        // A torn line ends first, so that it takes no other with it.
        let done = if self.torn.swap(false, Ordering::Relaxed) {
            (&self.file).write_all(format!("\n{line}").as_bytes())
        } else {
            (&self.file).write_all(line.as_bytes())
        };
        if done.is_err() {
            self.torn.store(true, Ordering::Relaxed);
        }
        done
    }
}

/// Whether a file begins as a log does: nothing else is ever appended to.
fn check(file: &mut File) -> io::Result<()> {
    let mut head = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(4096).read_to_end(&mut head)?;
    let first = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let header: Option<serde_json::Value> = serde_json::from_slice(first).ok();
    if header.is_some_and(|header| header.get("format").and_then(|format| format.as_str()) == Some(FORMAT)) {
        return Ok(());
    }
    let message = format!("expected a new file or a log of format {FORMAT}, found something else");
    Err(io::Error::new(io::ErrorKind::InvalidData, message))
}

fn last_byte(file: &mut File) -> io::Result<u8> {
    let mut byte = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut byte)?;
    Ok(byte[0])
}

/// Seconds since 1970, to the microsecond.
pub(super) fn now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (since.as_secs_f64() * 1e6).round() / 1e6
}
