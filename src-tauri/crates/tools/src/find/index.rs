//! Ranking by BM25, widened by a thesaurus: people ask in plain words, and tools are named in the
//! terms of those who made them.

use std::collections::{BTreeMap, HashMap, HashSet};

use longrein_protocol::{Effect, ToolSpec};
use rusqlite::Connection;
use serde_json::Value;

use super::texts::{Hit, Near, Texts, is_among, occurs, speller, spelt, stems, thesaurus};

/// What a word of near meaning counts against the word itself.
const NEAR_MEANING: f64 = 0.5;
/// What the meanings of a phrase count, which are surer than those of a word, and its own words.
const PHRASE_MEANING: f64 = 0.7;
const PHRASE_WORD: f64 = 0.5;
/// What a word counts that says when or how many, which tools are not named by.
const FILLER: f64 = 0.3;
/// What a whole name that the query covers adds to the rank of its tool.
const NAME_COVERED: f64 = 1.0;
/// What the rank of its server adds to that of a tool.
const SERVER: f64 = 2.5;
/// What is left to a tool that changes when something is asked, or that reads when a change is.
const OTHER_EFFECT: f64 = 0.7;
/// What is left to a tool whose verb is another than that with which the query begins.
const OTHER_VERB: f64 = 0.85;
/// What a word weighs in the name, the server's name, the description, the names of arguments.
const TOOL_COLUMNS: [f64; 4] = [3.0, 1.0, 1.5, 0.5];
/// What a word weighs in the texts of a server's tools, and in what it says of itself.
const SERVER_COLUMNS: [f64; 4] = [1.0, 2.0, 0.0, 0.0];
/// The most characters of a description that are looked through.
const DESCRIPTION_CHARS: usize = 4_000;
/// The most names of arguments of one tool.
const ARGUMENTS: usize = 200;
/// The most words of a query that are looked for.
const QUERY_WORDS: usize = 64;
/// The most meanings of one word or phrase.
const MEANINGS: usize = 60;
/// How many tools match at most.
const MATCHES: usize = 200;

/// Words that say nothing of what is looked for.
const STOP_WORDS: &str = "a about an and any are as at be been but by can could did do does for \
    from had has have how i if in into is it its me more most my no not of on or our should so \
    some such than that the their them then there these they this those to was we were what when \
    where which who whom whose why will with would you your";
/// Words that say when, how many or how much.
const FILLERS: &str = "afternoon again all always april august best better day days december eight \
    evening ever every everybody everyone everything february few five four friday good here hour \
    hours january july june just last later like many march may minute minutes monday month months \
    morning much need never new next night nights nine noon november now october often old one \
    only past please saturday september seven six somebody someone something soon still sunday ten \
    there three thursday today tomorrow tonight too tuesday two very want wednesday week weeks \
    well year years yesterday";
/// Words with which a question begins.
const ASKING: &str = "what which who whose when where how why is are was were does did has have \
    will any";
/// The verbs of tools that only read, and of those that change something.
const READING: &str = "get list search find query read show describe lookup fetch retrieve view \
    head count check see look compare display";
const CHANGING: &str = "add create make delete remove update change edit rename move cancel send \
    post upload close assign archive mark set write put save insert publish reply answer invite \
    schedule pay refund merge drop erase turn switch enable disable restore restart start stop \
    pause resume book buy order draft register subscribe unsubscribe share attach patch";
/// Arguments that tools of any kind have.
const PAGING: &str = "page per_page page_size page_token cursor offset limit after before start_at \
    max_results sort order_by order count fields expand format";

/// The index.
pub(super) struct Index {
    connection: Connection,
    tools: Vec<Entered>,
    texts: Texts,
    servers: Texts,
    near: Near,
    /// The verbs of names, by their stems; whether they change something.
    verbs: HashMap<String, bool>,
}

/// A tool, by its place.
struct Entered {
    server: usize,
    /// How many words its name has.
    name_words: usize,
    verb: Option<String>,
    reads: bool,
}

/// What was counted of one tool.
#[derive(Clone, Default)]
struct Tally {
    rank: f64,
    /// How much of the query it has.
    covered: f64,
    /// How many words of its name the query has.
    named: f64,
}

/// A word or a phrase of a query.
struct Unit {
    weight: f64,
    is_phrase: bool,
    /// Stems, each with what it counts.
    meanings: Vec<(String, f64)>,
}

impl Index {
    pub(super) fn of(
        tools: &[ToolSpec],
        about: &BTreeMap<String, String>,
    ) -> rusqlite::Result<Self> {
        let connection = speller()?;
        let mut verbs = HashMap::new();
        for (list, changes) in [(READING, false), (CHANGING, true)] {
            let stems = stems(&connection, list.split_whitespace())?;
            verbs.extend(stems.into_iter().map(|stem| (stem, changes)));
        }
        let mut servers: Vec<(&str, String)> = Vec::new();
        let mut entered = Vec::with_capacity(tools.len());
        let mut rows = Vec::with_capacity(tools.len());
        for tool in tools {
            let (server, name) = tool.name.split_once('.').unwrap_or(("", &tool.name));
            let name = words(name);
            let description: String = tool.description.chars().take(DESCRIPTION_CHARS).collect();
            let of = match servers.iter().position(|(known, _)| *known == server) {
                Some(of) => of,
                None => {
                    servers.push((server, String::new()));
                    servers.len() - 1
                }
            };
            let told = &mut servers[of].1;
            told.extend([name.as_str(), " ", &description, " "]);
            entered.push(Entered {
                server: of,
                name_words: 0,
                verb: None,
                reads: tool.effect == Effect::Read,
            });
            rows.push([name, words(server), description, arguments(&tool.schema)]);
        }
        let none = String::new();
        let names = rows.iter().map(|[name, ..]| [name, &none, &none, &none]);
        for (stem, place, _) in spelt(&connection, names)? {
            let tool = &mut entered[place];
            tool.name_words += 1;
            if tool.verb.is_none()
                && let Some(changes) = verbs.get(&stem)
            {
                // Who declares nothing may still have named it.
                tool.reads |= !changes;
                tool.verb = Some(stem);
            }
        }
        let of_servers: Vec<[String; 4]> = servers
            .into_iter()
            .map(|(server, told)| {
                let said = about.get(server).map_or("", String::as_str);
                let about = format!("{} {said}", words(server));
                [told, about, String::new(), String::new()]
            })
            .collect();
        Ok(Self {
            tools: entered,
            texts: Texts::of(&connection, &rows, TOOL_COLUMNS)?,
            servers: Texts::of(&connection, &of_servers, SERVER_COLUMNS)?,
            near: thesaurus(&connection)?,
            verbs,
            connection,
        })
    }

    /// The places of the tools that match, best first; of the same rank the first.
    pub(super) fn ranked(&self, query: &str) -> rusqlite::Result<Vec<usize>> {
        let said = said(query);
        let units = self.units(&said)?;
        let mut tallies = vec![Tally::default(); self.tools.len()];
        let mut servers = vec![0.0; self.servers.len()];
        let mut all = 0.0;
        for unit in &units {
            let found = self.texts.best(&unit.meanings);
            if found.is_empty() {
                // Nothing is told apart by what no tool has: names, places.
                continue;
            }
            all += unit.weight;
            for (place, hit) in found {
                tallies[place].rank += unit.weight * unit.rank(hit);
                tallies[place].covered += unit.weight;
                tallies[place].named += unit.weight * hit.named;
            }
            for (place, hit) in self.servers.best(&unit.meanings) {
                servers[place] += unit.weight * unit.rank(hit);
            }
        }
        let wanted = self.wanted(&said, units.first());
        let of_tools = tallies.iter().zip(&self.tools).enumerate();
        let matching = of_tools.filter(|(_, (tally, _))| tally.covered > 0.0);
        let ranks = matching.map(|(place, (tally, tool))| {
            let named = (tally.named / tool.name_words.max(1) as f64).min(1.0);
            let own = tally.rank * tally.covered / all * (1.0 + NAME_COVERED * named);
            let rank = own + SERVER * servers[tool.server];
            (place, rank * wanted.share(tool))
        });
        let mut ranked: Vec<(usize, f64)> = ranks.collect();
        ranked.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
        ranked.truncate(MATCHES);
        Ok(ranked.into_iter().map(|(place, _)| place).collect())
    }

    /// The phrases of the thesaurus that a query has, and its other words that tell something; all
    /// its words where none does.
    fn units(&self, said: &[String]) -> rusqlite::Result<Vec<Unit>> {
        let stems = stems(&self.connection, said.iter().map(String::as_str))?;
        let mut of_phrase = vec![false; said.len()];
        let mut units: Vec<(usize, Unit)> = Vec::new();
        for at in 0..said.len() {
            let mut phrases: Vec<_> = self.near.get(&stems[at]).into_iter().flatten().collect();
            phrases.sort_by_key(|(phrase, _)| std::cmp::Reverse(phrase.len()));
            let phrases = phrases.iter().filter(|(phrase, _)| phrase.len() > 1);
            let mut all = phrases.filter_map(|(phrase, gives)| {
                let places = occurs(phrase, at, said, &stems, &of_phrase)?;
                Some((places, gives))
            });
            let Some((places, gives)) = all.next() else {
                continue;
            };
            let mut unit = Unit {
                is_phrase: true,
                ..Unit::default()
            };
            unit.widen(gives, PHRASE_MEANING);
            for place in places {
                of_phrase[place] = true;
                if !is_among(STOP_WORDS, &said[place]) {
                    unit.widen(&stems[place..=place], PHRASE_WORD);
                }
            }
            units.push((at, unit));
        }
        let telling = |at: &usize| {
            !is_among(STOP_WORDS, &said[*at]) && said[*at].contains(char::is_alphabetic)
        };
        let left = (0..said.len()).filter(|at| !of_phrase[*at]);
        let mut of_words: Vec<usize> = left.filter(telling).collect();
        if units.is_empty() && of_words.is_empty() {
            of_words = (0..said.len()).collect();
        }
        let mut known = HashSet::new();
        of_words.retain(|at| known.insert(&stems[*at]));
        units.extend(
            of_words
                .into_iter()
                .map(|at| (at, self.unit(&said[at], &stems[at]))),
        );
        units.sort_by_key(|(at, _)| *at);
        Ok(units.into_iter().map(|(_, unit)| unit).collect())
    }

    /// A word, and those that it is widened by.
    fn unit(&self, word: &str, stem: &str) -> Unit {
        let mut unit = Unit::default();
        if is_among(FILLERS, word) {
            unit.weight = FILLER;
        }
        unit.meanings.push((stem.to_owned(), 1.0));
        for (phrase, gives) in self.near.get(stem).into_iter().flatten() {
            if phrase.len() == 1 {
                unit.widen(gives, NEAR_MEANING);
            }
        }
        unit
    }

    /// What a query that begins so wants done.
    fn wanted(&self, said: &[String], first: Option<&Unit>) -> Wanted {
        let meanings = first.into_iter().flat_map(|unit| &unit.meanings);
        let verbs = meanings.filter(|(stem, _)| self.verbs.contains_key(stem));
        let verbs: HashSet<String> = verbs.map(|(stem, _)| stem.clone()).collect();
        let changing = verbs.iter().filter(|verb| self.verbs[*verb]).count();
        let reading = verbs.len() - changing;
        let asks = said.first().is_some_and(|word| is_among(ASKING, word));
        let reads = match asks {
            true => Some(true),
            false => (reading != changing).then_some(reading > changing),
        };
        Wanted { reads, verbs }
    }
}

/// What is to be done, as far as the beginning of a query says it.
struct Wanted {
    reads: Option<bool>,
    verbs: HashSet<String>,
}

impl Wanted {
    /// What is left of the rank of a tool.
    fn share(&self, tool: &Entered) -> f64 {
        let other_effect = self.reads.is_some_and(|reads| reads != tool.reads);
        let verb = tool.verb.as_ref();
        let other_verb = !self.verbs.is_empty() && verb.is_some_and(|it| !self.verbs.contains(it));
        match (other_effect, other_verb) {
            (true, _) => OTHER_EFFECT,
            (false, true) => OTHER_VERB,
            (false, false) => 1.0,
        }
    }
}

impl Default for Unit {
    fn default() -> Self {
        Self {
            weight: 1.0,
            is_phrase: false,
            meanings: Vec::new(),
        }
    }
}

impl Unit {
    /// A phrase may stand for a verb and its object, so that two of its meanings count.
    fn rank(&self, hit: Hit) -> f64 {
        match self.is_phrase {
            true => hit.rank + hit.second,
            false => hit.rank,
        }
    }

    /// The first that is said of a stem stays.
    fn widen(&mut self, by: &[String], weight: f64) {
        for stem in by {
            let is_new = !self.meanings.iter().any(|(known, _)| known == stem);
            if is_new && self.meanings.len() < MEANINGS {
                self.meanings.push((stem.clone(), weight));
            }
        }
    }
}

/// The words of a query in lower case.
fn said(query: &str) -> Vec<String> {
    let words = words(query).to_lowercase();
    let words = words.split_whitespace().take(QUERY_WORDS);
    words.map(str::to_owned).collect()
}

/// A name as words: `createPull_request` is `create Pull request`, `getPDFPages` is `get PDF Pages`.
fn words(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 8);
    let mut before = ' ';
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        let ends_capitals = letters.peek().is_some_and(|next| next.is_lowercase());
        let begins = letter.is_uppercase()
            && (before.is_lowercase() || before.is_uppercase() && ends_capitals);
        if begins || !letter.is_alphanumeric() {
            words.push(' ');
        }
        if letter.is_alphanumeric() {
            words.push(letter);
        }
        before = letter;
    }
    words
}

/// The names of the arguments that not just any tool has.
fn arguments(schema: &Value) -> String {
    let properties = schema.get("properties").and_then(Value::as_object);
    let names = properties.into_iter().flatten().map(|(name, _)| name);
    let telling = names.filter(|name| !is_among(PAGING, name));
    let told: Vec<String> = telling.take(ARGUMENTS).map(|name| words(name)).collect();
    told.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(tools: &[(&str, &str, Effect)]) -> Index {
        let tools: Vec<ToolSpec> = tools
            .iter()
            .map(|(name, description, effect)| tool(name, description, *effect))
            .collect();
        Index::of(&tools, &BTreeMap::new()).unwrap()
    }

    fn tool(name: &str, description: &str, effect: Effect) -> ToolSpec {
        ToolSpec {
            effect,
            ..crate::tool::spec(name, description, serde_json::json!({}), &[])
        }
    }

    /// The meanings of what a query says, unit by unit.
    fn meanings(query: &str) -> Vec<Vec<String>> {
        let index = Index::of(&[], &BTreeMap::new()).unwrap();
        let units = index.units(&said(query)).unwrap();
        let stems = units.into_iter().map(|unit| unit.meanings.into_iter());
        stems
            .map(|meanings| meanings.map(|(stem, _)| stem).collect())
            .collect()
    }

    #[test]
    fn names_are_taken_apart_however_they_are_written() {
        assert_eq!(words("createPull_request"), "create Pull request");
        assert_eq!(words("issues-list.v2"), "issues list v2");
        assert_eq!(words("getPDFPages"), "get PDF Pages");
    }

    #[test]
    fn a_word_is_widened_by_the_terms_of_interfaces_and_not_by_other_everyday_words() {
        let units = meanings("throwing");
        let said = |word: &str| units[0].iter().any(|known| known == word);
        assert!(said("delet") && said("remov"), "{units:?}");
        assert!(!said("wipe"), "{units:?}");
        assert_eq!(meanings("zygote"), [["zygot"]]);
    }

    #[test]
    fn a_phrase_is_found_around_articles_and_a_particle_behind_its_object() {
        for query in ["turn on lights", "turn the lights on", "turn it on"] {
            let first = &meanings(query)[0];
            assert!(
                first.iter().any(|stem| stem == "enabl"),
                "{query}: {first:?}"
            );
        }
        let apart = &meanings("turn left before the bridge on Monday")[0];
        assert!(!apart.iter().any(|stem| stem == "enabl"), "{apart:?}");
    }

    #[test]
    fn what_no_tool_has_does_not_count_against_those_that_match() {
        let index = index(&[
            ("a.send_message", "Sends a message.", Effect::Irreversible),
            (
                "a.delete_message",
                "Deletes a message.",
                Effect::Irreversible,
            ),
            ("a.list_zones", "Lists zones.", Effect::Read),
        ]);
        let plain = index.ranked("send a message").unwrap();
        assert_eq!(plain[0], 0);
        assert_eq!(
            index.ranked("send a message to Xqzyth 1042").unwrap(),
            plain
        );
    }

    #[test]
    fn a_question_finds_what_reads_and_a_command_what_changes() {
        let index = index(&[
            ("a.set_light", "Light of a room.", Effect::Reversible),
            ("a.light_state", "Light of a room.", Effect::Read),
            ("b.rows", "Rows.", Effect::Read),
            ("b.columns", "Columns.", Effect::Read),
            ("b.sheets", "Sheets.", Effect::Read),
        ]);
        assert_eq!(
            index.ranked("is the light burning in the room").unwrap()[0],
            1
        );
        assert_eq!(index.ranked("set the light of the room").unwrap()[0], 0);
    }

    #[test]
    fn a_query_of_marks_and_operators_is_no_error() {
        let index = Index::of(&[], &BTreeMap::new()).unwrap();
        for query in ["", "\"", "a* OR b) NEAR(", "name : x", "'; DROP TABLE tool"] {
            assert_eq!(index.ranked(query).unwrap(), [0_usize; 0], "{query}");
        }
    }
}
