//! A platform without sockets whose list of own tasks is made up page by page.

use std::fmt::Write;
use std::time::Duration;

use submitter::api::{
    Bucket, NewTask, Precheck, ReadApi, ReadError, SlicePage, TaskPage, wire::task_page,
};
use submitter::pair::ModelId;

const CARDS: [&str; 14] = [
    "Biren_166m",
    "曦望",
    "Iluvatar_bi-150",
    "智铠100",
    "Iluvatar_bi-100",
    "昇腾910B4",
    "Ascend_910-b3",
    "沐曦C500",
    "Cambricon_mlu-370-x4",
    "昆仑芯P800",
    "Kunlunxin_r-200-8f",
    "海光K100-AI",
    "Vastai_va16",
    "摩尔线程S4000",
];

/// Own tasks in descending ids, all pairs distinct.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows {
    pub(crate) count: u64,
    /// Among how many models they are; at least a fourteenth of the count, for so many cards.
    pub(crate) models: u64,
}

impl Rows {
    /// The body of the answer for a page.
    pub(crate) fn page(self, current: u64, size: u64) -> String {
        let Self { count, models } = self;
        let mut body = r#"{"code":0,"message":"ok","data":{"records":["#.to_owned();
        let first = (current - 1) * size;
        for n in first..(first + size).min(count) {
            let comma = if n == first { "" } else { "," };
            let (status, result) =
                [("success", 1), ("success", -1), ("failed", 1)][(n % 3) as usize];
            write!(
                body,
                r#"{comma}{{"taskId":"{}","modelId":"Organisation-{}/Model-{}B-Chat-{}","gpuType":"{}","status":"{status}","verifyResult":{result},"points":{},"updateTime":"2026-11-02 08:00:00","createUser":"somebody","priority":0,"logUrl":null,"resultMessage":"the container ended after 1380 s, and the log says why"}}"#,
                3 * (count - n),
                n % models % 997,
                n % models % 7,
                n % models,
                CARDS[usize::try_from(n / models).expect("few cards")],
                if n % 3 == 0 { 10 } else { 0 },
            )
            .expect("a text takes any text");
        }
        write!(
            body,
            r#"],"total":"{count}","size":{size},"current":{current},"pages":{}}}}}"#,
            count.div_ceil(size)
        )
        .expect("a text takes any text");
        body
    }
}

impl ReadApi for Rows {
    fn own_tasks(&self, current: u64, size: u64) -> Result<TaskPage, ReadError> {
        task_page(self.page(current, size).as_bytes())
    }

    fn everyones_tasks(
        &self,
        _: Bucket,
        _: u64,
        _: u64,
        _: Duration,
    ) -> Result<SlicePage, ReadError> {
        unreachable!("only own tasks are read")
    }

    fn precheck(&self, _: &ModelId) -> Result<Precheck, ReadError> {
        unreachable!("only own tasks are read")
    }

    fn build_config(&self, _: &NewTask) -> Result<String, ReadError> {
        unreachable!("only own tasks are read")
    }

    fn requests(&self) -> u64 {
        0
    }
}
