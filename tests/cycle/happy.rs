//! What a healthy cycle does.

use crate::kit::{Machine, account, models, strs};
use crate::platform::Kind;

#[test]
fn six_are_accepted_and_the_cycle_cap_holds() {
    let machine = Machine::new(account(), &strs(&models(8)));
    let ended = machine.cycle(0);
    assert_eq!(ended.held(), "cycle_cap");
    assert_eq!(ended.lines("[live] submitted ").count(), 6);
    assert_eq!(machine.platform.count(Kind::Add), 6);
    assert_eq!(machine.most_posts(), (1, 1));
}
