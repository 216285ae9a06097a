//! What was used last, within bounds of number and weight.

use std::collections::HashMap;
use std::hash::Hash;

/// A map that forgets what was not used for longest.
pub(crate) struct Recent<K, V> {
    entries: HashMap<K, Entry<V>>,
    entries_limit: usize,
    weight_limit: usize,
    weight: usize,
    /// Counts uses; no clock is needed to say what came last.
    uses: u64,
}

struct Entry<V> {
    value: V,
    weight: usize,
    last_use: u64,
}

impl<K: Eq + Hash + Clone, V: Clone> Recent<K, V> {
    pub fn new(entries_limit: usize, weight_limit: usize) -> Self {
        Self {
            entries: HashMap::new(),
            entries_limit,
            weight_limit,
            weight: 0,
            uses: 0,
        }
    }

    pub fn get(&mut self, key: &K) -> Option<V> {
        self.uses += 1;
        let entry = self.entries.get_mut(key)?;
        entry.last_use = self.uses;
        Some(entry.value.clone())
    }

    /// Keeps a value, and forgets others for it. One that is heavier than the whole is not kept.
    pub fn put(&mut self, key: K, value: V, weight: usize) {
        self.forget(&key);
        if weight > self.weight_limit || self.entries_limit == 0 {
            return;
        }
        while self.entries.len() >= self.entries_limit || self.weight + weight > self.weight_limit {
            let Some(oldest) = self
                .entries
                .iter()
                .min_by_key(|(_, entry)| entry.last_use)
                .map(|(key, _)| key.clone())
            else {
                break;
            };
            self.forget(&oldest);
        }
        self.uses += 1;
        self.weight += weight;
        self.entries.insert(
            key,
            Entry {
                value,
                weight,
                last_use: self.uses,
            },
        );
    }

    fn forget(&mut self, key: &K) {
        if let Some(entry) = self.entries.remove(key) {
            self.weight -= entry.weight;
        }
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn weight(&self) -> usize {
        self.weight
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_that_was_not_used_for_longest_goes_first() {
        let mut recent = Recent::new(2, 100);
        recent.put("a", 1, 1);
        recent.put("b", 2, 1);
        assert_eq!(recent.get(&"a"), Some(1));
        recent.put("c", 3, 1);
        assert_eq!(recent.get(&"b"), None);
        assert_eq!((recent.get(&"a"), recent.get(&"c")), (Some(1), Some(3)));
    }

    #[test]
    fn the_weight_has_a_limit_of_its_own() {
        let mut recent = Recent::new(10, 100);
        recent.put("a", 1, 60);
        recent.put("b", 2, 30);
        recent.put("c", 3, 50);
        assert_eq!((recent.len(), recent.weight()), (2, 80));
        recent.put("d", 4, 101);
        assert_eq!((recent.len(), recent.weight()), (2, 80));
        recent.put("b", 5, 10);
        assert_eq!((recent.len(), recent.weight()), (2, 60));
    }
}
