//! Whether a folder is on a network file system, where two hosts can hold one lock at once.

use std::path::{Path, PathBuf};

/// File systems that several hosts can mount at once.
const NETWORK: [&str; 14] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "ncpfs",
    "afs",
    "9p",
    "ceph",
    "glusterfs",
    "lustre",
    "gfs2",
    "ocfs2",
    "beegfs",
];

/// The network file system that a folder, or the nearest one above it that exists, is on; none
/// where it is local, or where the kernel does not say (no `/proc`).
#[must_use]
pub fn network_file_system(dir: &Path) -> Option<String> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let existing = dir.ancestors().find_map(|dir| dir.canonicalize().ok())?;
    Some(file_system(&mounts, &existing)?.to_owned()).filter(|kind| is_network(kind))
}

fn is_network(kind: &str) -> bool {
    NETWORK.contains(&kind)
        || kind.strip_prefix("fuse.").is_some_and(|kind| {
            ["sshfs", "s3fs", "rclone", "glusterfs", "ceph", "gcsfuse", "davfs"]
                .iter()
                .any(|network| kind.starts_with(network))
        })
}

/// The kind of the file system at an absolute path, by the text of `/proc/self/mountinfo`: the
/// longest mount point that the path is below, and of two mounts at one place the later.
fn file_system<'a>(mounts: &'a str, path: &Path) -> Option<&'a str> {
    let mounts = mounts.lines().filter_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let point = PathBuf::from(unescape(left.split(' ').nth(4)?));
        let kind = right.split(' ').next()?;
        path.starts_with(&point).then(|| (point.components().count(), kind))
    });
    mounts.max_by_key(|(depth, _)| *depth).map(|(_, kind)| kind)
}

/// Spaces, tabs, newlines and backslashes stand as `\040` in a mount point.
fn unescape(text: &str) -> String {
    let mut plain = text.to_owned();
    for (escape, c) in [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")] {
        plain = plain.replace(escape, c);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
23 22 0:20 / /proc rw,nosuid - proc proc rw
24 22 0:40 / /var/lib rw,relatime shared:1 - nfs4 server:/export rw,vers=4.2
25 24 0:41 / /var/lib/local rw - tmpfs tmpfs rw
26 22 0:42 / /mnt/my\\040share rw - cifs //server/share rw
27 22 0:43 / /home rw - fuse.sshfs user@server: rw
28 22 0:44 / /stacked rw - nfs server:/a rw
29 22 0:45 / /stacked rw - ext4 /dev/vdb rw";

    #[test]
    fn the_longest_mount_point_above_a_path_says_what_it_is_on() {
        for (path, kind, network) in [
            ("/root/state", "ext4", false),
            ("/var/lib/submitter", "nfs4", true),
            ("/var/lib/local/x", "tmpfs", false),
            ("/var/library", "ext4", false),
            ("/mnt/my share/x", "cifs", true),
            ("/home/user", "fuse.sshfs", true),
            ("/stacked/x", "ext4", false),
        ] {
            assert_eq!(file_system(MOUNTS, Path::new(path)), Some(kind), "{path}");
            assert_eq!(is_network(kind), network, "{kind}");
        }
        assert_eq!(file_system("", Path::new("/")), None);
        assert_eq!(file_system("garbage\n1 2 3 - x", Path::new("/")), None);
    }

    #[test]
    fn a_temporary_folder_is_local() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(network_file_system(&dir.path().join("not/made/yet")), None);
    }
}
