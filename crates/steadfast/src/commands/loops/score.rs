use clap::Args;
use serde_json::{Value, json};
use steadfast_plan::{Dimension, Mark, SpecScore};
use steadfast_text::truncate;
use steadfast_work::loops::{AssessedRequest, Loops, Request, how};

use crate::environment;
use crate::error::CommandError;
use crate::here;
use crate::output::tell;

/// Score the clarity of a request, with the sentence behind each point; store nothing.
#[derive(Debug, Args)]
pub(in crate::commands) struct Score {
    /// Request in a sentence, or the file of a spec; `-` is standard input. [default: the stored score of the
    /// unfinished loop]
    request: Option<String>,
    /// Print JSON with stable keys: `{spec_score, fit_score, shape_chosen, familiar, marks: [{dimension, points, rule,
    /// line, text}], missing: [{dimension, question}]}`; for a stored score, `marks` and `missing` are null.
    #[arg(long)]
    json: bool,
}

impl Score {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let Some(request) = &self.request else { return self.show_stored() };
        // The clarity of words needs no repository; the familiarity of their folders does.
        let repository = here::repository().ok();
        let root = repository.as_ref().map_or_else(environment::cwd, |repository| repository.place.root.clone());
        let request = Request::read(request, &root, &environment::current())?;
        let loops = repository.as_ref().map(Loops::of).transpose()?;
        let judged = request.judge(loops.as_ref().map(Loops::ledger))?;
        if self.json {
            let mut shown = scores_json(&judged);
            shown["missing"] = missing(&judged.score);
            return tell!("{shown}");
        }
        show_marks(&judged.score)?;
        tell!("spec score {} of 10, fit to run alone {} of 75", judged.scores.spec, judged.scores.fit)?;
        tell!("{}", how(judged.scores.autonomy))?;
        questions(&judged.score).iter().try_for_each(|question| tell!("{question}"))
    }

    /// Shows the stored score of the unfinished loop.
    fn show_stored(&self) -> Result<(), CommandError> {
        let repository = here::repository()?;
        let looped = Loops::of(&repository)?.current()?;
        let (spec, fit) = (looped.scores.map(|scores| scores.spec), looped.scores.map(|scores| scores.fit));
        if self.json {
            let chosen = looped.autonomy();
            return tell!(
                "{}",
                json!({"spec_score": spec, "fit_score": fit, "shape_chosen": chosen, "familiar": null, "marks": null,
                    "missing": null})
            );
        }
        tell!("spec score {} of 10, fit to run alone {} of 75", spec.unwrap_or(0), fit.unwrap_or(0))?;
        looped.autonomy().map_or(Ok(()), |autonomy| tell!("{}", how(autonomy)))
    }
}

/// Maximum length of a quoted sentence, in characters.
const LONGEST: usize = 100;

/// Prints a line for each dimension with the sentence that earned its points.
pub(super) fn show_marks(score: &SpecScore) -> Result<(), CommandError> {
    for Mark { dimension, points, because, rule } in &score.marks {
        match because {
            Some(sentence) => {
                tell!("  {points}  {:<11}  {rule}: \"{}\"", dimension.as_str(), truncate(&sentence.text, LONGEST))?;
            }
            None => tell!("  {points}  {:<11}  {rule}", dimension.as_str())?,
        }
    }
    Ok(())
}

/// A question for each dimension without points; if all have points, for each that could have more.
pub(super) fn questions(score: &SpecScore) -> Vec<String> {
    unanswered(score).into_iter().map(|dimension| format!("{}: {}", dimension.as_str(), dimension.question())).collect()
}

pub(super) fn missing(score: &SpecScore) -> Value {
    let missing: Vec<Value> = unanswered(score)
        .into_iter()
        .map(|dimension| json!({"dimension": dimension, "question": dimension.question()}))
        .collect();
    json!(missing)
}

fn unanswered(score: &SpecScore) -> Vec<Dimension> {
    if score.is_clear() { Vec::new() } else { score.missing() }
}

pub(super) fn scores_json(judged: &AssessedRequest) -> Value {
    let marks: Vec<Value> = judged
        .score
        .marks
        .iter()
        .map(|mark| {
            let because = mark.because.as_ref();
            json!({"dimension": mark.dimension, "points": mark.points, "rule": mark.rule,
                "line": because.map(|sentence| sentence.line), "text": because.map(|sentence| &sentence.text)})
        })
        .collect();
    json!({"spec_score": judged.scores.spec, "fit_score": judged.scores.fit, "shape_chosen": judged.scores.autonomy,
        "familiar": judged.familiar, "marks": marks})
}
