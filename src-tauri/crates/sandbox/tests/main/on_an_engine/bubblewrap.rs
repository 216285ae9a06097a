//! The box without an engine: what is its own. What is tried against every box is in `attack`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use longrein_sandbox::bubblewrap::{Bubblewrap, BubblewrapSpec};
use longrein_sandbox::container::hand_over;
use longrein_sandbox::engine::Places;
use longrein_sandbox::session::Session;
use longrein_sandbox::wire::{End, Receipt, Start, Stream};
use longrein_sandbox::{Backing, BubblewrapBox, Sandbox};

use super::place::{script, within};

struct Place {
    folder: tempfile::TempDir,
    bubblewrap: Bubblewrap,
}

impl Place {
    async fn new() -> Self {
        let bubblewrap = Bubblewrap::find().await.expect("it works here");
        let folder = tempfile::tempdir().expect("a folder");
        use std::os::unix::fs::PermissionsExt;
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.path(), open).expect("it is ours");
        std::fs::create_dir(folder.path().join("workspace")).expect("a workspace");
        Self { folder, bubblewrap }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn spec(&self) -> BubblewrapSpec {
        BubblewrapSpec {
            state: self.path("state"),
            workspace: self.path("workspace"),
            read_only: false,
            shared: self.path("shared"),
            tmp_bytes: 16 << 20,
        }
    }

    async fn enter(&self) -> Session {
        let spec = self.spec();
        hand_over(&spec.workspace).expect("it is ours");
        within(self.bubblewrap.connect(&spec))
            .await
            .expect("it answers")
            .0
    }
}

fn start(id: &str, text: &str) -> Start {
    let environment = BTreeMap::from([(
        "PATH".to_owned(),
        "/usr/sbin:/usr/bin:/sbin:/bin".to_owned(),
    )]);
    let mut start = script(id, &environment, text);
    start.limits = Bubblewrap::limits(start.limits, 512 << 20, 64);
    start
}

async fn run(session: &Session, start: Start) -> (Receipt, String) {
    let id = start.command.clone();
    within(session.start(start)).await.expect("it is taken");
    let receipt = within(session.wait(&id)).await.expect("it ends");
    let output = within(session.command(&id).read_all(Stream::Output, 1 << 20)).await;
    (
        receipt,
        String::from_utf8_lossy(&output.expect("it can be read")).into_owned(),
    )
}

#[tokio::test]
async fn a_command_goes_on_without_the_app_and_its_tree_can_be_killed() {
    let place = Place::new().await;
    let session = place.enter().await;
    let text = "echo $$; (setsid sleep 300 &); while ! [ -e go ]; do sleep 0.02; done; echo after";
    within(session.start(start("long", text)))
        .await
        .expect("it starts");
    within(session.read("long", Stream::Output, 0, true))
        .await
        .expect("it writes");
    let life = session.life().to_owned();
    drop(session);
    let session = place.enter().await;
    assert_eq!(session.life(), life);
    std::fs::write(place.path("workspace/go"), b"").expect("it is ours");
    let receipt = within(session.wait("long")).await.expect("it ends");
    assert_eq!(receipt.end, End::Exited { status: 0 });
    within(session.start(start("tree", "(setsid sleep 301 &); echo ready; sleep 302")))
        .await
        .expect("it starts");
    within(session.read("tree", Stream::Output, 0, true))
        .await
        .expect("it writes");
    session.command("tree").kill().await.expect("it is killed");
    let receipt = within(session.wait("tree")).await.expect("it ends");
    assert_eq!(receipt.end, End::Killed);
    session.stop().await.expect("it ends");
}

#[tokio::test]
async fn the_door_itself_is_nothing_that_a_command_leaves_behind() {
    let place = Place::new().await;
    let session = place.enter().await;
    for number in 0..20 {
        let (receipt, _) = run(&session, start(&format!("plain{number}"), "true")).await;
        assert_eq!(
            (receipt.end, receipt.left_behind),
            (End::Exited { status: 0 }, 0)
        );
    }
    session.stop().await.expect("it ends");
}

#[tokio::test]
async fn a_variable_of_a_command_does_not_reach_the_door() {
    let place = Place::new().await;
    let session = place.enter().await;
    let mut preloading = start("door", "echo $LD_PRELOAD");
    let library = place.path("workspace/none.so").display().to_string();
    preloading
        .environment
        .insert("LD_PRELOAD".to_owned(), library.clone());
    let (receipt, output) = run(&session, preloading).await;
    assert_eq!(receipt.end, End::Exited { status: 0 });
    // Once from each program inside that looks for it, and from the door never.
    assert!(output.ends_with(&format!("{library}\n")), "{output}");
    assert!(!output.contains("bwrap"), "{output}");
    session.stop().await.expect("it ends");
}

#[tokio::test]
async fn without_an_engine_the_box_is_a_bubblewrap_and_is_removed_with_all_it_holds() {
    let place = Place::new().await;
    // Some machines have an engine at a usual place; then that is what is found.
    match Backing::find(&Places::default())
        .await
        .expect("nothing is named")
    {
        Backing::Bubblewrap {
            bubblewrap,
            engines,
        } => {
            assert_eq!(bubblewrap, place.bubblewrap);
            assert!(!engines.tried.is_empty());
        }
        Backing::Engine(_) => {}
        Backing::Nothing(nothing) => panic!("{nothing}"),
    }
    let made = BubblewrapBox {
        bubblewrap: place.bubblewrap.clone(),
        spec: place.spec(),
        memory_bytes: 512 << 20,
        processes: 64,
    };
    hand_over(&made.spec.workspace).expect("it is ours");
    let (session, _incoming) = within(made.connect()).await.expect("it answers");
    let mut echo = script("a", &made.environment(), "echo $HOME; ulimit -p; ulimit -c");
    echo.limits = made.limits(echo.limits);
    let (receipt, output) = run(&session, echo).await;
    assert_eq!(
        (receipt.end, output.as_str()),
        (End::Exited { status: 0 }, "/tmp\n64\n0\n")
    );
    assert!(!made.pause().await.expect("it is no fault"), "it goes on");
    within(made.remove()).await.expect("it goes");
    assert!(!session.is_open());
    assert!(!place.path("state").exists());
}
