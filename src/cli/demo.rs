//! A server with a sample fleet in a throw-away database.

use super::Failure;

/// Runs the demo until it is told to end.
pub(super) async fn run(_port: u16) -> Result<(), Failure> {
    Err(Failure::Failed(anyhow::anyhow!("not built yet")))
}
