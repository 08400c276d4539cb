//! Who holds the journal, in a file beside it. For people: nothing is decided by it but which of
//! two exit codes a run that found the lock taken ends with.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::disk;

const HOLDER: &str = "run.json";

/// The process that took the lock last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its number.
    pub pid: u32,
    /// When it took the lock, in seconds since 1970.
    pub started_at: u64,
}

impl Holder {
    /// The word of the one that holds the journal, or held it last.
    pub(super) fn last(dir: &Path) -> Option<Self> {
        let path = dir.join(HOLDER);
        disk::require_regular(&path).ok()?;
        serde_json::from_slice(&std::fs::read(path).ok()?).ok()
    }

    /// Says who holds the journal now.
    pub(super) fn tell(&self, dir: &Path) -> io::Result<()> {
        disk::replace(&dir.join(HOLDER), &serde_json::to_vec(self)?, 0o600)
    }

    /// Whether this process holds the lock of a file still. The kernel is asked for its list:
    /// trying the lock would take it for a moment, and a run that starts then would hold.
    pub(super) fn holds(&self, inode: u64) -> bool {
        std::fs::read_to_string("/proc/locks").is_ok_and(|locks| self.is_among(&locks, inode))
    }

    /// Lines such as `7: FLOCK  ADVISORY  WRITE 12345 fe:01:678 0 EOF`. Some file systems give
    /// another device number there than elsewhere, so the process tells the file from one of the same
    /// inode.
    fn is_among(&self, locks: &str, inode: u64) -> bool {
        let (pid, inode) = (self.pid.to_string(), inode.to_string());
        locks.lines().any(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            matches!(fields[..], [_, "FLOCK", _, "WRITE", holder, file, ..]
                if holder == pid && file.rsplit(':').next() == Some(&inode))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Opening a pipe would wait for whoever writes to it.
    #[test]
    fn a_pipe_in_its_place_names_nobody() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(HOLDER);
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        assert_eq!(Holder::last(dir.path()), None);
        let holder = Holder { pid: 7, started_at: 1 };
        holder.tell(dir.path()).unwrap();
        assert_eq!(Holder::last(dir.path()), Some(holder));
    }

    #[test]
    fn a_lock_is_found_by_its_process_and_its_inode() {
        let locks = "\
1: POSIX  ADVISORY  WRITE 7 fe:00:10 0 EOF
2: FLOCK  ADVISORY  READ 8 fe:00:10 0 EOF
3: FLOCK  ADVISORY  WRITE 9 fe:00:10 0 EOF
3: -> FLOCK  ADVISORY  WRITE 11 fe:00:10 0 EOF
4: FLOCK
";
        let holds = |pid, inode| Holder { pid, started_at: 0 }.is_among(locks, inode);
        assert!(holds(9, 10));
        for (pid, inode) in [(7, 10), (8, 10), (9, 1), (9, 100), (11, 10)] {
            assert!(!holds(pid, inode), "{pid} {inode}");
        }
    }
}
