//! Names of models and cards, read independently of the program under test.

/// Cards as (GPU enum, Chinese name).
pub const CARDS: [(&str, &str); 14] = [
    ("Biren_166m", "壁砺"),
    ("Sunrise_pt-200-x1", "曦望"),
    ("Iluvatar_bi-150", "天垓150"),
    ("Iluvatar_mrv-100", "智铠100"),
    ("Iluvatar_bi-100", "天垓100"),
    ("Ascend_910-b4", "昇腾910B4"),
    ("Ascend_910-b3", "昇腾910B3"),
    ("MetaX_c-500", "沐曦C500"),
    ("Cambricon_mlu-370-x4", "寒武纪MLU370-X4"),
    ("Kunlunxin_p-800", "昆仑芯P800"),
    ("Kunlunxin_r-200-8f", "昆仑芯R200-8F"),
    ("hygon_k100-ai", "海光K100-AI"),
    ("Vastai_va16", "瀚博VA16"),
    ("Mthreads_s4000", "摩尔线程S4000"),
];

/// The enum of a card given by either name; an unknown card as it is.
pub fn card_enum(card: &str) -> &str {
    CARDS
        .iter()
        .find(|(code, name)| same(code, card) || same(name, card))
        .map_or(card, |(code, _)| code)
}

/// The Chinese name of a card given by either name; an unknown card as it is.
pub fn card_chinese(card: &str) -> &str {
    CARDS.iter().find(|(code, _)| *code == card_enum(card)).map_or(card, |(_, name)| name)
}

fn same(a: &str, b: &str) -> bool {
    let letters = |text: &str| text.replace(' ', "").to_lowercase();
    letters(a) == letters(b)
}

/// `org/name` of an address, in its own case: without scheme, host, `.git`, query and what follows.
pub fn model_id(address: &str) -> String {
    let decoded = percent_decode(address.trim());
    let path = decoded.split(['?', '#']).next().unwrap_or_default();
    let path = match path.split_once("://") {
        Some((_, rest)) => rest.split_once('/').map_or("", |(_host, path)| path),
        None => path,
    };
    let path = path.strip_prefix("models/").unwrap_or(path);
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    let id: Vec<&str> = parts.by_ref().take(2).collect();
    let id = id.join("/");
    id.strip_suffix(".git").unwrap_or(&id).to_owned()
}

/// The normalised model id: `org/name`, lower-case.
pub fn model_key(address: &str) -> String {
    model_id(address).to_lowercase()
}

/// Undoes `%2F` and the like; what is no escape stays as it is.
pub fn percent_decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escape = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        if let Some(byte) = escape.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            decoded.push(byte);
            at += 3;
        } else {
            decoded.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}
