//! One candidate: screened, prechecked, built, and submitted on one card at the most.

use std::time::Duration;

use super::{Cycle, Known, Limits};
use crate::api::ReadApi;
use crate::codes::{self, Class};
use crate::exit::{Hold, Reason};
use crate::gpu::Gpu;
use crate::journal::event::Event;
use crate::pair::{ModelId, Pair};
use crate::plan::{Judge, Skip};
use crate::report::{Action, ConfigNote, Decision};
use crate::sources::Candidate;
use crate::sources::merge::Ranked;
use crate::submit::{Attempt, Desk, Outcome, Sent};
use crate::text::{Field, progress};

/// How old the knowledge behind a POST may be.
pub(super) const FRESH: Duration = Duration::from_secs(5);

/// How often the knowledge may have aged before the POST, for one row.
const MAX_STALE: usize = 3;

impl<R: ReadApi, D: Desk> Cycle<'_, R, D> {
    /// Does what can be done with one row of the list; `rest` is what follows it.
    pub(super) fn candidate(
        &mut self,
        known: &mut Known,
        candidate: &Candidate,
        rest: &[Ranked],
    ) -> Result<(), Hold> {
        let judge = self.judge(known);
        let model = match judge.screen(candidate) {
            Ok(model) => model,
            Err(skip) => {
                let shown = ModelId::parse(&candidate.address)
                    .map_or_else(|_| candidate.address.clone(), |id| id.as_str().to_owned());
                self.skip(&shown, None, &skip);
                return Ok(());
            }
        };
        let cards = judge.cards(candidate);
        if self.pick(known, &model, &cards).is_none() {
            self.skip(model.as_str(), None, &Skip::AllDone);
            return Ok(());
        }
        self.submit_cap(known)?;
        self.gate(known)?;
        self.precheck(known, &model)?;
        let mut stale = 0;
        loop {
            let Some(pair) = self.pick(known, &model, &cards) else {
                self.skip(model.as_str(), None, &Skip::AllDone);
                return Ok(());
            };
            let Some((task, config)) = self.build(known, candidate, &pair.gpu)? else {
                self.skip(model.as_str(), Some(&pair.gpu), &Skip::NoConfigParams);
                return Ok(());
            };
            self.refresh(known)?;
            self.gate(known)?;
            if self.judge(known).is_taken(&pair) {
                continue;
            }
            let queue_before = self.queue(known);
            let fresh_until = known.read_at + FRESH;
            progress(format_args!("submission: {} on {}", model.as_str(), pair.gpu));
            let attempt = Attempt { pair: &pair, task: &task, fresh_until };
            let (sent, ahead) = self.send(known, &attempt, rest)?;
            if sent.outcome != Outcome::Stale {
                self.follow(known, &model, &pair, config, queue_before, sent)?;
                return ahead;
            }
            sent.unrecorded.map_or(Ok(()), Err)?;
            ahead?;
            stale += 1;
            if stale == MAX_STALE {
                let detail = "the state folder takes more than 5 s to write: look at its disk";
                return Err(Hold::because(Reason::StateWriteFailed, detail));
            }
        }
    }

    /// What is known of candidates and pairs by now.
    pub(super) fn judge<'a>(&'a self, known: &'a Known) -> Judge<'a> {
        let (ledger, history) = (&known.ledger, self.desk.history());
        Judge { data: self.data, ledger, history, horizon: self.horizon() }
    }

    /// The first card of a model that is free, telling each marked one once.
    fn pick(&mut self, known: &mut Known, model: &ModelId, cards: &[Gpu]) -> Option<Pair> {
        let pick = self.judge(known).pick(model, cards);
        for (pair, code) in pick.marked {
            if known.told_marks.insert(pair.clone()) {
                self.skip(model.as_str(), Some(&pair.gpu), &Skip::Marked(code));
            }
        }
        pick.pair
    }

    fn skip(&mut self, model: &str, gpu: Option<&Gpu>, skip: &Skip) {
        self.report.decide(skip.decision(model, gpu));
    }

    /// The submit cap, when another candidate could still be tried.
    fn submit_cap(&self, known: &Known) -> Result<(), Hold> {
        let Limits { max_submits, window, .. } = *self.limits;
        if known.earlier_submits + known.submits < max_submits {
            return Ok(());
        }
        if known.earlier_submits == 0 {
            return Err(Hold::because(Reason::CycleCap, format!("cap {max_submits}")));
        }
        let detail = format!(
            "{} submitted before this cycle in the last {window} s, cap {max_submits}",
            known.earlier_submits
        );
        Err(Hold::because(Reason::HourlyCap, detail))
    }

    /// Asks what the platform would refuse, and remembers it. An answer that fails leaves the
    /// verdict to the submission itself.
    fn precheck(&mut self, known: &mut Known, model: &ModelId) -> Result<(), Hold> {
        let Some(cap) = self.limits.max_prechecks else { return Ok(()) };
        if known.prechecked.contains(&model.key()) {
            return Ok(());
        }
        if known.prechecked.len() >= cap {
            return Err(Hold::because(Reason::PrecheckCap, format!("cap {cap}")));
        }
        known.prechecked.insert(model.key());
        self.report.count_precheck();
        let number = known.prechecked.len();
        progress(format_args!("precheck: {} ({number} of {cap} at most)", model.as_str()));
        let ahead = self.asked_ahead(known, &model.key());
        let asked = ahead.map_or_else(|| self.api.precheck(model), Ok);
        let blocked = match asked {
            Ok(blocked) => blocked,
            Err(error) => {
                if let Some(hold) = error.ends_cycle(&format!("GET precheck of {model}")) {
                    return Err(hold);
                }
                log::info!(
                    "[live] precheck model={} reason={}",
                    Field(model.as_str()),
                    error.reason()
                );
                return Ok(());
            }
        };
        for (gpu, code) in &blocked {
            let pair = Pair::new(model.key(), gpu.clone());
            if self.judge(known).mark(&pair).is_none() {
                known.told_marks.insert(pair);
                self.skip(model.as_str(), Some(gpu), &Skip::MarkedByPrecheck(*code));
            }
        }
        if blocked.is_empty() {
            return Ok(());
        }
        self.desk.note(Event::Precheck { model: model.key(), blocked })
    }

    /// Tells an outcome, counts it, and ends the cycle where it must end.
    fn follow(
        &mut self,
        known: &mut Known,
        model: &ModelId,
        pair: &Pair,
        config: ConfigNote,
        queue_before: u64,
        sent: Sent,
    ) -> Result<(), Hold> {
        known.ledger.take(pair);
        known.attempts += 1;
        let about = |action, reason: &str| Decision {
            model: Some(model.as_str().to_owned()),
            gpu: Some(pair.gpu.as_str().to_owned()),
            queue_before: Some(queue_before),
            ..Decision::new(action, reason)
        };
        let mut end = Ok(());
        match sent.outcome {
            Outcome::Planned => {
                known.submits += 1;
                let planned = about(Action::Plan, "would_submit");
                self.report.decide(Decision { config: Some(config), ..planned });
            }
            Outcome::Accepted(accepted) => {
                known.submits += 1;
                known.accepted.push(accepted.task);
                self.report.decide(Decision {
                    http: Some(accepted.http),
                    code: Some(0),
                    task: accepted.task,
                    config: Some(config),
                    ..about(Action::Submitted, "task_add_response")
                });
            }
            Outcome::InDoubt { http, detail } => {
                known.submits += 1;
                let lost = about(Action::InDoubt, "transport_error");
                self.report.decide(Decision { http, detail, config: Some(config), ..lost });
                if self.report.counts().in_doubt >= 2 {
                    let detail = "two answers were lost in this cycle; their pairs stay taken";
                    end = Err(Hold::because(Reason::PlatformUnstable, detail));
                }
            }
            Outcome::Rejected { http, code } => {
                let rejected = about(Action::Rejected, codes::name(code));
                let (http_said, code_said) = (Some(http), Some(code));
                self.report.decide(Decision { http: http_said, code: code_said, ..rejected });
                end = self.after_rejection(http, code);
            }
            Outcome::Released(hold) => end = Err(hold),
            Outcome::Stale => {}
        }
        sent.unrecorded.map_or(Ok(()), Err)?;
        end?;
        if known.attempts >= self.limits.max_attempts {
            return Err(self.attempt_cap(known));
        }
        Ok(())
    }

    /// The hold at the attempt cap. Where nothing was taken at all, something is wrong that no
    /// later run mends: --quiet must not hide that.
    fn attempt_cap(&self, known: &Known) -> Hold {
        let cap = self.limits.max_attempts;
        if known.submits == 0 {
            log::error!(
                "[live] warning none of {cap} tasks was accepted: look at the codes of the rejected \
                 lines, at STRATEGY_ID, config-params and the candidates"
            );
        }
        Hold::because(Reason::AttemptCap, format!("cap {cap}"))
    }

    /// The hold that a rejection asks for.
    fn after_rejection(&mut self, http: u16, code: i64) -> Result<(), Hold> {
        let said = format!("code {code}");
        match codes::class(code) {
            Class::TaskNumLimit => Err(Hold::because(Reason::TaskNumLimit, said)),
            Class::AccountRefused => {
                let next = "ask the platform's people; the account or this API version is refused";
                Err(Hold::because(Reason::AccountRefused, format!("{said}: {next}")))
            }
            Class::ScriptSubmitDisabled => {
                self.desk.set_pause(Reason::ScriptSubmitDisabled)?;
                let next = "the platform asks scripts to stop; `submitter resume` ends the pause";
                Err(Hold::because(Reason::ScriptSubmitDisabled, format!("{said}: {next}")))
            }
            _ if http == 429 => Err(Hold::because(Reason::RateLimited, "HTTP 429")),
            _ => Ok(()),
        }
    }
}
