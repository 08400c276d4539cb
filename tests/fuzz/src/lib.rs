//! What the targets share.

pub mod pending;

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::LazyLock;

use submitter::exit::Hold;
use submitter::gpu::Catalog;
use submitter::journal::LogFile;
use submitter::report::Decision;
use submitter::sources::baked;
use submitter::sync_marks::line;

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| baked::catalog(None).expect("shipped"));

/// The shipped cards.
#[must_use]
pub fn catalog() -> &'static Catalog {
    &CATALOG
}

/// A line of a log must not be able to end it, colour it, or hide a part of it.
pub fn assert_one_plain_line(line: &str) {
    assert!(!line.contains(char::is_control), "{line:?}");
}

/// Whatever a hold tells, its log line is one line, and none that says what the platform does
/// not take.
pub fn assert_told_safely(hold: &Hold) {
    let line = Decision::from(hold).to_string();
    assert_one_plain_line(&line);
    assert_eq!(line::parse(line.as_bytes(), catalog()), None, "{line}");
}

/// A file that has a path while it is open, and leaves nothing behind.
#[derive(Debug)]
pub struct Scratch {
    file: File,
    path: PathBuf,
}

impl Default for Scratch {
    fn default() -> Self {
        // In memory where that is to be had: a disk makes it a hundred times slower.
        let file = tempfile::tempfile_in("/dev/shm").or_else(|_| tempfile::tempfile());
        let file = file.expect("a temporary file");
        let path = format!("/dev/fd/{}", file.as_raw_fd()).into();
        Self { file, path }
    }
}

impl Scratch {
    /// The file, with this text in it.
    pub fn holding(&mut self, text: &str) -> &Path {
        self.file.set_len(0).expect("emptied");
        self.file.rewind().expect("rewound");
        self.file.write_all(text.as_bytes()).expect("written");
        self.file.rewind().expect("rewound");
        &self.path
    }
}

/// A journal's bytes in memory.
#[derive(Debug, Clone, Default)]
pub struct Memory(Rc<RefCell<Disk>>);

#[derive(Debug, Default)]
struct Disk {
    bytes: Vec<u8>,
    /// How much of the next line is written before the power goes.
    cut: Option<usize>,
}

impl Memory {
    /// A disk that holds `bytes`.
    #[must_use]
    pub fn holding(bytes: &[u8]) -> Self {
        Self(Rc::new(RefCell::new(Disk { bytes: bytes.to_vec(), cut: None })))
    }

    /// What is on the disk.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.0.borrow().bytes.clone()
    }

    /// Lets the next append fail after some of its bytes.
    pub fn cut_next(&self, len: usize) {
        self.0.borrow_mut().cut = Some(len);
    }

    /// Whether no append has failed since [`Self::cut_next`].
    #[must_use]
    pub fn will_cut(&self) -> bool {
        self.0.borrow().cut.is_some()
    }
}

impl LogFile for Memory {
    fn is_current(&self) -> io::Result<bool> {
        Ok(true)
    }

    fn append(&mut self, line: &[u8], _durable: bool) -> io::Result<()> {
        let mut disk = self.0.borrow_mut();
        match disk.cut.take() {
            None => disk.bytes.extend_from_slice(line),
            Some(len) => {
                disk.bytes.extend_from_slice(&line[..len % line.len()]);
                return Err(io::ErrorKind::StorageFull.into());
            }
        }
        Ok(())
    }

    fn replace(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.borrow_mut().bytes = bytes.to_vec();
        Ok(())
    }

    fn length(&self) -> u64 {
        self.0.borrow().bytes.len() as u64
    }
}
