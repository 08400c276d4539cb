//! What this machine says without a request and without a credential: settings and data files, for
//! a run and for looking ahead to one.

use crate::cycle::Limits;
use crate::exit::Hold;
use crate::pair::Pair;
use crate::settings::{ConfigSource, Settings, Warning};
use crate::sources::baked::{self, Data};
use crate::sources::{carried_over, pending};
use crate::text::Sentence;

/// Settings, and the data files that they name.
#[derive(Debug)]
pub struct Local {
    /// The settings.
    pub settings: Settings,
    /// The data files, with the candidates of the pending files in place of their own where any
    /// is named.
    pub data: Data,
    /// Pairs that an earlier system has submitted.
    pub carried_over: Vec<Pair>,
}

impl Local {
    /// Reads the data files that resolved settings name, and tells what is to be mended.
    ///
    /// # Errors
    /// Those of [`baked::load`], [`pending::load`] and [`carried_over::read`].
    pub fn read((settings, warnings): (Settings, Vec<Warning>)) -> Result<Self, Hold> {
        for warning in warnings {
            crate::text::warn(warning);
        }
        for hint in settings.hints.iter().filter(|hint| hint.depth.is_none()) {
            // It blocks every run until somebody mends it: --quiet must not hide that.
            log::error!("[live] warning {}", Sentence(&hint.detail));
        }
        let data = load(&settings)?;
        let carried_over = match &settings.live_state_file {
            Some(path) => carried_over::read(path, &data.catalog)?,
            None => Vec::new(),
        };
        Ok(Self { settings, data, carried_over })
    }

    /// The numbers that bound a cycle.
    #[must_use]
    pub fn limits(&self) -> Limits {
        let settings = &self.settings;
        Limits {
            max_submits: settings.max_submits,
            queue_threshold: settings.queue_threshold,
            hints: settings.hints.clone(),
            max_attempts: settings.max_attempts,
            max_prechecks: settings.precheck.then_some(settings.max_prechecks),
            window: settings.window(),
            cooldown: settings.cooldown_hours * 3_600,
            page_size: u64::from(settings.page_size),
            refresh: settings.refresh,
        }
    }

    /// Whether the platform is asked for `configParams`, and why not.
    ///
    /// # Errors
    /// A reason of the `config_reason` field.
    pub fn build_config(&self) -> Result<(), &'static str> {
        match (self.settings.config_source, &self.settings.build_config_path) {
            (ConfigSource::Sample, _) => Err("sample_chosen"),
            (ConfigSource::BuildConfig, None) => Err("not_configured"),
            (ConfigSource::BuildConfig, Some(_)) => Ok(()),
        }
    }
}

fn load(settings: &Settings) -> Result<Data, Hold> {
    let (md, txt) = (settings.pending_md.as_deref(), settings.pending_txt.as_deref());
    let is_pending = md.is_some() || txt.is_some();
    let mut data = baked::load(settings.data_dir.as_deref(), !is_pending)?;
    if is_pending {
        let pending = pending::load(md, txt, settings.pending_section, &data.catalog)?;
        for what in pending.refused {
            crate::text::warn(what);
        }
        data.candidates = pending.candidates;
    }
    Ok(data)
}
