use super::*;

#[test]
fn foothold_is_0_or_1() {
    for (value, on) in [("0", false), ("1", true)] {
        let (settings, warnings) = with("ALL_TASKS_FOOTHOLD", value).unwrap();
        assert_eq!((settings.foothold, warnings), (on, 0));
    }
    for bad in ["2", "true", "on", " 1"] {
        let why = reason(with("ALL_TASKS_FOOTHOLD", bad), "ALL_TASKS_FOOTHOLD");
        assert_eq!(why, Reason::CandidateReadFailed);
    }
    let set: Set = |f, v| f.foothold = Some(v);
    assert!(flag(set, "1", ("ALL_TASKS_FOOTHOLD", "0")).unwrap().foothold);
    assert!(!flag(set, "0", ("ALL_TASKS_FOOTHOLD", "1")).unwrap().foothold);
}

#[test]
fn a_section_is_a_or_b_and_acts_only_with_a_pending_file() {
    let flags = Flags::default();
    for (value, section) in [("A", Section::A), ("B", Section::B)] {
        for file in ["PENDING_SUBMIT_MD", "PENDING_SUBMIT_TXT"] {
            let pairs = [("PENDING_SECTION", value), (file, "p")];
            let (settings, warnings) = resolve(&flags, &pairs).unwrap();
            assert_eq!((settings.pending_section, warnings), (Some(section), vec![]));
        }
        let (settings, warnings) = with("PENDING_SECTION", value).unwrap();
        assert_eq!((settings.pending_section, warnings), (None, 1));
    }
    for bad in ["C", "a", "AB", " A"] {
        let why = reason(with("PENDING_SECTION", bad), "PENDING_SECTION");
        assert_eq!(why, Reason::CandidateReadFailed);
    }
    let flags =
        Flags { section: Some("B".into()), pending_txt: Some("p".into()), ..Flags::default() };
    let (settings, _) = resolve(&flags, &[("PENDING_SECTION", "A")]).unwrap();
    assert_eq!(settings.pending_section, Some(Section::B));
}

#[test]
fn a_wrong_api_base_holds_and_is_not_repeated() {
    let (settings, _) = with("MODELHUB_API_BASE", "http://127.0.0.1:8080/").unwrap();
    assert_eq!(settings.api_base, "http://127.0.0.1:8080");
    for bad in [
        "http://modelhub.org.cn",
        "https://user:marker@modelhub.org.cn",
        "http://localhost@marker.example",
        "http://127.0.0.1.marker.example",
        "https://modelhub.org.cn/?token=marker",
    ] {
        let why = reason(with("MODELHUB_API_BASE", bad), "MODELHUB_API_BASE");
        assert_eq!(why, Reason::InvalidApiBase);
        let hold = flag(
            |f, v| f.api_base = Some(v),
            bad,
            ("MODELHUB_API_BASE", "https://modelhub.org.cn"),
        )
        .unwrap_err();
        assert_eq!(hold.reason, Reason::InvalidApiBase);
        assert!(hold.detail.starts_with("--api-base "), "{}", hold.detail);
        assert!(!hold.detail.contains("marker"), "{}", hold.detail);
    }
    let settings =
        flag(|f, v| f.api_base = Some(v), "https://a.example", ("MODELHUB_API_BASE", "x"));
    assert_eq!(settings.unwrap().api_base, "https://a.example");
}

#[test]
fn a_mistyped_precheck_stays_on() {
    for (value, on, warnings) in
        [("0", false, 0), ("1", true, 0), ("off", true, 1), ("false", true, 1)]
    {
        let (settings, told) = with("LIVE_PRECHECK", value).unwrap();
        assert_eq!((settings.precheck, told), (on, warnings), "{value}");
    }
    let flags = Flags { no_precheck: true, ..Flags::default() };
    let (settings, _) = resolve(&flags, &[("LIVE_PRECHECK", "1")]).unwrap();
    assert!(!settings.precheck);
}

#[test]
fn mistyped_words_give_the_safer_meaning() {
    for (value, refresh, warnings) in [
        ("auto", Refresh::Auto, 0),
        ("full", Refresh::Full, 0),
        ("Auto", Refresh::Full, 1),
        ("none", Refresh::Full, 1),
    ] {
        let (settings, told) = with("LIVE_REFRESH", value).unwrap();
        assert_eq!((settings.refresh, told), (refresh, warnings), "{value}");
    }
    let set: Set = |f, v| f.refresh = Some(v);
    let settings = flag(set, "full", ("LIVE_REFRESH", "auto")).unwrap();
    assert_eq!(settings.refresh, Refresh::Full);
    for (value, source, warnings) in [
        ("build-config", ConfigSource::BuildConfig, 0),
        ("sample", ConfigSource::Sample, 0),
        ("other", ConfigSource::Sample, 1),
    ] {
        let (settings, told) = with("CONFIG_PARAMS_SOURCE", value).unwrap();
        assert_eq!((settings.config_source, told), (source, warnings), "{value}");
    }
}
