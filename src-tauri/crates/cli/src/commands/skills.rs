//! `skills`: what there is, and what a person does with it.

mod told;

use std::path::{Path, PathBuf};

use longrein_app::Longrein;
use longrein_app::skills::{
    Catalogue, Listed, Review, Severity, SkillError, SkillOffer, check, scaffold,
};
use serde_json::json;

use super::drive::project;
use crate::arguments::{self, SkillsAction, SkillsAdd};
use crate::ask;
use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::screen::Screen;
use crate::text;

/// `skills …`.
pub async fn skills(context: &Context, skills: arguments::Skills) -> Result<Status, Failure> {
    let mut screen = context.screen();
    match skills.action.unwrap_or(SkillsAction::List) {
        SkillsAction::List => list(&context.open()?, &mut screen),
        SkillsAction::Add(add) => added(&context.open()?, &add, &mut screen).await,
        SkillsAction::Check(checked) => checked_all(&checked.paths, &mut screen),
        SkillsAction::Remove(removed) => {
            let folder = context.open()?.remove_skill(&removed.name)?;
            let name = text::plain(&removed.name);
            if screen.is_json() {
                screen.json(&json!({"skill": removed.name, "removed": true, "folder": folder}))?;
            } else {
                screen.result(&format!("Removed {name}"))?;
            }
            Ok(Status::Done)
        }
        SkillsAction::New(new) => made(context, &new, &mut screen),
    }
}

fn list(app: &Longrein, screen: &mut Screen) -> Result<Status, Failure> {
    let catalogue = app.skills(project().as_deref()).catalogue();
    if screen.is_json() {
        for skill in &catalogue.skills {
            screen.json(skill)?;
        }
        return Ok(told::faults(&catalogue, screen));
    }
    for skill in &catalogue.skills {
        told::skill(skill, screen)?;
    }
    Ok(told::faults(&catalogue, screen))
}

/// What is to be added.
enum Wanted {
    /// Something to be copied or unpacked.
    Offer(Box<SkillOffer>),
    /// A skill of a place that is looked at anyway: it is approved where it lies.
    InPlace {
        folder: PathBuf,
        review: Box<Review>,
    },
}

impl Wanted {
    fn review(&self) -> &Review {
        match self {
            Self::Offer(offer) => offer.review(),
            Self::InPlace { review, .. } => review,
        }
    }
}

async fn added(app: &Longrein, add: &SkillsAdd, screen: &mut Screen) -> Result<Status, Failure> {
    let project = project();
    let skills = app.skills(project.as_deref());
    let catalogue = skills.catalogue();
    let wanted = match in_place(&catalogue, &add.path) {
        Some(listed) => Wanted::InPlace {
            folder: listed.folder.clone(),
            review: Box::new(skills.review_at(&listed.folder).map_err(failure)?),
        },
        None => Wanted::Offer(Box::new(app.prepare_skill(&add.path)?)),
    };
    let review = wanted.review().clone();
    told::review(&review, screen)?;
    if add
        .hash
        .as_ref()
        .is_some_and(|hash| hash != review.hash.as_str())
    {
        return Err(Failure::said(
            Status::Failed,
            format!(
                "It is not the skill of that hash: this one is {}.",
                review.hash
            ),
            "Look at it again; nothing was installed.",
        ));
    }
    if !add.yes && !agreed(&wanted, screen).await? {
        return Ok(Status::Cancelled);
    }
    let (record, words) = match wanted {
        Wanted::Offer(offer) => (app.install_skill(*offer, &review.hash)?, "Installed"),
        Wanted::InPlace { folder, .. } => {
            let approved = app.approve_skill(project.as_deref(), &folder, &review.hash);
            (approved?, "Approved")
        }
    };
    if screen.is_json() {
        screen.json(&json!({
            "skill": record.name,
            "added": true,
            "folder": record.folder,
            "hash": review.hash,
        }))?;
    } else {
        let folder = text::plain(&record.folder.display().to_string());
        screen.result(&format!("{words} {} ({folder})", text::plain(&record.name)))?;
    }
    Ok(Status::Done)
}

/// The skill of the catalogue that lies at this path.
fn in_place<'c>(catalogue: &'c Catalogue, path: &Path) -> Option<&'c Listed> {
    let real = path.canonicalize().ok()?;
    catalogue.skills.iter().find(|skill| skill.folder == real)
}

async fn agreed(wanted: &Wanted, screen: &mut Screen) -> Result<bool, Failure> {
    if !ask::somebody_is_there(screen) {
        return Err(Failure::usage(
            "Nobody is there to say yes to this skill.",
            format!(
                "Read the review, then say it with: --yes --hash {}",
                wanted.review().hash
            ),
        ));
    }
    let question = match wanted {
        Wanted::Offer(_) if wanted.review().change.is_some() => {
            "Put it in the place of the one that is installed? y/N:"
        }
        Wanted::Offer(_) => "Install it? y/N:",
        Wanted::InPlace { .. } => "Approve it as it is? y/N:",
    };
    ask::confirmed(question, screen).await
}

fn checked_all(paths: &[PathBuf], screen: &mut Screen) -> Result<Status, Failure> {
    let mut wrong = 0;
    for path in paths {
        let checked = match check(path) {
            Ok(checked) => checked,
            Err(error) => {
                failure(error).told();
                wrong += 1;
                continue;
            }
        };
        let sound = checked.is_publishable();
        wrong += u32::from(!sound);
        if screen.is_json() {
            screen.json(&json!({
                "path": path,
                "skill": checked.name,
                "valid": sound,
                "usable": checked.is_usable(),
                "problems": checked.problems,
            }))?;
            continue;
        }
        for problem in &checked.problems {
            screen.result(&told::problem_line(path, problem))?;
        }
        if sound {
            let advice = checked.problems.len();
            let said = match advice {
                0 => String::new(),
                1 => ", with 1 piece of advice".to_owned(),
                more => format!(", with {more} pieces of advice"),
            };
            screen.result(&format!("{} is valid{said}", text::plain(&checked.name)))?;
        }
    }
    if wrong == 0 {
        return Ok(Status::Done);
    }
    let of = paths.len();
    Err(Failure::usage(
        match (wrong, of) {
            (1, 1) => "It does not follow the specification.".to_owned(),
            (wrong, of) => format!("{wrong} of {of} do not follow the specification."),
        },
        "Mend what is told above, then check again.",
    ))
}

fn made(
    context: &Context,
    new: &arguments::SkillsNew,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    let folder = scaffold(&new.to, &new.name, &new.description).map_err(failure)?;
    if screen.is_json() {
        screen.json(&json!({"skill": new.name, "made": true, "folder": folder}))?;
        return Ok(Status::Done);
    }
    let shown = folder.display().to_string();
    screen.result(&format!("Made {}", text::plain(&shown)))?;
    let word = text::shell_word(&shown);
    let check = context.command(&format!("skills check {word}"));
    let add = context.command(&format!("skills add {word}"));
    screen.say(&format!(
        "Write its SKILL.md, then: {check}\nInstall it with: {add}"
    ));
    Ok(Status::Done)
}

fn failure(error: SkillError) -> Failure {
    longrein_app::AppError::from(error).into()
}

/// How a problem's severity is written, as compilers do.
fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Advice => "advice",
        Severity::Error | Severity::Fatal => "error",
    }
}
