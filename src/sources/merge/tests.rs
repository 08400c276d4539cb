use super::*;
use crate::pair::ModelId;

fn catalog() -> Catalog {
    Catalog::parse(include_str!("../../../data/gpus.json")).unwrap()
}

fn evidence(id: &str, class: Foothold, cards: &[&str]) -> (ModelKey, Evidence) {
    let id = ModelId::parse(id).unwrap();
    let cards = cards.iter().map(|card| Gpu::verbatim(card)).collect();
    (id.key(), Evidence { id, class, cards })
}

fn merged(base: &[Candidate], models: Vec<(ModelKey, Evidence)>) -> Vec<Ranked> {
    merge(base, &Snapshot { models }, &catalog(), None)
}

#[test]
fn text_beats_class_and_a_bare_in_flight_is_unknown() {
    let with = |class, text: Option<&str>| {
        foothold(&Candidate {
            foothold: class,
            foothold_text: text.map(str::to_owned),
            ..Candidate::new("a/b")
        })
    };
    assert_eq!(with(Foothold::InFlight, None), Foothold::Unknown);
    assert_eq!(with(Foothold::InFlight, Some("昇腾: 正在验证")), Foothold::InFlight);
    assert_eq!(with(Foothold::Unknown, Some("验证失败、验证通过")), Foothold::VerifiedReuse);
    assert_eq!(with(Foothold::VerifiedReuse, Some("验证失败")), Foothold::FailedFoothold);
    assert_eq!(with(Foothold::VerifiedReuse, Some("验证排队中")), Foothold::QueuedOnly);
    assert_eq!(with(Foothold::VerifiedReuse, Some("?")), Foothold::VerifiedReuse);
    assert_eq!(with(Foothold::FailedFoothold, None), Foothold::FailedFoothold);
}

#[test]
fn rank_then_section_then_the_list_itself() {
    let row = |address: &str, foothold, section| Candidate {
        section,
        foothold,
        ..Candidate::new(address)
    };
    let list = [
        row("x/1", Foothold::Unknown, Section::B),
        row("x/2", Foothold::Unknown, Section::A),
        row("x/3", Foothold::FailedFoothold, Section::B),
        row("x/4", Foothold::VerifiedReuse, Section::B),
        row("x/5", Foothold::VerifiedReuse, Section::A),
        row("x/6", Foothold::QueuedOnly, Section::B),
    ];
    let ranked = merged(&list, vec![evidence("x/7", Foothold::InFlight, &[])]);
    let order: Vec<&str> = ranked.iter().map(|r| r.candidate.address.as_str()).collect();
    assert_eq!(order, ["x/5", "x/4", "x/3", "x/7", "x/2", "x/1", "x/6"]);
}

#[test]
fn a_model_of_the_slices_alone_is_tried_where_it_was_not_seen() {
    let seen = vec![
        evidence("Org/New", Foothold::VerifiedReuse, &["Biren_166m", "Ascend_910-b4"]),
        evidence(
            "org/everywhere",
            Foothold::VerifiedReuse,
            &["Biren_166m", "Sunrise_pt-200-x1", "Iluvatar_bi-150", "Iluvatar_mrv-100"],
        ),
    ];
    let ranked = merged(&[], seen.clone());
    assert_eq!(ranked.len(), 1);
    let candidate = &ranked[0].candidate;
    assert_eq!((candidate.address.as_str(), candidate.section), ("Org/New", Section::A));
    let cards = candidate.cards.as_deref().unwrap();
    assert_eq!(cards, ["Sunrise_pt-200-x1", "Iluvatar_bi-150", "Iluvatar_mrv-100"]);

    let snapshot = Snapshot { models: seen };
    assert_eq!(merge(&[], &snapshot, &catalog(), Some(Section::B)), []);
    assert_eq!(merge(&[], &snapshot, &catalog(), Some(Section::A)).len(), 1);
}

#[test]
fn a_base_row_keeps_what_is_its_own() {
    let base = Candidate {
        framework: "sglang".into(),
        skip_reason: Some("no_download".into()),
        cards: Some(vec!["智铠100".into(), "壁砺".into()]),
        ..Candidate::new("https://huggingface.co/Org/Model")
    };
    let seen = evidence("org/model", Foothold::FailedFoothold, &["Biren_166m"]);
    let ranked = merged(std::slice::from_ref(&base), vec![seen.clone()]);
    let expected = Candidate { cards: Some(vec!["智铠100".into()]), ..base };
    assert_eq!(ranked, [Ranked { candidate: expected, foothold: Foothold::FailedFoothold }]);

    let empty = Candidate { cards: Some(vec![]), ..Candidate::new("org/model") };
    assert_eq!(merged(&[empty], vec![seen.clone()])[0].candidate.cards, Some(vec![]));
    let none = Candidate::new("org/model");
    let taken = merged(&[none], vec![seen])[0].candidate.cards.clone().unwrap();
    assert_eq!(taken, ["Sunrise_pt-200-x1", "Iluvatar_bi-150", "Iluvatar_mrv-100"]);
}

/// A small generator: the same seed gives the same case.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.roll(from.len())]
    }
}

const CLASSES: [Foothold; 5] = [
    Foothold::VerifiedReuse,
    Foothold::FailedFoothold,
    Foothold::InFlight,
    Foothold::QueuedOnly,
    Foothold::Unknown,
];
const CARDS: [&str; 6] =
    ["Biren_166m", "壁砺", "Sunrise_pt-200-x1", "天垓150", "昇腾910B4", "unheard-of"];

fn random_base(dice: &mut Dice) -> Vec<Candidate> {
    let spellings = ["o/a", "O/A", "https://huggingface.co/o/b", "o/c", "o/d", "not a model"];
    (0..dice.roll(6))
        .map(|_| Candidate {
            section: *dice.pick(&[Section::A, Section::B]),
            foothold: *dice.pick(&CLASSES),
            foothold_text: dice
                .pick(&[None, Some("验证通过"), Some("正在验证"), Some("x")])
                .map(str::to_owned),
            cards: match dice.roll(4) {
                0 => None,
                1 => Some(vec![]),
                n => Some((0..n).map(|_| CARDS[dice.roll(CARDS.len())].to_owned()).collect()),
            },
            framework: ["vllm", "sglang"][dice.roll(2)].to_owned(),
            skip_reason: dice.pick(&[None, Some("禁提")]).map(str::to_owned),
            ..Candidate::new(spellings[dice.roll(spellings.len())])
        })
        .collect()
}

fn random_snapshot(dice: &mut Dice) -> Snapshot {
    let mut models = Vec::new();
    for id in ["O/a", "o/B", "o/new", "o/Newer"] {
        if dice.roll(2) == 0 {
            let cards: Vec<&str> =
                (0..dice.roll(4)).map(|_| CARDS[dice.roll(CARDS.len())]).collect();
            models.push(evidence(id, *dice.pick(&CLASSES[..3]), &cards));
        }
    }
    Snapshot { models }
}

/// What merging must never do, over many small random cases.
#[test]
fn merging_only_ever_reduces_a_base_row() {
    let catalog = catalog();
    let mut dice = Dice(0x5EED);
    for case in 0..5_000 {
        let (base, snapshot) = (random_base(&mut dice), random_snapshot(&mut dice));
        let ranked = merge(&base, &snapshot, &catalog, None);
        let in_order = |a: &Ranked, b: &Ranked| {
            (rank(a.foothold), a.candidate.section) <= (rank(b.foothold), b.candidate.section)
        };
        assert!(ranked.is_sorted_by(in_order), "case {case}");

        let mut rows: Vec<&Candidate> = ranked.iter().map(|r| &r.candidate).collect();
        for own in &base {
            // The row with everything but cards as it was; stable order makes it the first.
            let at = rows.iter().position(|row| {
                let as_it_was = Candidate { cards: own.cards.clone(), ..(*row).clone() };
                as_it_was == *own && is_reduced(own, row, &catalog)
            });
            let row = rows.remove(at.unwrap_or_else(|| panic!("case {case}: {own:?} is lost")));
            let key = ModelKey::parse(&row.address).ok();
            let seen = snapshot.models.iter().find(|(model, _)| Some(model) == key.as_ref());
            if let (Some((_, evidence)), Some(cards)) = (seen, &row.cards) {
                let found =
                    |name: &String| catalog.find(name).is_some_and(|g| evidence.cards.contains(g));
                assert!(!cards.iter().any(found), "case {case}: a seen card stays");
            }
        }
        for row in rows {
            assert_eq!(row.evidence_source.as_deref(), Some(SLICES), "case {case}: {row:?}");
        }

        let again: Vec<Candidate> = ranked.iter().map(|r| r.candidate.clone()).collect();
        assert_eq!(merge(&again, &snapshot, &catalog, None), ranked, "case {case}: not idempotent");
    }
}

/// Whether `row`'s cards are `own`'s in their order, with some left out; no list may become the
/// targets, and an empty one stays empty.
fn is_reduced(own: &Candidate, row: &Candidate, catalog: &Catalog) -> bool {
    let targets: Vec<String> =
        catalog.targets().iter().map(|gpu| gpu.as_str().to_owned()).collect();
    match (&own.cards, &row.cards) {
        (None, None) => true,
        (Some(_), None) => false,
        (own, Some(cards)) => {
            let mut allowed = own.as_ref().unwrap_or(&targets).iter();
            cards.iter().all(|card| allowed.any(|own| own == card))
        }
    }
}
