mod attack;
mod bubblewrap;
mod calls;
pub(crate) mod code;
mod idle;
mod image;
mod kill;
mod leftovers;
mod life;
mod network;
pub(crate) mod place;
mod reach;
mod told;

/// Each test on each engine, under the engine's name.
macro_rules! on_both {
    ($($name:ident),* $(,)?) => {
        mod podman {
            $(#[tokio::test]
            async fn $name() {
                super::$name(super::Place::of("LONGREIN_TEST_PODMAN").await).await;
            })*
        }
        mod docker {
            $(#[tokio::test]
            async fn $name() {
                super::$name(super::Place::of("LONGREIN_TEST_DOCKER").await).await;
            })*
        }
    };
}
use on_both;
