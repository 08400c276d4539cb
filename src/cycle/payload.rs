//! The body of a task.

use super::{Cycle, Known};
use crate::api::{NewTask, ReadApi, ReadError};
use crate::exit::Hold;
use crate::gpu::Gpu;
use crate::report::ConfigNote;
use crate::sources::Candidate;
use crate::submit::Desk;

impl<R: ReadApi, D: Desk> Cycle<'_, R, D> {
    /// A candidate's task for a card, and where its `configParams` come from: the platform, if
    /// it can be asked and answers; else the sample. None: there is no sample either.
    pub(super) fn build(
        &self,
        known: &mut Known,
        candidate: &Candidate,
        gpu: &Gpu,
    ) -> Result<Option<(NewTask, ConfigNote)>, Hold> {
        let mut task = NewTask {
            model_address: candidate.address.clone(),
            task_type: candidate.task_type.clone(),
            target_gpu: gpu.as_str().to_owned(),
            framework: candidate.framework.clone(),
            strategy_id: self.sending.strategy_id.clone(),
            config_params: String::new(),
        };
        let reason = match self.sending.build_config {
            Err(reason) => reason,
            Ok(()) if known.no_build_config => ReadError::Http(404).reason(),
            Ok(()) => match self.api.build_config(&task) {
                Ok(yaml) => {
                    task.config_params = yaml;
                    return Ok(Some((task, ConfigNote { source: "build-config", reason: "ok" })));
                }
                Err(error) => {
                    if let Some(hold) = error.ends_cycle("GET build-config") {
                        return Err(hold);
                    }
                    known.no_build_config = error == ReadError::Http(404);
                    error.reason()
                }
            },
        };
        let Some(sample) = self.data.samples.get(&candidate.framework) else { return Ok(None) };
        task.config_params.clone_from(sample);
        Ok(Some((task, ConfigNote { source: "sample", reason })))
    }
}
