//! Access to the platform for commands that only read it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use crate::api::http::{Endpoint, HttpReader};
use crate::cli::Platform;
use crate::clock::{Clock, Watch};
use crate::env::Env;
use crate::exit::Hold;
use crate::flags::Flags;
use crate::gpu::Catalog;
use crate::secret::{self, Token};
use crate::settings::Reading;

/// Where the platform is, and the credential.
#[derive(Debug)]
pub struct Access {
    reading: Reading,
    token: Token,
}

impl Access {
    /// Resolves both, and tells what it found.
    ///
    /// # Errors
    /// `invalid_api_base`, and those of [`secret::choose`].
    pub fn prepare(given: &Platform, env: &Env) -> Result<Self, Hold> {
        let flags = Flags { api_base: given.api_base.clone(), ..Flags::default() };
        let (reading, warnings) = Reading::resolve(&flags, env)?;
        for warning in warnings {
            crate::text::warn(warning);
        }
        let token = credential(env, given.token_file.as_deref().map(Path::new))?;
        Ok(Self { reading, token })
    }

    /// A reader that starts requests until the deadline or a signal.
    #[must_use]
    pub fn reader<'a>(
        &'a self,
        clock: &'a dyn Clock,
        stop: &'a AtomicBool,
        catalog: &'a Catalog,
    ) -> HttpReader<'a> {
        let endpoint = Endpoint {
            base: &self.reading.api_base,
            build_config_path: None,
            timeout: self.reading.request_timeout,
            token: &self.token,
            watch: Watch { clock, deadline: self.reading.deadline, stop },
            requests: Arc::new(AtomicU64::new(0)),
        };
        HttpReader::new(endpoint, self.reading.read_connections, catalog)
    }

    /// Rows a page.
    #[must_use]
    pub fn page_size(&self) -> u64 {
        u64::from(self.reading.page_size)
    }
}

/// Chooses the credential and tells its source, or what each source held.
///
/// # Errors
/// As [`secret::choose`].
pub fn credential(env: &Env, token_file: Option<&Path>) -> Result<Token, Hold> {
    let chosen = secret::choose(env, token_file).map_err(|refused| {
        log::info!("[live] token_probe {}", refused.token_probe());
        Hold::because(refused.reason, refused.detail)
    })?;
    log::info!("[live] token source={}", chosen.source);
    Ok(chosen.token)
}
