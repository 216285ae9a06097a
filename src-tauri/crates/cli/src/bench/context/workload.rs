//! What is researched: every step, and what it brings, from a seed. The same seed gives the same
//! bytes on every machine.

use serde_json::{Value, json};

/// Facts that are planted at random places, and looked for at the end.
pub const FACTS: usize = 40;
/// The kinds of facts, in turn.
const KINDS: [FactKind; 4] = [
    FactKind::Constraint,
    FactKind::Receipt,
    FactKind::Source,
    FactKind::OpenItem,
];
/// What words are made of.
const SYLLABLES: [&str; 16] = [
    "ba", "do", "fen", "gul", "hir", "jo", "ka", "lum", "mar", "ne", "or", "pel", "qui", "ras",
    "sto", "vel",
];
/// The fewest and the most results of a search.
const HITS: (u64, u64) = (20, 60);
/// The fewest and the most sections of a page.
const SECTIONS: (u64, u64) = (6, 20);
/// The fewest and the most rows of a table.
const ROWS: (u64, u64) = (100, 800);
/// How much of a page its passage is, in bytes.
const PASSAGE_BYTES: usize = 1_500;

/// Chance from a seed (SplitMix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    fn between(&mut self, (least, most): (u64, u64)) -> u64 {
        least + self.below(most - least + 1)
    }

    fn word(&mut self) -> String {
        let count = self.between((2, 4));
        let syllables = (0..count).map(|_| SYLLABLES[self.below(SYLLABLES.len() as u64) as usize]);
        syllables.collect()
    }

    fn words(&mut self, count: u64) -> String {
        let words: Vec<String> = (0..count).map(|_| self.word()).collect();
        words.join(" ")
    }
}

/// What a fact is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FactKind {
    /// The person says it while the run goes on.
    Constraint,
    /// An action leaves it behind.
    Receipt,
    /// Something that was read and may be cited.
    Source,
    /// An item of the plan that stays open.
    OpenItem,
}

/// Something that must not be lost.
#[derive(Clone, PartialEq, Debug)]
pub struct Fact {
    /// What it is.
    pub kind: FactKind,
    /// The step that it comes with, from 1.
    pub step: u32,
    /// What it is about: two words that stand nowhere else.
    pub topic: String,
    /// What is to be known of it: letters that stand nowhere else.
    pub value: String,
}

/// What one step does.
#[derive(Clone, PartialEq, Debug)]
pub enum Doing {
    /// A search, with a large JSON result.
    Search,
    /// A page in Markdown.
    Page,
    /// A table as CSV.
    Table,
    /// A short note.
    Note,
    /// Reads on in what was offloaded last; a note where nothing was.
    ReadOn,
}

/// A whole research.
pub struct Workload {
    seed: u64,
    /// What each step does, the first one first.
    pub steps: Vec<Doing>,
    /// What is planted.
    pub facts: Vec<Fact>,
}

impl Workload {
    /// The research of so many steps that this seed stands for.
    pub fn new(seed: u64, steps: u32) -> Self {
        let mut chance = Chance(seed);
        let doing = (0..steps).map(|_| match chance.below(100) {
            0..40 => Doing::Search,
            40..70 => Doing::Page,
            70..80 => Doing::Table,
            80..90 => Doing::ReadOn,
            _ => Doing::Note,
        });
        let doing = doing.collect();
        let mut places: Vec<u32> = (1..=steps).collect();
        let mut facts = Vec::new();
        for number in 0..FACTS.min(steps as usize / 2) {
            let place = chance.below(places.len() as u64) as usize;
            facts.push(Fact {
                kind: KINDS[number % KINDS.len()],
                step: places.swap_remove(place),
                topic: format!("{}{number} {}", chance.word(), chance.word()),
                value: format!("v{number}x{:012x}", chance.next() >> 16),
            });
        }
        Self {
            seed,
            steps: doing,
            facts,
        }
    }

    /// The fact that comes with a step.
    pub fn fact(&self, step: u32) -> Option<&Fact> {
        self.facts.iter().find(|fact| fact.step == step)
    }

    /// The plan as it stands after a step: what is open stays open.
    pub fn plan(&self, step: u32) -> Value {
        let open = |fact: &&Fact| fact.kind == FactKind::OpenItem && fact.step <= step;
        let items = self.facts.iter().filter(open);
        let items: Vec<Value> = items
            .map(|fact| json!({"text": format!("{}: {}", fact.topic, fact.value), "state": "open"}))
            .collect();
        json!({ "items": items })
    }

    /// What a search brings: JSON.
    pub fn search(&self, step: u32) -> String {
        let mut chance = self.chance(step);
        let hits = (0..chance.between(HITS)).map(|number| {
            let words = chance.between((60, 160));
            json!({
                "id": format!("{step}-{number}"),
                "title": chance.words(6),
                "url": format!("https://{}.example/{}", chance.word(), chance.word()),
                "score": chance.below(1_000) as f64 / 1_000.0,
                "text": chance.words(words),
            })
        });
        let hits: Vec<Value> = hits.collect();
        json!({"query": format!("question {step}"), "total": hits.len(), "results": hits})
            .to_string()
    }

    /// What a page says: Markdown.
    pub fn page(&self, step: u32) -> String {
        let mut chance = self.chance(step);
        let mut page = format!("# {}\n", chance.words(5));
        for _ in 0..chance.between(SECTIONS) {
            page.push_str(&format!("\n## {}\n\n", chance.words(3)));
            for _ in 0..4 {
                page.push_str(&chance.words(60));
                page.push_str(".\n\n");
            }
        }
        page
    }

    /// The part of a page that is shown as a passage.
    pub fn passage(page: &str) -> usize {
        page.floor_char_boundary(PASSAGE_BYTES)
    }

    /// What a table holds: CSV.
    pub fn table(&self, step: u32) -> String {
        let mut chance = self.chance(step);
        let mut table = String::from("name,year,amount,share\n");
        for _ in 0..chance.between(ROWS) {
            table.push_str(&format!(
                "{},{},{},0.{}\n",
                chance.word(),
                1_990 + chance.below(36),
                chance.below(1_000_000),
                chance.below(1_000)
            ));
        }
        table
    }

    /// A short note.
    pub fn note(&self, step: u32) -> String {
        let mut chance = self.chance(step);
        let words = chance.between((20, 120));
        chance.words(words)
    }

    fn chance(&self, step: u32) -> Chance {
        Chance(self.seed ^ (u64::from(step) << 32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_research_and_each_fact_a_step_of_its_own() {
        let (one, other) = (Workload::new(7, 300), Workload::new(7, 300));
        assert_eq!((&one.steps, &one.facts), (&other.steps, &other.facts));
        assert_eq!(one.search(9), other.search(9));
        assert_ne!(one.search(9), one.search(10));
        assert_eq!(one.facts.len(), FACTS);
        let mut steps: Vec<u32> = one.facts.iter().map(|fact| fact.step).collect();
        steps.sort_unstable();
        steps.dedup();
        assert_eq!(steps.len(), FACTS);
        assert_ne!(Workload::new(8, 300).facts, one.facts);
    }
}
