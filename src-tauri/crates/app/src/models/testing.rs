//! Asking a model what it can do.

use longrein_models::probe::{Extent, Report, probe};
use longrein_runtime::ports::CancellationToken;

use super::{Cost, misnamed, refused};
use crate::Longrein;
use crate::config::ToolMode;
use crate::error::AppError;
use crate::world::DEMO_MODEL;

/// What was found out of a model.
#[derive(Clone, PartialEq, Debug)]
pub struct Tested {
    /// The findings.
    pub report: Report,
    /// How the configuration has it asked for actions.
    pub tool_mode: ToolMode,
    /// The mode that would work, where the configuration's does not.
    pub better: Option<ToolMode>,
    /// What the questions cost.
    pub cost: Cost,
}

impl Longrein {
    /// Asks a model what it can do; with `cache`, two long questions more.
    ///
    /// # Errors
    /// When there is no such provider, its key is not there, or even the plainest question is not
    /// answered.
    pub async fn test_model(
        &self,
        name: &str,
        cache: bool,
        cancel: CancellationToken,
    ) -> Result<Tested, AppError> {
        if name == DEMO_MODEL {
            return Err(AppError::usage(
                format!("{DEMO_MODEL} follows rules, so that there is nothing to find out."),
                "Name a model of a provider; see: longrein models",
            ));
        }
        let models = self.inner.world.models();
        let reach = models.reach(name).map_err(misnamed)?;
        let config = models.asked(&reach).await?;
        let extent = Extent { cache, cancel };
        let report = probe(reach.config.format, &config, extent)
            .await
            .map_err(refused)?;
        let works = report.tool_mode();
        Ok(Tested {
            tool_mode: reach.tool_mode,
            better: works.filter(|mode| *mode != reach.tool_mode),
            cost: Cost::of(&report.used, models.known(name).price.as_ref()),
            report,
        })
    }
}
