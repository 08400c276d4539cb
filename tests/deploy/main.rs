//! What ships beside the program: man pages and completions, the Debian package, units, images.
//! Nothing here needs more than the Rust toolchain and a shell, except what is marked as ignored.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test should stop where it stands"
)]

mod assets;
mod containers;
mod debian;
mod lifecycle;
mod settings;

/// A file of this repository.
fn read(path: &str) -> String {
    std::fs::read_to_string(repository(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn repository(path: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}
