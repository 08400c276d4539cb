//! The tasks of all users.

use std::cmp::Reverse;

/// One task. `model` and `gpu` are kept as they are to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    pub id: u64,
    /// Whether it belongs to the account under test.
    pub mine: bool,
    pub model: String,
    /// GPU enum or Chinese name.
    pub gpu: String,
    pub status: String,
    /// Absent from the row when `None`.
    pub verify_result: Option<i64>,
    pub points: Option<i64>,
    pub update_time: String,
    /// How many more reads of the own list do not show it yet.
    pub hidden_reads: usize,
}

impl Task {
    /// An own task that waits for its turn.
    pub fn new(id: u64, model: &str, gpu: &str) -> Self {
        Self {
            id,
            mine: true,
            model: model.into(),
            gpu: gpu.into(),
            status: "waiting".into(),
            verify_result: Some(1),
            points: None,
            update_time: "2026-11-02 08:00:00".into(),
            hidden_reads: 0,
        }
    }

    pub fn with(mut self, status: &str, verify_result: Option<i64>) -> Self {
        self.status = status.into();
        self.verify_result = verify_result;
        self
    }

    pub fn with_points(mut self, points: i64) -> Self {
        self.points = Some(points);
        self
    }

    /// The same task, of another user.
    pub fn of_another(mut self) -> Self {
        self.mine = false;
        self
    }

    pub fn is_finished(&self) -> bool {
        matches!(&*self.status, "success" | "failed" | "stopped" | "canceled" | "cancelled")
    }
}

/// All tasks, kept in descending order of ids.
#[derive(Clone, Debug)]
pub struct Tasks {
    rows: Vec<Task>,
    /// The id of the next accepted task.
    pub next_id: u64,
}

impl Default for Tasks {
    fn default() -> Self {
        Self { rows: Vec::new(), next_id: 33_512 }
    }
}

impl Tasks {
    pub fn insert(&mut self, task: Task) {
        let at = self.place(task.id).expect_err("no other task of this id");
        self.next_id = self.next_id.max(task.id + 1);
        self.rows.insert(at, task);
    }

    /// Adds many tasks at once; their ids must be new.
    pub fn extend(&mut self, tasks: Vec<Task>) {
        self.rows.extend(tasks);
        self.rows.sort_by_key(|row| Reverse(row.id));
        let highest = self.rows.first().map_or(0, |row| row.id);
        self.next_id = self.next_id.max(highest + 1);
    }

    pub fn contains(&self, id: u64) -> bool {
        self.place(id).is_ok()
    }

    /// Where the task is, or where it would have to be.
    fn place(&self, id: u64) -> Result<usize, usize> {
        self.rows.binary_search_by_key(&Reverse(id), |row| Reverse(row.id))
    }

    /// Inserts a new own task under the next id, which it returns.
    pub fn commit(&mut self, model: &str, gpu: &str, hidden_reads: usize) -> u64 {
        let id = self.next_id;
        self.insert(Task { hidden_reads, ..Task::new(id, model, gpu) });
        self.next_id = self.rows[0].id + 1;
        id
    }

    pub fn remove(&mut self, id: u64) -> Option<Task> {
        self.place(id).ok().map(|at| self.rows.remove(at))
    }

    pub fn set_status(&mut self, id: u64, status: &str, verify_result: Option<i64>) {
        let task = self.rows.iter_mut().find(|row| row.id == id).expect("a task of this id");
        task.status = status.into();
        task.verify_result = verify_result;
    }

    pub fn finish_all(&mut self) {
        for task in self.rows.iter_mut().filter(|task| task.mine && !task.is_finished()) {
            task.status = "success".into();
            task.verify_result = Some(1);
            task.points = Some(10);
        }
    }

    /// Own tasks that have not ended.
    pub fn unfinished(&self) -> usize {
        self.rows.iter().filter(|task| task.mine && !task.is_finished()).count()
    }

    /// Brings hidden tasks one read nearer to being listed.
    pub fn count_read(&mut self) {
        for task in &mut self.rows {
            task.hidden_reads = task.hidden_reads.saturating_sub(1);
        }
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Task> {
        self.rows.iter()
    }

    /// How many tasks there are, of all users.
    pub fn len(&self) -> usize {
        self.rows.len()
    }
}
