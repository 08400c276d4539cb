//! What the columns of a table are, by their heads.

/// Which column holds what.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) model: usize,
    pub(super) name: Option<usize>,
    pub(super) cards: Option<usize>,
    pub(super) foothold: Vec<usize>,
    pub(super) note: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Model,
    Cards,
    Foothold,
    Note,
}

/// What a head stands for, and how certainly: of several columns for one thing the lowest number
/// is it. All words are in the form that [`fold`] gives them.
const HEADS: [(Column, u8, &[&str]); 7] = [
    (Column::Model, 0, &["modeladdress", "modelurl", "模型地址", "模型链接"]),
    (Column::Model, 1, &["model", "models", "modelid", "模型", "模型id", "模型标识"]),
    (Column::Model, NAME, &["modelname", "模型名", "模型名称"]),
    (
        Column::Cards,
        0,
        &[
            "trynextgpus",
            "trynextgpu",
            "nextgpus",
            "nextgpu",
            "nextcards",
            "nextcard",
            "下一张卡",
            "下一步卡",
            "下一卡",
            "下张卡",
            "待提交卡",
            "待提卡",
            "待试卡",
        ],
    ),
    (
        Column::Cards,
        1,
        &[
            "gpus",
            "gpu",
            "targetgpus",
            "targetgpu",
            "cards",
            "card",
            "targetcards",
            "targetcard",
            "gputype",
            "卡",
            "目标卡",
            "目标gpu",
            "候选卡",
            "可提交卡",
            "可提卡",
            "建议卡",
            "优先卡",
            "显卡",
            "加速卡",
            "芯片",
            "gpu卡",
            "卡型",
            "卡型号",
            "gpu型号",
        ],
    ),
    (
        Column::Foothold,
        0,
        &[
            "foothold",
            "footholds",
            "footholdtext",
            "footholdclass",
            "evidence",
            "status",
            "立足点",
            "立足点情况",
            "立足",
            "依据",
            "证据",
            "情况",
            "现状",
            "状态",
            "验证情况",
            "验证状态",
            "平台情况",
            "平台状态",
            "已有验证",
        ],
    ),
    (
        Column::Note,
        0,
        &[
            "notes", "note", "remarks", "remark", "comments", "comment", "备注", "说明", "注",
            "注释",
        ],
    ),
];

/// The rank of a head for the name of a model, which is its address only for want of another.
const NAME: u8 = 2;

/// Reads the heads of a table; `None` where no column is for models, and so no row is a
/// candidate.
///
/// # Errors
/// Two columns could be the one for the models, or for the cards; or none is known as that of
/// the cards, and one looks like it: without a list a model is for all target cards.
pub(super) fn columns(heads: &[&str]) -> Result<Option<Columns>, String> {
    let found: Vec<Option<(Column, u8)>> = heads.iter().map(|head| meaning(head)).collect();
    let best = |wanted: Column| -> Result<Option<(usize, u8)>, String> {
        let of_rank = |rank: u8| {
            let at = found.iter().enumerate().filter(move |(_, f)| **f == Some((wanted, rank)));
            at.map(move |(at, _)| (at, rank))
        };
        let Some(rank) = (0..=NAME).find(|rank| of_rank(*rank).next().is_some()) else {
            return Ok(None);
        };
        let all: Vec<(usize, u8)> = of_rank(rank).collect();
        match all.as_slice() {
            [(first, _), (second, _), ..] => Err(format!(
                "the columns {:?} and {:?} could both be it: rename one; the table is not used",
                heads[*first], heads[*second]
            )),
            all => Ok(all.first().copied()),
        }
    };
    let Some((model, rank)) = best(Column::Model)? else {
        return Ok(None);
    };
    let cards = best(Column::Cards)?.map(|(at, _)| at);
    if cards.is_none() {
        let like_cards = |at: &usize| {
            let head = fold(heads[*at]);
            found[*at].is_none() && (head.contains('卡') || head.contains("gpu"))
        };
        if let Some(at) = (0..heads.len()).find(like_cards) {
            return Err(format!(
                "the column {:?} is not known, and no other holds the cards: name the one that \
                 does `GPU(s)`; the table is not used",
                heads[at]
            ));
        }
    }
    let all = |wanted: Column| {
        let at = found.iter().enumerate();
        at.filter(|(_, f)| f.is_some_and(|(c, _)| c == wanted)).map(|(at, _)| at).collect()
    };
    Ok(Some(Columns {
        model,
        name: if rank == NAME {
            None
        } else {
            found.iter().position(|f| *f == Some((Column::Model, NAME)))
        },
        cards,
        foothold: all(Column::Foothold),
        note: all(Column::Note),
    }))
}

/// What a head stands for: as a whole, or by what stands before its first bracket or slash.
fn meaning(head: &str) -> Option<(Column, u8)> {
    let first =
        head.split(['(', '（', '[', '【', '/', '／', '|']).find(|part| !fold(part).is_empty());
    [Some(head), first].into_iter().flatten().find_map(|text| {
        let text = fold(text);
        let known = HEADS.iter().find(|(_, _, words)| words.contains(&text.as_str()));
        known.map(|(column, rank, _)| (*column, *rank))
    })
}

/// Letters and digits alone, in lower case: `GPU(s)` is `gpus`, `model_address` `modeladdress`.
fn fold(head: &str) -> String {
    head.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(line: &str) -> (usize, Option<usize>, Vec<usize>, Vec<usize>) {
        let heads: Vec<&str> = line.split('|').collect();
        let found = columns(&heads).unwrap().unwrap();
        (found.model, found.cards, found.foothold, found.note)
    }

    #[test]
    fn every_word_of_the_lists_is_in_folded_form_and_stands_once() {
        let mut words: Vec<&str> = HEADS.iter().flat_map(|(_, _, w)| w.iter().copied()).collect();
        assert!(words.iter().all(|word| fold(word) == **word));
        words.sort_unstable();
        let all = words.len();
        words.dedup();
        assert_eq!(words.len(), all);
    }

    #[test]
    fn heads_are_chinese_or_english_in_any_order_and_case() {
        for (line, expected) in [
            ("model|GPU(s)|foothold|note", (0, Some(1), vec![2], vec![3])),
            ("Note|FOOTHOLD|Gpus|Model", (3, Some(2), vec![1], vec![0])),
            ("备注|模型|目标卡|立足点", (1, Some(2), vec![3], vec![0])),
            ("#|模型地址|下一张卡|依据|说明", (1, Some(2), vec![3], vec![4])),
            ("model_address|try_next_gpus|情况", (0, Some(1), vec![2], vec![])),
            ("modelAddress|卡", (0, Some(1), vec![], vec![])),
            ("模型 (model)|卡(优先级)|立足点/依据", (0, Some(1), vec![2], vec![])),
            ("model|other", (0, None, vec![], vec![])),
            ("model|note|备注", (0, None, vec![], vec![1, 2])),
            ("模型名称|GPU", (0, Some(1), vec![], vec![])),
        ] {
            assert_eq!(places(line), expected, "{line}");
        }
    }

    #[test]
    fn the_more_certain_of_two_columns_is_it() {
        assert_eq!(places("模型|模型地址|GPU|下一张卡"), (1, Some(3), vec![], vec![]));
        let found = columns(&["模型名称", "model"]).unwrap().unwrap();
        assert_eq!((found.model, found.name), (1, Some(0)));
    }

    #[test]
    fn what_could_be_two_things_is_refused() {
        for heads in [["model", "模型", "gpu"], ["model", "卡", "GPU(s)"]] {
            let why = columns(&heads).unwrap_err();
            assert!(why.contains("could both be it"), "{why}");
        }
        let why = columns(&["model", "已验证卡"]).unwrap_err();
        assert!(why.contains("已验证卡"), "{why}");
    }

    #[test]
    fn a_table_without_models_holds_no_candidates() {
        for heads in [&["date", "GPU", "GPU"][..], &["框架", "说明"], &[""], &[]] {
            assert_eq!(columns(heads), Ok(None));
        }
    }
}
