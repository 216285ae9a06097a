//! Making a failing scenario smaller. Delta debugging over the scenario as JSON: parts are left
//! out and numbers made small for as long as it still breaks the same law. A library for
//! property tests would shrink the draws of its own generator; what is kept here is the scenario
//! itself, and every field of one may be left out, so its JSON can be shrunk without knowing what
//! it means.

use serde_json::Value;

use super::laws::Law;
use super::play::play;
use super::scenario::Scenario;

/// The most plays that a shrinking takes.
const PLAYS: u32 = 4_000;

/// The smallest scenario that could be found which breaks the same law.
pub fn shrink(scenario: &Scenario, law: Law) -> Scenario {
    let breaks = |candidate: &Scenario| {
        let violation = play(candidate).violation;
        violation.is_some_and(|violation| violation.law == law)
    };
    shrink_while(scenario, &breaks)
}

/// The smallest scenario that could be found of which `still` holds.
pub fn shrink_while(scenario: &Scenario, still: &dyn Fn(&Scenario) -> bool) -> Scenario {
    let mut shrinking = Shrinking {
        plays: 0,
        smallest: scenario.clone(),
        still,
    };
    while shrinking.round() && shrinking.plays < PLAYS {}
    shrinking.smallest
}

struct Shrinking<'a> {
    plays: u32,
    smallest: Scenario,
    still: &'a dyn Fn(&Scenario) -> bool,
}

impl Shrinking<'_> {
    /// Tries every way once, and says whether one helped.
    fn round(&mut self) -> bool {
        let mut helped = false;
        let mut number = 0;
        loop {
            let Ok(value) = serde_json::to_value(&self.smallest) else {
                return helped;
            };
            let Some(candidate) = smaller(&value, number) else {
                return helped;
            };
            // What a way that helped has left is tried at the same place again.
            if self.tries(candidate) {
                helped = true;
            } else {
                number += 1;
            }
            if self.plays >= PLAYS {
                return helped;
            }
        }
    }

    fn tries(&mut self, candidate: Value) -> bool {
        let Ok(scenario) = serde_json::from_value::<Scenario>(candidate) else {
            return false;
        };
        if scenario == self.smallest {
            return false;
        }
        self.plays += 1;
        let helped = (self.still)(&scenario);
        if helped {
            self.smallest = scenario;
        }
        helped
    }
}

/// The `number`th way to make a value smaller; `None` when there are no more.
fn smaller(value: &Value, number: usize) -> Option<Value> {
    let mut left = number;
    change(value, &mut left)
}

/// Counts down the ways through the value, and gives the one at which the count is over.
fn change(value: &Value, left: &mut usize) -> Option<Value> {
    let mut take = |made: Value| match *left {
        0 => Some(made),
        _ => {
            *left -= 1;
            None
        }
    };
    match value {
        Value::Array(items) => {
            let mut length = items.len();
            while length > 0 {
                for start in (0..items.len()).step_by(length) {
                    let mut fewer = items.clone();
                    fewer.drain(start..(start + length).min(items.len()));
                    if let Some(made) = take(Value::Array(fewer)) {
                        return Some(made);
                    }
                }
                length /= 2;
            }
            for (place, item) in items.iter().enumerate() {
                if let Some(changed) = change(item, left) {
                    let mut items = items.clone();
                    items[place] = changed;
                    return Some(Value::Array(items));
                }
            }
            None
        }
        Value::Object(fields) => {
            for name in fields.keys() {
                let mut fewer = fields.clone();
                fewer.remove(name);
                if let Some(made) = take(Value::Object(fewer)) {
                    return Some(made);
                }
            }
            for (name, field) in fields {
                if let Some(changed) = change(field, left) {
                    let mut fields = fields.clone();
                    fields.insert(name.clone(), changed);
                    return Some(Value::Object(fields));
                }
            }
            None
        }
        Value::Number(number) => {
            let number = number.as_i64().filter(|number| *number != 0)?;
            let halves = [0, number / 2, number - number.signum()];
            halves.into_iter().find_map(|smaller| take(smaller.into()))
        }
        Value::Bool(true) => take(Value::Bool(false)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::sim::{calls, words};

    #[test]
    fn what_a_failure_does_not_need_is_left_out() {
        let scenario = Scenario {
            seed: 90,
            replies: vec![
                words("One."),
                calls("look", json!({"n": 1})).and("post", json!({"n": 2})),
                words("Two."),
            ],
            kills: vec![100, 200, 300],
            verdicts: vec![false, true],
            ..Scenario::default()
        };
        let posts = |scenario: &Scenario| {
            let calls = scenario.replies.iter().flat_map(|reply| &reply.calls);
            calls.into_iter().any(|call| call.tool == "post")
        };
        let smallest = shrink_while(&scenario, &|scenario| {
            posts(scenario) && scenario.kills.iter().any(|at| *at > 120)
        });
        assert_eq!(smallest.kills, [121]);
        assert_eq!(smallest.replies.len(), 1);
        assert_eq!(smallest.replies[0].calls.len(), 1);
        assert_eq!((smallest.seed, smallest.verdicts.len()), (0, 0));
    }
}
