//! The lines of a log of any size, in memory of a fixed one.

use std::io::{self, BufRead, ErrorKind};

/// A longer line is no line of ours. It is passed over.
pub(super) const MAX_LINE: usize = 64 * 1024;

/// What a log held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Lines that ended and were not empty.
    pub(super) lines: u64,
    /// Those of them that were too long to be read.
    pub(super) too_long: u64,
    /// Whether bytes stood behind the last line's end.
    pub(super) unended: bool,
}

/// Hands over each line without its end, which is LF, CR or both. What follows the last end may
/// still be being written, so it is no line.
///
/// # Errors
/// Those of `reader`, with what was read before them already handed over.
pub(super) fn for_each(
    reader: &mut dyn BufRead,
    mut each: impl FnMut(&[u8]),
) -> io::Result<Counts> {
    let mut counts = Counts::default();
    // The beginning of a line whose end is not in the buffer yet.
    let mut begun = Vec::new();
    let mut too_long = false;
    loop {
        let buffer = match reader.fill_buf() {
            Ok([]) => break,
            Ok(buffer) => buffer,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let mut rest = buffer;
        while let Some(at) = rest.iter().position(|b| matches!(b, b'\n' | b'\r')) {
            let piece = &rest[..at];
            rest = &rest[at + 1..];
            too_long |= begun.len() + piece.len() > MAX_LINE;
            if too_long {
                counts.too_long += 1;
                counts.lines += 1;
            } else if begun.is_empty() {
                if !piece.is_empty() {
                    counts.lines += 1;
                    each(piece);
                }
            } else {
                begun.extend_from_slice(piece);
                counts.lines += 1;
                each(&begun);
            }
            begun.clear();
            too_long = false;
        }
        too_long |= begun.len() + rest.len() > MAX_LINE;
        if too_long {
            begun.clear();
        } else {
            begun.extend_from_slice(rest);
        }
        let used = buffer.len();
        reader.consume(used);
    }
    counts.unended = too_long || !begun.is_empty();
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufReader, Read};

    fn lines_in(text: &[u8], capacity: usize) -> (Vec<Vec<u8>>, Counts) {
        let mut lines = Vec::new();
        let mut reader = BufReader::with_capacity(capacity, text);
        let counts = for_each(&mut reader, |line| lines.push(line.to_vec())).unwrap();
        (lines, counts)
    }

    /// I02: LF, CR LF and CR end the same lines.
    #[test]
    fn i02_every_kind_of_line_end_in_buffers_of_every_size() {
        for end in ["\n", "\r\n", "\r"] {
            let text = ["one", "", "two", "three", "cut"].join(end);
            for capacity in 1..=text.len() + 1 {
                let (lines, counts) = lines_in(text.as_bytes(), capacity);
                assert_eq!(lines, [&b"one"[..], b"two", b"three"], "{end:?} by {capacity}");
                assert_eq!(counts, Counts { lines: 3, too_long: 0, unended: true });
            }
        }
        assert_eq!(lines_in(b"", 9), (vec![], Counts::default()));
        assert!(!lines_in(b"one\n", 9).1.unended);
    }

    #[test]
    fn a_long_line_is_passed_over_and_the_next_is_read() {
        for capacity in [1000, MAX_LINE, 10 * MAX_LINE] {
            for (length, is_read) in [(MAX_LINE, true), (MAX_LINE + 1, false), (900_000, false)] {
                let text = format!("a\n{}\nb\n{}", "x".repeat(length), "y".repeat(length));
                let (lines, counts) = lines_in(text.as_bytes(), capacity);
                assert_eq!(lines.len(), if is_read { 3 } else { 2 }, "{length} by {capacity}");
                assert_eq!(lines.last().unwrap(), b"b");
                assert_eq!((counts.lines, counts.unended), (3, true));
                assert_eq!(counts.too_long, u64::from(!is_read));
            }
        }
    }

    #[test]
    fn an_error_is_no_end() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("broken"))
            }
        }
        let mut reader = BufReader::with_capacity(4, b"one\ntw".as_slice().chain(Broken));
        let mut lines = 0;
        assert!(for_each(&mut reader, |_| lines += 1).is_err());
        assert_eq!(lines, 1);
    }
}
