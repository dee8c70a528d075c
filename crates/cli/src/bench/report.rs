//! The validation as a page: a summary, and a table of figures per case with a column per planner.

use std::fmt::Write;

use promenade_crowd::validation::{Case, Outcome, Row, Verdict};

/// What came of a case with each planner.
pub(super) struct Result<'c> {
    pub(super) case: &'c Case,
    pub(super) outcomes: Vec<(String, Outcome)>,
}

/// The tables in Markdown. `pictures` is where the pictures are, seen from the page.
pub(super) fn tables(results: &[Result<'_>], planners: &[String], pictures: Option<&str>) -> String {
    let mut page = String::new();
    summary(&mut page, results, planners);
    for result in results {
        // Writing into a string cannot fail.
        let _ = case(&mut page, result, pictures);
    }
    page
}

fn summary(page: &mut String, results: &[Result<'_>], planners: &[String]) {
    page.push_str("| case |");
    planners.iter().for_each(|planner| page.push_str(&format!(" `{planner}` |")));
    page.push_str("\n|---|");
    planners.iter().for_each(|_| page.push_str("---|"));
    for result in results {
        let name = result.case.name;
        page.push_str(&format!("\n| [{name}](#{name}) |"));
        for planner in planners {
            let outcome =
                result.outcomes.iter().find(|(known, _)| known == planner).map(|(_, outcome)| outcome);
            page.push_str(&format!(" {} |", outcome.map_or("–".to_owned(), verdict)));
        }
    }
    page.push_str("\n\n");
}

/// One word for a case: it passes when no figure fails.
fn verdict(outcome: &Outcome) -> String {
    let count = |wanted: Verdict| outcome.rows.iter().filter(|row| row.verdict == wanted).count();
    match (count(Verdict::Pass), count(Verdict::Fail)) {
        (0, 0) => "documented".to_owned(),
        (_, 0) => "pass".to_owned(),
        (passed, failed) => format!("**fail** ({failed} of {})", passed + failed),
    }
}

fn case(page: &mut String, result: &Result<'_>, pictures: Option<&str>) -> std::fmt::Result {
    let Case { name, question, source, .. } = result.case;
    writeln!(page, "## {name}\n\n{question} Source: {source}.\n")?;
    write!(page, "| figure | unit | expected |")?;
    result.outcomes.iter().try_for_each(|(planner, _)| write!(page, " `{planner}` |"))?;
    write!(page, "\n|---|---|---|")?;
    result.outcomes.iter().try_for_each(|_| write!(page, "---|"))?;
    let mut figures: Vec<&Row> = Vec::new();
    for row in result.outcomes.iter().flat_map(|(_, outcome)| &outcome.rows) {
        if !figures.iter().any(|known| known.figure == row.figure) {
            figures.push(row);
        }
    }
    let mut notes: Vec<String> = Vec::new();
    for figure in figures {
        write!(page, "\n| {} | {} | {} |", figure.figure, figure.unit, figure.expected)?;
        for (planner, outcome) in &result.outcomes {
            let Some(row) = outcome.rows.iter().find(|row| row.figure == figure.figure) else {
                write!(page, " |")?;
                continue;
            };
            let mark = match row.verdict {
                Verdict::Pass => " pass",
                Verdict::Fail => " **fail**",
                Verdict::Documented => "",
            };
            write!(page, " {}{mark} |", number(row.measured))?;
            if !row.note.is_empty() {
                let note = format!("{}: {}", row.figure, row.note);
                // Such as how many were left, which differs from planner to planner.
                let is_common = row.note == figure.note;
                let note = if is_common { note } else { format!("{note} (`{planner}`)") };
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
    }
    page.push_str("\n\n");
    notes.iter().try_for_each(|note| writeln!(page, "* {note}"))?;
    if !notes.is_empty() {
        page.push('\n');
    }
    if let (Some(folder), Some((planner, outcome))) = (pictures, result.outcomes.first()) {
        for chart in &outcome.charts {
            writeln!(page, "![{}]({folder}/{name}_{}_{planner}.png)\n", chart.title, chart.name)?;
        }
        if outcome.scene.is_some() && outcome.charts.is_empty() {
            writeln!(page, "![{name} with {planner}]({folder}/{name}_{planner}.png)\n")?;
        }
    }
    Ok(())
}

fn number(value: f64) -> String {
    match value {
        _ if !value.is_finite() => "never".to_owned(),
        _ if value == value.round() => format!("{value:.0}"),
        _ if value.abs() >= 100.0 => format!("{value:.0}"),
        _ if value.abs() >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use promenade_crowd::validation::named;

    fn row(figure: &str, measured: f64, verdict: Verdict, note: &str) -> Row {
        Row {
            figure: figure.to_owned(),
            measured,
            unit: "m/s",
            expected: "at most 1".to_owned(),
            verdict,
            note: note.to_owned(),
        }
    }

    #[test]
    fn a_page_has_a_column_per_planner_and_says_who_fails() {
        let of = |rows| Outcome { rows, ..Outcome::default() };
        let outcomes = vec![
            ("sfm".to_owned(), of(vec![row("speed", 0.5, Verdict::Pass, "")])),
            ("gcf".to_owned(), of(vec![row("speed", f64::INFINITY, Verdict::Fail, "stuck")])),
        ];
        let results = [Result { case: named("lanes").expect("there"), outcomes }];
        let page = tables(&results, &["sfm".to_owned(), "gcf".to_owned(), "orca".to_owned()], Some("pics"));
        assert!(page.contains("| [lanes](#lanes) | pass | **fail** (1 of 1) | – |"), "{page}");
        assert!(page.contains("| speed | m/s | at most 1 | 0.50 pass | never **fail** |"), "{page}");
        assert!(page.contains("* speed: stuck (`gcf`)"), "{page}");
    }
}
