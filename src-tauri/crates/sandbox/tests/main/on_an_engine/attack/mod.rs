//! The box under attack: what commands try from inside, on each engine and without one. A test ends
//! by looking whether the box is still one; none of what was tried may be seen on this machine.

mod beyond;
mod floods;
mod ground;
mod kernel;
mod reading;
mod rights;
mod walls;

/// Each test on each engine and in bubblewrap.
macro_rules! on_all {
    ($($name:ident),* $(,)?) => {
        mod podman {
            $(#[tokio::test]
            async fn $name() {
                super::$name(super::Ground::of("LONGREIN_TEST_PODMAN").await).await;
            })*
        }
        mod docker {
            $(#[tokio::test]
            async fn $name() {
                super::$name(super::Ground::of("LONGREIN_TEST_DOCKER").await).await;
            })*
        }
        mod bubblewrap {
            $(#[tokio::test]
            async fn $name() {
                super::$name(super::Ground::without_an_engine().await).await;
            })*
        }
    };
}

/// Each test on each engine: what bubblewrap does not hold, as it says itself.
macro_rules! on_engines {
    ($($name:ident),* $(,)?) => {
        mod podman_alone {
            $(#[tokio::test]
            async fn $name() {
                super::$name(super::Ground::of("LONGREIN_TEST_PODMAN").await).await;
            })*
        }
        mod docker_alone {
            $(#[tokio::test]
            async fn $name() {
                super::$name(super::Ground::of("LONGREIN_TEST_DOCKER").await).await;
            })*
        }
    };
}
use {on_all, on_engines};
