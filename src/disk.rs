//! Writing files so that a crash leaves the old one or the new one, whole.

pub mod mounts;

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Access, AtFlags};

use crate::clock::Clock;

/// Makes a folder and those above it, for the owner alone.
pub fn make_private_dir(dir: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Whether a path, if anything is there, is a file that can be read to its end. Opening a pipe in
/// its place would wait for whoever writes to it, perhaps for ever.
///
/// # Errors
/// It is a pipe, a device or a socket. A folder is found out by reading it.
pub fn require_regular(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() && !found.is_dir() => {
            Err(io::Error::other("not a regular file"))
        }
        _ => Ok(()),
    }
}

/// Locks a folder until the file that is returned is dropped, waiting for others at most
/// `patience`. Nothing is left over: the lock is the kernel's.
///
/// # Errors
/// `WouldBlock` when the patience is over; the folder cannot be opened or locked.
pub fn lock_folder(folder: &Path, clock: &dyn Clock, patience: Duration) -> io::Result<File> {
    const ASK_AGAIN: Duration = Duration::from_millis(5);
    let lock = File::open(folder)?;
    let until = clock.elapsed() + patience;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::WouldBlock) if clock.elapsed() < until => clock.sleep(ASK_AGAIN),
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::new(
                    io::ErrorKind::WouldBlock,
                    "another program holds the lock",
                ));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Makes the entries of a folder durable.
pub fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Replaces a file in one step that survives a power cut. The temporary file beside it is
/// removed if anything fails.
pub fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let (temporary, _) = write_beside(path, bytes, mode)?;
    fs::rename(&temporary, path).inspect_err(|_| drop(fs::remove_file(&temporary)))?;
    sync_dir(folder_of(path))
}

/// Like [`replace`] for a file that people share: one that is there keeps its permissions and,
/// as far as this process may give it away, its owner; a new one gets `mode` less the umask.
pub fn replace_keeping_mode(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let old = match fs::metadata(path) {
        Ok(old) => old,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return replace(path, bytes, mode),
        Err(error) => return Err(error),
    };
    let mode = old.mode() & 0o777;
    let (temporary, file) = write_beside(path, bytes, mode)?;
    // Run by root once, it must not lock out the account that cron runs it by. For others this
    // fails where it would change something, and then the file is theirs. The open file is given
    // away, and not what stands under its name by now: the folder may be another user's.
    drop(fchown(&file, Some(old.uid()), Some(old.gid())));
    file.set_permissions(fs::Permissions::from_mode(mode))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&temporary, path))
        .inspect_err(|_| drop(fs::remove_file(&temporary)))?;
    sync_dir(folder_of(path))
}

/// Removes what writers of `path` that were killed have left beside it. None may be at work.
pub fn remove_leftovers(path: &Path) -> io::Result<()> {
    let start = temporary_name(path);
    for entry in fs::read_dir(folder_of(path))? {
        let name = entry?.file_name();
        if name.as_encoded_bytes().starts_with(start.as_encoded_bytes()) {
            fs::remove_file(path.with_file_name(name))?;
        }
    }
    Ok(())
}

/// Makes a file whole in one step, unless something is there already.
///
/// # Errors
/// `AlreadyExists`, and whatever writing can meet. Unlike a rename, a hard link cannot put the
/// new file over one that another process has made and locked meanwhile.
pub fn create_whole(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let (temporary, _) = write_beside(path, bytes, mode)?;
    let linked = fs::hard_link(&temporary, path);
    fs::remove_file(&temporary)?;
    linked?;
    sync_dir(folder_of(path))
}

/// Replaces a file in one step for whoever reads it, for content that the next run writes again: a
/// power cut may leave an empty one. Nothing is left of a file that could not be written.
pub fn replace_soon(
    path: &Path,
    mode: u32,
    write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> io::Result<()> {
    let (temporary, _) = make_beside(path, mode, |file| {
        let mut buffered = BufWriter::new(file);
        write(&mut buffered)?;
        buffered.flush()
    })?;
    fs::rename(&temporary, path).inspect_err(|_| drop(fs::remove_file(&temporary)))
}

/// Writes a temporary file beside `path`, durably, and returns its path and itself.
pub fn write_beside(path: &Path, bytes: &[u8], mode: u32) -> io::Result<(PathBuf, File)> {
    make_beside(path, mode, |mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    })
}

fn make_beside(
    path: &Path,
    mode: u32,
    write: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<(PathBuf, File)> {
    let mut name = temporary_name(path);
    name.push(std::process::id().to_string());
    let temporary = path.with_file_name(name);
    // Left by a process of the same number that died here.
    match fs::remove_file(&temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(&temporary);
    match opened.and_then(|file| write(&file).map(|()| file)) {
        Ok(file) => Ok((temporary, file)),
        Err(error) => {
            drop(fs::remove_file(&temporary));
            Err(error)
        }
    }
}

/// The name of a file that becomes the one at `path`, but for the process's number.
fn temporary_name(path: &Path) -> OsString {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new-");
    name
}

/// Whether this process's user may read and write a file, or make files in a folder. Asks the
/// system, and leaves nothing behind.
///
/// # Errors
/// Why not: the permissions, a disk that is mounted to be read only.
pub fn may_write(path: &Path) -> io::Result<()> {
    let is_dir = fs::metadata(path)?.is_dir();
    let search = if is_dir { Access::EXEC_OK } else { Access::empty() };
    let wanted = Access::READ_OK | Access::WRITE_OK | search;
    Ok(rustix::fs::accessat(rustix::fs::CWD, path, wanted, AtFlags::EACCESS)?)
}

/// Bytes that this user may still write where a folder is; 0 where no file can be made.
///
/// # Errors
/// The system does not say.
pub fn free_space(dir: &Path) -> io::Result<u64> {
    let found = rustix::fs::statvfs(dir)?;
    // Some file systems count no files at all.
    let no_more_files = found.f_files > 0 && found.f_favail == 0;
    Ok(if no_more_files { 0 } else { found.f_bavail.saturating_mul(found.f_frsize) })
}

/// The number of the user that this process acts as.
#[must_use]
pub fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The folder that a file is in.
#[must_use]
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_or_left_alone_and_nothing_stays_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        create_whole(&path, b"one", 0o600).unwrap();
        let again = create_whole(&path, b"two", 0o600).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"one");
        replace(&path, b"three", 0o600).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
        fs::create_dir(dir.path().join("folder")).unwrap();
        assert!(replace(&dir.path().join("folder"), b"", 0o600).is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_shared_file_keeps_its_permissions_whatever_the_umask() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        replace_keeping_mode(&path, b"one", 0o604).unwrap();
        let mode = || fs::metadata(&path).unwrap().mode() & 0o7777;
        assert_eq!(mode() & !0o604, 0, "{:o}", mode());
        for kept in [0o666, 0o640, 0o400] {
            fs::set_permissions(&path, fs::Permissions::from_mode(kept)).unwrap();
            replace_keeping_mode(&path, b"two", 0o604).unwrap();
            assert_eq!(mode(), kept);
        }
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn only_the_leftovers_of_one_file_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["x", "x.new-1", "x.new-4194304", "y.new-1", "xx.new-1", "x.new"] {
            fs::write(dir.path().join(name), b"").unwrap();
        }
        remove_leftovers(&dir.path().join("x")).unwrap();
        let mut left: Vec<_> =
            fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["x", "x.new", "xx.new-1", "y.new-1"]);
    }
}
