//! A log as its text: a file or standard input, plain or compressed with gzip.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

const BUFFER: usize = 64 * 1024;

const GZIP: &[u8] = b"\x1f\x8b";
/// Compressed forms that are told rather than searched in vain, and what undoes them.
const OTHERS: [(&[u8], &str); 3] =
    [(b"\xfd7zXZ\0", "xz -dc"), (b"\x28\xb5\x2f\xfd", "zstd -dc"), (b"BZh", "bzip2 -dc")];
/// As many bytes as the longest of them.
const HEAD: usize = 6;

/// Opens a log; `-` is standard input. Whether it is compressed is seen from its first bytes: a
/// rotated log may have any name.
///
/// # Errors
/// It cannot be opened or read, or is compressed in a form that is not read here. Damage of the
/// compressed form is an error of the reader, when it gets there.
pub(super) fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    if path.as_os_str() == OsStr::new("-") {
        text(io::stdin().lock())
    } else {
        text(File::open(path)?)
    }
}

fn text(mut bytes: impl Read + 'static) -> io::Result<Box<dyn BufRead>> {
    let mut head = Vec::with_capacity(HEAD);
    bytes.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
    let is = |magic: &[u8]| head.starts_with(magic);
    // A bzip2 file goes on with its level and the first digits of pi; a log does not.
    let is_other = |magic: &[u8]| is(magic) && (magic != b"BZh" || head.ends_with(b"1A"));
    if let Some((_, undo)) = OTHERS.iter().find(|(magic, _)| is_other(magic)) {
        return Err(io::Error::other(format!(
            "compressed, and not with gzip: try {undo} LOG | submitter sync-marks -"
        )));
    }
    let gzipped = is(GZIP);
    let whole = BufReader::with_capacity(BUFFER, io::Cursor::new(head).chain(bytes));
    if gzipped {
        // Each rotation may have added a member of its own.
        Ok(Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(whole))))
    } else {
        Ok(Box::new(whole))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn read(bytes: Vec<u8>) -> io::Result<String> {
        let mut read = String::new();
        text(io::Cursor::new(bytes))?.read_to_string(&mut read)?;
        Ok(read)
    }

    #[test]
    fn plain_and_gzipped_logs_are_read_whole() {
        for log in ["", "x", "[live]\n", "\u{feff}[live]\n", "BZh", "BZhang/model\n"] {
            assert_eq!(read(log.into()).unwrap(), log);
            assert_eq!(read(gzip(log)).unwrap(), log);
        }
        assert_eq!(read([gzip("one\n"), gzip(""), gzip("two\n")].concat()).unwrap(), "one\ntwo\n");
    }

    #[test]
    fn a_cut_or_damaged_member_is_an_error_at_every_place() {
        let whole = [gzip("one\n"), gzip("two\n")].concat();
        let first = gzip("one\n").len();
        for length in 2..whole.len() {
            assert_eq!(read(whole[..length].to_vec()).is_ok(), length == first, "{length}");
        }
        let mut damaged = whole;
        damaged[first - 6] ^= 1;
        assert!(read(damaged).is_err());
    }

    #[test]
    fn other_compressed_forms_are_told() {
        for (head, undo) in [
            (&b"\xfd7zXZ\0\0\x04"[..], "xz"),
            (b"\x28\xb5\x2f\xfd\x04\x58", "zstd"),
            (b"BZh91AY&SY", "bzip2"),
        ] {
            let error = read(head.to_vec()).unwrap_err().to_string();
            assert!(error.contains(&format!("try {undo} -dc LOG | submitter sync-marks -")));
        }
    }
}
