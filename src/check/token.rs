//! The credential: its source, and who can read its file. Never a part of it, nor the file's
//! path: people put the token itself in its place.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::Item;
use crate::disk;
use crate::env::Env;
use crate::exit::Hold;
use crate::secret::{self, Token};

const FILE: &str = "XC_TOKEN_FILE";

/// The credential, where there is one, and what is to be said of it.
pub(super) fn items(flag: Option<&Path>, env: &Env) -> (Option<Token>, Vec<Item>) {
    let chosen = match secret::choose(env, flag) {
        Ok(chosen) => chosen,
        Err(refused) => {
            let probe = refused.token_probe().replace('=', " ").replace(" XC", ", XC");
            let probe = probe.replace(" MODELHUB", ", MODELHUB");
            let item = Item::hold("token", Hold::from(refused));
            let found = format!("{} ({probe})", item.found);
            return (None, vec![Item { found, ..item }]);
        }
    };
    let path = flag.or(env.get_os(FILE).map(Path::new)).filter(|_| chosen.source == FILE);
    let origin = if flag.is_some() { "--token-file" } else { chosen.source };
    let item = match path.map(std::fs::metadata) {
        Some(Ok(file)) => of_file(origin, file.mode() & 0o7777, file.uid(), disk::user()),
        _ => Item::ok("token", format!("from {origin}")),
    };
    (Some(chosen.token), vec![item])
}

fn of_file(origin: &str, mode: u32, owner: u32, user: u32) -> Item {
    let found = format!("from the file of {origin}, mode {mode:04o}, owner uid {owner}");
    if mode & 0o077 != 0 {
        let found = format!("{found}: others on this machine may use it");
        Item::warn("token", found).todo("chmod 600 the file")
    } else if owner != user && owner != 0 {
        let found = format!("{found}, and not uid {user}, which runs this");
        Item::warn("token", found).todo("let the file belong to the user of the cron job")
    } else {
        Item::ok("token", found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_file_is_for_its_user_alone() {
        for (mode, owner, says) in [
            (0o600, 7, "ok token: from the file of XC_TOKEN_FILE, mode 0600, owner uid 7"),
            (0o400, 0, "ok token"),
            (0o640, 7, "warn token"),
            (0o604, 7, "warn token"),
            (0o600, 8, "warn token: from the file of XC_TOKEN_FILE, mode 0600, owner uid 8, and"),
        ] {
            let line = of_file(FILE, mode, owner, 7).to_string();
            assert!(line.starts_with(&format!("[check] {says}")), "{line}");
        }
    }
}
