//! Many numbers of one text, found by what they say.

use std::collections::BTreeMap;

use super::decimal::Decimal;
use super::same::{distance, keys};
use super::{Kind, Number};

/// How many numbers of about the same size are looked at on each side.
const NEIGHBOURS: usize = 16;
/// How many places of the same digits with another unit are looked at.
const TWINS_LIMIT: usize = 64;

/// The numbers of a text.
#[derive(Debug, Default)]
pub(super) struct Index {
    numbers: Vec<Number>,
    /// Quantities by value.
    values: BTreeMap<Decimal, Vec<usize>>,
    /// Quantities by what they measure and how much it is, the latter in order.
    sizes: BTreeMap<&'static str, Vec<(f64, usize)>>,
    /// What is no quantity.
    others: Vec<usize>,
}

impl Index {
    pub(super) fn new(numbers: Vec<Number>) -> Self {
        let mut index = Self::default();
        for (place, number) in numbers.iter().enumerate() {
            if !matches!(number.kind, Kind::Quantity(_)) {
                index.others.push(place);
            }
            for key in keys(number) {
                index.values.entry(key).or_default().push(place);
            }
            for (of, size) in sizes(number) {
                index.sizes.entry(of).or_default().push((size, place));
            }
        }
        for sizes in index.sizes.values_mut() {
            sizes.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        }
        index.numbers = numbers;
        index
    }

    /// The numbers that may say the same as `wanted`, in the order of the text.
    pub(super) fn candidates(&self, wanted: &Number) -> impl Iterator<Item = &Number> {
        let mut places: Vec<usize> = if matches!(wanted.kind, Kind::Quantity(_)) {
            let keys = keys(wanted).into_iter();
            keys.filter_map(|key| self.values.get(&key))
                .flatten()
                .copied()
                .collect()
        } else {
            self.others.clone()
        };
        places.sort_unstable();
        places.dedup();
        places.into_iter().map(|place| &self.numbers[place])
    }

    /// The numbers with exactly this value.
    pub(super) fn of_value(&self, value: Decimal) -> impl Iterator<Item = &Number> {
        let places = self.values.get(&value).into_iter().flatten();
        places.map(|place| &self.numbers[*place])
    }

    /// The number that is most likely meant by one that is not there; of equals the one that
    /// `apart` makes the smallest.
    pub(super) fn nearest(
        &self,
        wanted: &Number,
        apart: impl Fn(&Number) -> usize,
    ) -> Option<&Number> {
        let twins = self.candidates(wanted).take(TWINS_LIMIT);
        let neighbours = sizes(wanted).into_iter().flat_map(|(of, size)| {
            let there = self.sizes.get(of).map_or(&[][..], Vec::as_slice);
            let at = there.partition_point(|(other, _)| *other < size);
            let from = at.saturating_sub(NEIGHBOURS);
            let to = (at + NEIGHBOURS).min(there.len());
            there[from..to]
                .iter()
                .map(|(_, place)| &self.numbers[*place])
        });
        let near = twins
            .chain(neighbours)
            .filter_map(|number| Some((distance(wanted, number)?, apart(number), number)));
        near.min_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)))
            .map(|(_, _, number)| number)
    }
}

/// What a number measures, by the name of its kind, and how much in each of its readings.
fn sizes(number: &Number) -> Vec<(&'static str, f64)> {
    let readings = number.meanings().iter().filter_map(|meaning| {
        let of = meaning.unit.map_or("", |unit| unit.of);
        Some((of, meaning.scaled()?.about()))
    });
    let mut sizes: Vec<(&'static str, f64)> = readings.collect();
    // A share may be written with a sign and without.
    let shares: Vec<(&'static str, f64)> = sizes
        .iter()
        .filter(|(_, size)| *size > 0.0 && *size < 1.0)
        .filter_map(|(of, size)| match *of {
            "" => Some((super::units::PERCENT, *size)),
            super::units::PERCENT => Some(("", *size)),
            _ => None,
        })
        .collect();
    sizes.extend(shares);
    sizes
}
