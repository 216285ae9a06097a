//! What the demonstration model does with a document that is too long to be shown: it reads all of
//! it, and where the harness shows only what that is made of, it has the lines looked for that name
//! the question's words. A program in a box does that where there is a box, and `read_result` where
//! there is none.

use serde_json::{Value, json};

use super::request::{Action, Kept, Passage, Seen};
use super::rules::Move;
use super::text::{counted, same_word, terms, words};

/// The tool that runs programs.
const RUN_CODE: &str = "run_code";
/// The tool that reads on in what was too long.
const READ_RESULT: &str = "read_result";
/// How much one call reads of a source: as much as it may.
const PART_BYTES: u32 = 12_000;
/// How many parts of a document are read.
const PARTS: u32 = 3;
/// A line with so many of the question's words speaks of it.
const ENOUGH_WORDS: usize = 2;
/// How many lines are kept.
const KEPT_LINES: usize = 10;
/// How much of a line is kept, in characters.
const LINE_CHARS: usize = 400;
/// The most words that are looked for.
const LOOKED_FOR: usize = 16;
/// What the program says before the lines.
const LOOKED_AT: &str = "lines looked at: ";

/// What comes next of this; `None` once it is done, or where no document is too long.
pub(super) fn next(seen: &Seen) -> Option<Move> {
    if !seen.has("read_source") || seen.count("write_file") > 0 {
        return None;
    }
    let parts: Vec<&Action> = parts(seen).collect();
    if parts.is_empty() {
        return read_whole(seen);
    }
    let offloaded: Vec<&Action> = parts
        .into_iter()
        .filter(|part| part.preview().is_some())
        .collect();
    if offloaded.is_empty() {
        return None;
    }
    if seen.count(READ_RESULT) > 0 {
        return None;
    }
    let files: Vec<String> = offloaded
        .iter()
        .filter_map(|part| part.preview()?.file)
        .collect();
    let program = seen.last(RUN_CODE).map(|place| &seen.actions[place]);
    match program {
        Some(program) if looked_at(program).is_some() => None,
        None if seen.has(RUN_CODE) && !files.is_empty() => Some(run(seen, &files)),
        _ if seen.has(READ_RESULT) => Some(look_up(seen, &offloaded)),
        _ => None,
    }
}

/// The parts of the long document that were read.
fn parts(seen: &Seen) -> impl Iterator<Item = &Action> {
    seen.actions.iter().filter(|action| {
        let start = action.arguments["start"].as_u64();
        let is_part = start.is_some_and(|start| start.is_multiple_of(PART_BYTES.into()));
        let end = start.map(|start| start + u64::from(PART_BYTES));
        action.tool == "read_source" && is_part && action.arguments["end"].as_u64() == end
    })
}

/// Reads the longest of the documents that were read in, where one call can't show all of it.
fn read_whole(seen: &Seen) -> Option<Move> {
    let reads = seen
        .actions
        .iter()
        .filter(|action| action.tool == "read_source");
    let told = reads.filter_map(|read| Some((length(read)?, read.arguments["source"].as_str()?)));
    // Of equal length the one that was read first.
    let longest = told.rev().max_by_key(|(bytes, _)| *bytes);
    let (bytes, source) = longest.filter(|(bytes, _)| *bytes > PART_BYTES)?;
    let title = seen
        .passages
        .iter()
        .find(|passage| passage.source.to_string() == source)
        .map_or(source, |passage| passage.title.as_str());
    let parts = bytes.div_ceil(PART_BYTES).min(PARTS);
    let all = if parts * PART_BYTES < bytes {
        "its beginning"
    } else {
        "all of it"
    };
    let words = format!(
        "“{title}” has {bytes} bytes, of which I saw a few lines. I read {all}, in {}.",
        counted(parts as usize, "part")
    );
    let reading = (0..parts).fold(Move::new(words), |next, part| {
        let start = part * PART_BYTES;
        let place = json!({"source": source, "start": start, "end": start + PART_BYTES});
        next.call(seen, "read_source", place)
    });
    Some(reading)
}

/// How long a source is, as a result says that showed a part of it: `S3 has 25594 bytes of text;
/// read on with start 1600.`
fn length(read: &Action) -> Option<u32> {
    let source = read.arguments["source"].as_str()?;
    let result = read.result.as_deref()?;
    let mark = format!("{source} has ");
    let told = result
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix(&mark))?;
    told.split_once(" bytes of text")?.0.parse().ok()
}

/// Has a program go through what was kept of them.
fn run(seen: &Seen, files: &[String]) -> Move {
    let words = "That is more than I can be shown at once. The harness kept it in files: I let a program in the box \
                 go through them and show me only the lines that name the words of the question.";
    Move::new(words).call(
        seen,
        RUN_CODE,
        json!({
            "code": program(&looked_for(seen), files),
            "intent": "Find the lines that name the question's words",
        }),
    )
}

/// How many lines a program says that it looked at; `None` where it did not get so far.
fn looked_at(program: &Action) -> Option<usize> {
    let mut lines = program.result.as_deref()?.lines();
    lines.find_map(|line| line.strip_prefix(LOOKED_AT)?.parse().ok())
}

fn program(words: &[String], files: &[String]) -> String {
    // What JSON writes of texts and lists, Python reads.
    let (words, files) = (json!(words), json!(files));
    format!(
        "import re\n\n\
         words = {words}\n\
         files = {files}\n\
         count, found = 0, []\n\
         for file in files:\n    \
             for line in open(file, encoding=\"utf-8\"):\n        \
                 count += 1\n        \
                 said = set(re.findall(r\"\\w+\", line.lower()))\n        \
                 named = sum(word in said for word in words)\n        \
                 if named >= {ENOUGH_WORDS} and not line.startswith(\"[\"):\n            \
                     found.append((-named, count, line.strip()[:{LINE_CHARS}]))\n\n\
         print(\"{LOOKED_AT}\" + str(count))\n\
         for _, number, line in sorted(found)[:{KEPT_LINES}]:\n    \
             print(f\"{{number}}: {{line}}\")\n"
    )
}

/// Without a box: has the harness look for the words.
fn look_up(seen: &Seen, offloaded: &[&Action]) -> Move {
    let any = looked_for(seen).join("|");
    let words = match seen.count(RUN_CODE) > 0 {
        true => {
            "The program did not get through. I look for the words of the question in what the harness kept."
        }
        false => {
            "That is more than I can be shown at once, and there is no box here in which a program could go through \
             it. The harness kept all of it: I look for the words of the question in there."
        }
    };
    let pattern = format!(r"(?i)\b({any})\b.*\b({any})\b");
    offloaded.iter().fold(Move::new(words), |next, part| {
        let Some(preview) = part.preview() else {
            return next;
        };
        let asked = json!({"result": preview.name, "pattern": pattern});
        next.call(seen, READ_RESULT, asked)
    })
}

fn looked_for(seen: &Seen) -> Vec<String> {
    let mut terms = terms(&seen.asked);
    terms.truncate(LOOKED_FOR);
    terms
}

/// Takes down the lines that were found, as words of the document that they stand in.
pub(super) fn keep_lines(seen: &mut Seen) {
    let Some(source) = parts(seen).find_map(|part| part.arguments["source"].as_str()) else {
        return;
    };
    let Some(known) = seen
        .passages
        .iter()
        .find(|passage| passage.source.to_string() == source)
    else {
        return;
    };
    let known = known.clone();
    let of = |tool: &'static str| {
        let actions = seen.actions.iter();
        actions.filter(move |action| action.tool == tool && !action.failed())
    };
    let looked_at = of(RUN_CODE).find_map(looked_at);
    let tool = match looked_at {
        Some(_) => RUN_CODE,
        None => READ_RESULT,
    };
    let results = of(tool).filter_map(|action| action.result.as_deref());
    let told: Vec<&str> = results.flat_map(str::lines).collect();
    let asked = terms(&seen.asked);
    let mut lines: Vec<(usize, &str)> = told
        .iter()
        .filter_map(|line| numbered(line))
        .map(|line| (named(line, &asked), line))
        .collect();
    // The sort keeps the order of those with equally many words.
    lines.sort_by_key(|(named, _)| std::cmp::Reverse(*named));
    lines.truncate(KEPT_LINES);
    if lines.is_empty() {
        return;
    }
    let text: Vec<&str> = lines.iter().map(|(_, line)| *line).collect();
    let kept = Kept {
        title: known.title.clone(),
        lines: text.len(),
        looked_at,
    };
    let passage = Passage {
        range: None,
        // A line each is a paragraph each.
        text: text.join("\n\n"),
        ..known
    };
    seen.passages.push(passage);
    seen.kept = Some(kept);
}

/// The words of a line that stands behind its number.
fn numbered(line: &str) -> Option<&str> {
    let (number, words) = line.split_once(": ")?;
    let is_number = !number.is_empty() && number.chars().all(|letter| letter.is_ascii_digit());
    is_number.then_some(words)
}

/// How many of the terms a line names.
fn named(line: &str, terms: &[String]) -> usize {
    let said = words(line);
    let has = |term: &&String| said.iter().any(|word| same_word(word, term));
    terms.iter().filter(has).count()
}

/// Reads once more what a compaction took out before it was made use of; `None` where nothing was,
/// or where that was done.
pub(super) fn read_again(seen: &Seen) -> Option<Move> {
    let read = |action: &&Action| action.tool == "read_source";
    let pruned: Vec<&Value> = seen
        .actions
        .iter()
        .filter(read)
        .filter(|action| action.is_pruned())
        .map(|action| &action.arguments)
        .collect();
    let times = |arguments: &Value| {
        let same = |action: &&Action| read(action) && action.arguments == *arguments;
        seen.actions.iter().filter(same).count()
    };
    let mut places: Vec<&Value> = pruned
        .into_iter()
        .filter(|place| times(place) == 1)
        .collect();
    // The parts of a long document were looked through; what counts of them was kept.
    let is_part = |place: &Value| parts(seen).any(|part| part.arguments == *place);
    places.retain(|place| !is_part(place));
    if places.is_empty() {
        return None;
    }
    let words = format!(
        "{} that I read made room for newer things; I read there again.",
        counted(places.len(), "passage")
    );
    let next = places.into_iter().fold(Move::new(words), |next, place| {
        next.call(seen, "read_source", place.clone())
    });
    Some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A conversation in the stage that builds: what was called, and what came of it.
    fn seen(tools: &[&str], done: &[(&str, Value, &str)]) -> Seen {
        let tools: Vec<Value> = tools
            .iter()
            .map(|name| json!({"function": {"name": name}}))
            .collect();
        let report = "[harness] The helpers of the stage report:\n- [S1: \"the copper kettle\"] (bytes 0-90)";
        let mut messages = vec![
            json!({"role": "user", "content": "How fast does the copper kettle boil?"}),
            json!({"role": "user", "content": "[harness] Stage 3 of 4: build.\nWrite."}),
            json!({"role": "user", "content": report}),
        ];
        for (number, (tool, arguments, result)) in done.iter().enumerate() {
            let id = format!("c{number}");
            let function = json!({"name": tool, "arguments": arguments.to_string()});
            messages.push(
                json!({"role": "assistant", "tool_calls": [{"id": id, "function": function}]}),
            );
            messages.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
        }
        messages.push(
            json!({"role": "user", "content": "[harness] step 9 of 90; stage 3 of 4, build"}),
        );
        let body = json!({"tools": tools, "messages": messages});
        Seen::read(body.to_string().as_bytes())
    }

    fn part(start: u32) -> Value {
        json!({"source": "S1", "start": start, "end": start + PART_BYTES})
    }

    fn preview(name: &str) -> String {
        format!(
            "<untrusted id=\"a\">\n[12 KB of text: too long to be shown whole. results/{name}.txt holds it, and \
             read_result with \"result\": \"{name}\" shows any part.]\n[S1] Kettles (k.md, bytes 0-12000)\nThe copper"
        )
    }

    const FIRST: &str = "[S1] Kettles (k.md, bytes 0-90)\nThe copper kettle boils.\n\nS1 has 26000 bytes of text; read on with start 90.";

    fn first() -> (&'static str, Value, &'static str) {
        (
            "read_source",
            json!({"source": "S1", "start": 0, "end": 90}),
            FIRST,
        )
    }

    const TOOLS: [&str; 4] = ["read_source", "read_result", "run_code", "write_file"];

    #[test]
    fn a_document_that_one_call_can_t_show_is_read_in_parts() {
        let next = next(&seen(&TOOLS, &[first()])).unwrap();
        let places: Vec<Value> = next.calls.into_iter().map(|(_, place)| place).collect();
        assert_eq!(places, [part(0), part(PART_BYTES), part(2 * PART_BYTES)]);
        let short = FIRST.replace("26000", "9000");
        let short = (
            "read_source",
            json!({"source": "S1", "start": 0, "end": 90}),
            short.as_str(),
        );
        assert!(super::next(&seen(&TOOLS, &[short])).is_none());
    }

    #[test]
    fn a_program_goes_through_what_is_too_long_and_its_lines_may_be_quoted() {
        let (one, other) = (preview("a1"), preview("a2"));
        let mut done = vec![
            first(),
            ("read_source", part(0), one.as_str()),
            ("read_source", part(PART_BYTES), other.as_str()),
        ];
        let next = next(&seen(&TOOLS, &done)).unwrap();
        let code = next.calls[0].1["code"].as_str().unwrap();
        assert_eq!(next.calls[0].0, RUN_CODE);
        assert!(
            code.contains("files = [\"results/a1.txt\",\"results/a2.txt\"]"),
            "{code}"
        );
        assert!(code.contains("\"copper\""), "{code}");
        let printed =
            "exit status 0\nlines looked at: 340\n7: The copper kettle boils in 212 seconds.";
        done.push((RUN_CODE, json!({}), printed));
        let seen = seen(&TOOLS, &done);
        assert!(super::next(&seen).is_none());
        let kept = seen.kept.as_ref().unwrap();
        assert_eq!((kept.lines, kept.looked_at), (1, Some(340)));
        let last = seen.passages.last().unwrap();
        assert_eq!(last.text, "The copper kettle boils in 212 seconds.");
        assert_eq!(last.source.to_string(), "S1");
    }

    #[test]
    fn without_a_box_and_where_the_program_fails_the_words_are_looked_up() {
        let one = preview("a1");
        let done = [first(), ("read_source", part(0), one.as_str())];
        let next = next(&seen(&["read_source", "read_result"], &done)).unwrap();
        assert_eq!(next.calls[0].0, READ_RESULT);
        assert_eq!(next.calls[0].1["result"], "a1");
        let pattern = next.calls[0].1["pattern"].as_str().unwrap();
        assert!(pattern.contains("copper|"), "{pattern}");
        let failed = "exit status 1\nbash: python3: command not found";
        let mut done = done.to_vec();
        done.push((RUN_CODE, json!({}), failed));
        let next = super::next(&seen(&TOOLS, &done)).unwrap();
        assert_eq!(next.calls[0].0, READ_RESULT);
        let found = "results/a1.txt: 1 match\n31: The copper kettle boils in 212 seconds.";
        done.push((READ_RESULT, json!({"result": "a1"}), found));
        let seen = seen(&TOOLS, &done);
        assert!(super::next(&seen).is_none());
        assert_eq!(seen.kept.as_ref().unwrap().looked_at, None);
    }

    #[test]
    fn what_made_room_before_the_page_was_written_is_read_once_more() {
        let gone = "[858 bytes, kept in the log as the result of a2; recall finds words in it]";
        let place = json!({"source": "S1", "start": 10, "end": 90});
        let mut done = vec![("read_source", place.clone(), gone)];
        let next = read_again(&seen(&TOOLS, &done)).unwrap();
        assert_eq!(next.calls, [("read_source", place.clone())]);
        done.push(("read_source", place, FIRST));
        assert!(read_again(&seen(&TOOLS, &done)).is_none());
    }
}
