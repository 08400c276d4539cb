//! The platform as the program sees it, with everything that can go wrong on the way.

use std::cell::RefMut;
use std::sync::atomic::Ordering;
use std::time::Duration;

use submitter::api::{
    Accepted, AddError, Bucket, NewTask, Precheck, ReadApi, ReadError, SlicePage, TaskPage,
    TaskRow, WriteApi, answer,
};
use submitter::gpu::Gpu;
use submitter::pair::{ModelId, ModelKey, Pair};

use super::world::{Committed, Shared, World};

/// Both halves; the program gets each as the trait that it may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SimPlatform<'a>(pub(crate) &'a Shared);

impl SimPlatform<'_> {
    /// A request begins, unless the program is dead or should not have asked.
    fn request(&self, point: &'static str) -> Result<RefMut<'_, World>, &'static str> {
        self.0.pass_time();
        let mut world = self.0.world.borrow_mut();
        if !world.effect(point) {
            return Err("dead");
        }
        if world.run.credential_refused {
            world.violate(format!("a request after the credential was refused: {point}"));
        }
        Ok(world)
    }
}

/// The stop and the deadline, as the HTTP client asks them before each request.
fn may_start(shared: &Shared) -> Result<(), submitter::clock::Stop> {
    let deadline = Duration::from_secs(600);
    submitter::clock::Watch { clock: &shared.clock, deadline, stop: &shared.stop }.may_start()
}

impl ReadApi for SimPlatform<'_> {
    fn own_tasks(&self, current: u64, size: u64) -> Result<TaskPage, ReadError> {
        may_start(self.0).map_err(ReadError::Stopped)?;
        let request = self.request("crash before list");
        let mut world = request.map_err(|what| ReadError::Transport(what.into()))?;
        world.people();
        world.people();
        world.run.listed_at = self.0.clock.run_ms.load(Ordering::Relaxed);
        world.reads += 1;
        let reads = world.reads;
        let due: Vec<Pair> =
            world.late.extract_if(.., |(at, _)| *at <= reads).map(|(_, pair)| pair).collect();
        for pair in due {
            world.commit(&pair, true);
        }
        if !world.run.refreshing {
            world.run.refreshing = true;
            world.run.refresh_from = reads;
            world.run.open_at_refresh = u64::MAX;
        }
        let open = world.listed().filter(|task| task.open).count() as u64;
        world.run.open_at_refresh = world.run.open_at_refresh.min(open);
        let mut page = honest_page(&mut world, current, size);
        if current == 1 {
            let stale = world.stale.take().filter(|(of, _)| *of == size);
            world.last_first_page = Some((size, page.clone()));
            world.blind = stale.as_ref().is_some_and(|(_, stale)| stale.total <= size);
            if let Some((_, stale)) = stale {
                world.coverage.hit("fault list page from a cache");
                return Ok(stale);
            }
        }
        // What goes and comes during a full read, below what is asked for again, shows no more.
        if current == 2 || page.total <= size {
            world.hollow = false;
        }
        if current > 1 {
            between_pages(&mut world);
        }
        let bad = world.weather.list;
        if world.dice.chance(bad) {
            spoil(&mut world, &mut page)?;
        }
        Ok(page)
    }

    fn everyones_tasks(
        &self,
        _: Bucket,
        _: u64,
        _: u64,
        _: Duration,
    ) -> Result<SlicePage, ReadError> {
        Ok(SlicePage { total: 0, rows: vec![] })
    }

    fn precheck(&self, model: &ModelId) -> Result<Precheck, ReadError> {
        may_start(self.0).map_err(ReadError::Stopped)?;
        let request = self.request("crash before precheck");
        let mut world = request.map_err(|what| ReadError::Transport(what.into()))?;
        world.run.refreshing = false;
        world.run.eyed = Some(model.key());
        world.people();
        let bad = world.weather.precheck;
        if world.dice.chance(bad) {
            world.coverage.hit("fault precheck fails");
            return Err(ReadError::Http(502));
        }
        let key = model.key();
        let known = |task: &&Committed| task.pair.model == key && !task.odd_card;
        Ok(world.listed().filter(known).map(|task| (task.pair.gpu.clone(), 60_028)).collect())
    }

    /// Both are on their way before either is answered: what the POST is told does not stop the
    /// precheck.
    fn precheck_during<T>(
        &self,
        model: &ModelId,
        act: impl FnOnce(&mut dyn FnMut()) -> T,
    ) -> (Option<Result<Precheck, ReadError>>, T) {
        let mut may_ask = false;
        let done = act(&mut || may_ask = true);
        if !may_ask {
            return (None, done);
        }
        let refused = std::mem::take(&mut self.0.world.borrow_mut().run.credential_refused);
        let answer = self.precheck(model);
        self.0.world.borrow_mut().run.credential_refused |= refused;
        (Some(answer), done)
    }

    fn build_config(&self, _: &NewTask) -> Result<String, ReadError> {
        Err(ReadError::Http(404))
    }

    fn requests(&self) -> u64 {
        0
    }
}

/// The page as MyBatis-Plus answers it: counted by the size asked for, clamped afterwards.
fn honest_page(world: &mut World, current: u64, size: u64) -> TaskPage {
    let mut rows: Vec<TaskRow> = world.listed().map(row_of).collect();
    let total = rows.len() as u64;
    if world.weather.unstable && rows.len() > 2 {
        world.coverage.hit("fault list order unstable");
        let at = usize::try_from(world.dice.roll(total - 1)).unwrap();
        rows.swap(at, at + 1);
    }
    let from = ((current - 1) * size).min(total);
    let mut shown = size;
    let mut echoed = size;
    if let Some(clamp) = world.weather.clamp.filter(|clamp| *clamp < size) {
        world.coverage.hit("fault list size clamped");
        (shown, echoed) = if current == 1 { (clamp, clamp) } else { (0, size) };
    }
    let range = |at: u64| usize::try_from(at.min(total)).unwrap();
    let rows = rows[range(from)..range(from + shown)].to_vec();
    TaskPage { current, size: echoed, total, rows, unreadable: 0 }
}

fn row_of(task: &Committed) -> TaskRow {
    let spelled = match task.id.0 % 3 {
        0 => task.pair.model.as_str().to_owned(),
        1 => task.pair.model.as_str().to_uppercase(),
        _ => format!("https://huggingface.co/{}", task.pair.model),
    };
    let card = match task.pair.gpu.as_str() {
        _ if task.odd_card => "某卡 1",
        "Biren_166m" if task.id.0.is_multiple_of(2) => "壁砺",
        gpu => gpu,
    };
    TaskRow {
        id: task.id,
        model: spelled,
        card: card.to_owned(),
        status: if task.open { "running" } else { "success" }.into(),
        verify_result: Some(1),
        points: 1.0,
    }
}

/// Rows that come and go while somebody reads.
fn between_pages(world: &mut World) {
    let people = world.weather.people;
    if world.dice.chance(people) {
        let pair = world.somebodys_pair();
        if !world.tasks.iter().any(|task| task.pair == pair) {
            world.coverage.hit("fault list inserted between pages");
            world.commit(&pair, false);
        }
    }
    if world.dice.chance(people) {
        world.remove_foreign();
    }
}

fn spoil(world: &mut World, page: &mut TaskPage) -> Result<(), ReadError> {
    match world.dice.roll(5) {
        0 => {
            world.coverage.hit("fault list request fails");
            return Err(ReadError::Transport("lost".into()));
        }
        1 if !page.rows.is_empty() => {
            world.coverage.hit("fault list row unreadable");
            page.rows.pop();
            page.unreadable = 1;
        }
        2 if page.total > 0 => {
            world.coverage.hit("fault list total wrong");
            // Too large, or too small: but not such that the page looks like the whole list, which
            // would be a platform that hides rows.
            let whole = page.rows.len() as u64 == page.total - 1;
            if whole || world.dice.chance(500) { page.total += 1 } else { page.total -= 1 }
        }
        3 if page.current > 1 => {
            world.coverage.hit("fault list page repeated");
            page.current = 1;
        }
        _ if world.dice.chance(100) => {
            world.coverage.hit("fault list credential refused");
            world.run.credential_refused = true;
            return Err(ReadError::Credential("code 40100".into()));
        }
        _ => {}
    }
    Ok(())
}

impl WriteApi for SimPlatform<'_> {
    fn add_task(
        &self,
        task: &NewTask,
        _: Duration,
        sent: &mut dyn FnMut(),
    ) -> Result<Accepted, AddError> {
        let not_sent = |detail: &str, stop| AddError::NotSent { detail: detail.into(), stop };
        may_start(self.0).map_err(|stop| not_sent("stopped", Some(stop)))?;
        let paused = self.0.world.borrow().pause.is_some();
        let now = self.0.clock.run_ms.load(Ordering::Relaxed);
        let mut world = self.request("crash before post").map_err(|what| not_sent(what, None))?;
        let age = now.saturating_sub(world.run.listed_at);
        if !world.run.refreshing || age > 5_000 {
            world.violate(format!("sent on a list of {age} ms ago, or after another request"));
        }
        world.run.refreshing = false;
        let model = ModelKey::parse(&task.model_address).unwrap();
        let pair = Pair::new(model, Gpu::verbatim(&task.target_gpu));
        if paused {
            world.violate(format!("{pair} was sent during a pause"));
        }
        watch_post(&mut world, &pair);
        let bad = world.weather.post;
        let answer = if world.dice.chance(bad) {
            faulty_answer(&mut world, &pair)
        } else if let Some(code) = world.rejections.get(&pair).copied() {
            world.coverage.hit("fault post rejected");
            answer::judge(200, format!(r#"{{"code":{code}}}"#).as_bytes())
        } else {
            let late = world.weather.late;
            if world.dice.chance(late) {
                let page = world.last_first_page.clone();
                world.stale = page;
            }
            let id = world.commit(&pair, true);
            answer::judge(200, format!(r#"{{"code":0,"data":{{"id":"{id}"}}}}"#).as_bytes())
        };
        if matches!(answer, Ok(_) | Err(AddError::InDoubt { .. })) {
            world.run.counted += 1;
            let now = world.true_seconds;
            world.submissions.push((now, pair));
        }
        if answer.is_ok() {
            world.effect("crash after commit");
        }
        if !matches!(answer, Err(AddError::NotSent { .. })) {
            sent();
        }
        answer
    }
}

/// What must be true whenever a POST arrives.
fn watch_post(world: &mut World, pair: &Pair) {
    // The last thing that a power cut would leave of the pair must be an intent.
    let named = format!(r#"["{}","{}"]"#, pair.model, pair.gpu);
    let durable = String::from_utf8_lossy(&world.disk.cached[..world.disk.durable]);
    let before = durable.rfind(&named).map_or("", |at| &durable[..at]);
    if !before.ends_with(r#"{"intent":{"pair":"#) {
        world.violate(format!("{pair} was sent without a durable intent"));
    }
    let known = |task: &&Committed| {
        !task.ours
            && task.visible_from < world.run.refresh_from
            && (task.pair == *pair || (task.odd_card && task.pair.model == pair.model))
    };
    // What no first page can show is the one thing that a refresh does not promise.
    let hidden_below =
        |task: &Committed| world.hollow && world.is_ordered() && world.is_below(task.id);
    // A whole list from a cache is a platform that hides rows: only a refresh can tell.
    let in_order = world.is_ordered() && !world.weather.unstable;
    let hidden = world.blind && (world.always_full || !in_order);
    if !hidden && world.tasks.iter().any(|task| known(&task) && !hidden_below(task)) {
        world.violate(format!("{pair} was sent although the list showed it taken"));
    }
    let unlisted = |task: &&Committed| task.ours && task.open && task.visible_from > world.reads;
    let open = world.run.open_at_refresh + world.tasks.iter().filter(unlisted).count() as u64;
    if !hidden && !world.hollow && open >= world.threshold {
        world.violate(format!("{pair} was sent with {open} open tasks"));
    }
}

fn faulty_answer(world: &mut World, pair: &Pair) -> Result<Accepted, AddError> {
    let in_doubt = |http| Err(AddError::InDoubt { http, detail: "lost".into() });
    let judge = |http, body: &str| answer::judge(http, body.as_bytes());
    let hit = |world: &mut World, name, commits: bool| {
        world.coverage.hit(name);
        if commits {
            world.commit(pair, true);
        }
    };
    match world.dice.roll(14) {
        0 => {
            hit(world, "fault post not sent", false);
            Err(AddError::NotSent { detail: "refused".into(), stop: None })
        }
        1 => {
            hit(world, "fault post lost before commit", false);
            in_doubt(None)
        }
        2 => {
            hit(world, "fault post lost after commit", true);
            in_doubt(None)
        }
        3 => {
            hit(world, "fault post commits late", false);
            let at = world.reads + world.dice.roll(30);
            world.late.push((at, pair.clone()));
            in_doubt(None)
        }
        4 => {
            hit(world, "fault post 5xx before commit", false);
            judge(*world.dice.pick(&[500, 502, 503, 504]), r#"{"code":60022}"#)
        }
        5 => {
            hit(world, "fault post 5xx after commit", true);
            judge(*world.dice.pick(&[500, 502, 503, 504]), "<html>")
        }
        6 => {
            hit(world, "fault post html after commit", true);
            judge(200, "<html>")
        }
        7 => {
            hit(world, "fault post code of unknown outcome after commit", true);
            let code = *world.dice.pick(&[504, 500, 50_000, 50_001, 1]);
            judge(200, &format!(r#"{{"code":{code}}}"#))
        }
        8 => {
            hit(world, "fault post 408 or 3xx after commit", true);
            judge(*world.dice.pick(&[408, 301, 302, 307]), "")
        }
        9 => {
            hit(world, "fault post credential refused", false);
            world.run.credential_refused = true;
            judge(200, r#"{"code":40100}"#)
        }
        10 => {
            hit(world, "fault post 4xx without a code", false);
            judge(*world.dice.pick(&[400, 404, 429]), "<html>")
        }
        11 => {
            hit(world, "fault post asks scripts to stop", false);
            judge(200, r#"{"code":60014}"#)
        }
        _ => {
            hit(world, "fault post rejected", false);
            let code = *world.dice.pick(&[60_007, 60_008, 60_999, 41_000]);
            judge(200, &format!(r#"{{"code":{code}}}"#))
        }
    }
}
