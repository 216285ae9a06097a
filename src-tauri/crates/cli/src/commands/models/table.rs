//! The table of models.

use longrein_app::models::{ModelLine, Source, Sourced};

use crate::failure::Failure;
use crate::screen::{Screen, Tone};
use crate::text;

/// The widest column of names.
const NAME_COLUMNS: usize = 48;
/// Columns of a number of tokens.
const TOKEN_COLUMNS: usize = 7;
/// Columns of what a model can do.
const ABLE_COLUMNS: usize = 22;
/// Columns of a price.
const PRICE_COLUMNS: usize = 7;

/// What stands where nothing is known.
const UNKNOWN: &str = "–";

/// One line for each model, under a heading.
pub fn tell(models: &[ModelLine], screen: &mut Screen) -> Result<(), Failure> {
    let Some(longest) = models.iter().map(|line| line.model.chars().count()).max() else {
        return Ok(());
    };
    let names = longest.min(NAME_COLUMNS);
    let heading = row(
        names,
        [
            "",
            "window",
            "output",
            "can",
            "$ in",
            "$ out",
            "known from ($ for a million tokens)",
        ],
    );
    let heading = screen.result_painted(Tone::Quiet, &heading);
    screen.result(&heading)?;
    for line in models {
        let name = text::plain(&line.model);
        let known = &line.known;
        let price = |usd: fn(&ModelLine) -> Option<f64>| {
            usd(line).map_or_else(|| UNKNOWN.to_owned(), |usd| format!("{usd:.2}"))
        };
        let told = row(
            names,
            [
                &name,
                &tokens(known.window_tokens),
                &tokens(known.max_output_tokens),
                &able(line),
                &price(|line| Some(line.known.price?.value.input_usd)),
                &price(|line| Some(line.known.price?.value.output_usd)),
                &sources(line),
            ],
        );
        screen.result(told.trim_end())?;
    }
    Ok(())
}

fn row(names: usize, cells: [&str; 7]) -> String {
    let [name, window, output, able, input, out, from] = cells;
    let able = text::cell(able, ABLE_COLUMNS);
    // A name is never cut: it is what a person copies.
    let missing = names.saturating_sub(name.chars().count());
    format!(
        "{name}{}  {window:>TOKEN_COLUMNS$}  {output:>TOKEN_COLUMNS$}  {able}  {input:>PRICE_COLUMNS$}  {out:>PRICE_COLUMNS$}  {from}",
        " ".repeat(missing)
    )
}

/// A number of tokens as people say it: `128 k`, `1.05 M`.
fn tokens(known: Option<Sourced<u32>>) -> String {
    let Some(Sourced { value, .. }) = known else {
        return UNKNOWN.to_owned();
    };
    match value {
        0..10_000 => value.to_string(),
        10_000..1_000_000 => format!("{} k", value / 1_000),
        _ => {
            let millions = format!("{:.2}", f64::from(value) / 1e6);
            let short = millions.trim_end_matches('0').trim_end_matches('.');
            format!("{short} M")
        }
    }
}

fn able(line: &ModelLine) -> String {
    let known = &line.known;
    let by_schema = line.tool_mode == "schema";
    let abilities = [
        (
            known.tools.is_some_and(|it| it.value) && !by_schema,
            "tools",
        ),
        (by_schema, "tools (schema)"),
        (known.images.is_some_and(|it| it.value), "images"),
        (known.thinking.is_some_and(|it| it.value), "thinking"),
    ];
    let able: Vec<&str> = abilities
        .iter()
        .filter(|(can, _)| *can)
        .map(|(_, word)| *word)
        .collect();
    match able.is_empty() {
        true => UNKNOWN.to_owned(),
        false => able.join(" "),
    }
}

/// Who says all this, and from where on it costs more.
fn sources(line: &ModelLine) -> String {
    let known = &line.known;
    let all: [Option<Source>; 6] = [
        known.window_tokens.map(|it| it.source),
        known.max_output_tokens.map(|it| it.source),
        known.tools.map(|it| it.source),
        known.images.map(|it| it.source),
        known.thinking.map(|it| it.source),
        known.price.map(|it| it.source),
    ];
    let mut words: Vec<&str> = Vec::new();
    for source in all.into_iter().flatten() {
        if !words.contains(&source.words()) {
            words.push(source.words());
        }
    }
    let dearer = known
        .price
        .and_then(|price| price.value.dearer_above_tokens)
        .map(|above| format!("; dearer above {} k", above / 1_000));
    format!("{}{}", words.join(", "), dearer.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_said_as_people_say_them() {
        let said = |value| {
            tokens(Some(Sourced {
                value,
                source: Source::Server,
            }))
        };
        let told = [4_096, 32_768, 1_000_000, 1_048_576].map(said);
        assert_eq!(told, ["4096", "32 k", "1 M", "1.05 M"]);
        assert_eq!(tokens(None), "–");
    }
}
