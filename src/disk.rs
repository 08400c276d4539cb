//! Writing files so that a crash leaves the old one or the new one, whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Makes a folder and those above it, for the owner alone.
pub fn make_private_dir(dir: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Makes the entries of a folder durable.
pub fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Replaces a file in one step that survives a power cut. The temporary file beside it is
/// removed if anything fails.
pub fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let temporary = write_beside(path, bytes, mode)?;
    fs::rename(&temporary, path).inspect_err(|_| drop(fs::remove_file(&temporary)))?;
    sync_dir(folder_of(path))
}

/// Makes a file whole in one step, unless something is there already.
///
/// # Errors
/// `AlreadyExists`, and whatever writing can meet. Unlike a rename, a hard link cannot put the
/// new file over one that another process has made and locked meanwhile.
pub fn create_whole(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let temporary = write_beside(path, bytes, mode)?;
    let linked = fs::hard_link(&temporary, path);
    fs::remove_file(&temporary)?;
    linked?;
    sync_dir(folder_of(path))
}

/// Writes a temporary file beside `path`, durably, and returns its path.
pub fn write_beside(path: &Path, bytes: &[u8], mode: u32) -> io::Result<PathBuf> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".new-{}", std::process::id()));
    let temporary = path.with_file_name(name);
    // Left by a process of the same number that died here.
    match fs::remove_file(&temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(&temporary)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()));
    match written {
        Ok(()) => Ok(temporary),
        Err(error) => {
            drop(fs::remove_file(&temporary));
            Err(error)
        }
    }
}

fn folder_of(path: &Path) -> &Path {
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
}
