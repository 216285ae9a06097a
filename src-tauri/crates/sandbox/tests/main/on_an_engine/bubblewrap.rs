//! The box without an engine: what of the walls stands there too.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use longrein_sandbox::bubblewrap::{Bubblewrap, BubblewrapSpec};
use longrein_sandbox::container::hand_over;
use longrein_sandbox::engine::Places;
use longrein_sandbox::session::Session;
use longrein_sandbox::wire::{End, Receipt, Start, Stream};
use longrein_sandbox::{Backing, BubblewrapBox, Sandbox};

use super::place::{script, within};

/// What must fail here. What only an engine can hold is not among it.
const REFUSED: &[(&str, &str)] = &[
    ("being root", "[ \"$(id -u)\" = 0 ]"),
    (
        "having capabilities",
        "grep -qE 'Cap(Prm|Eff|Amb|Inh):.*[1-9a-f]' /proc/self/status",
    ),
    (
        "privileges by other programs",
        "grep -q 'NoNewPrivs:.*0' /proc/self/status",
    ),
    ("writing to /usr", "echo x > /usr/x"),
    ("writing to /etc", "echo x > /etc/x"),
    ("writing to /", "mkdir /x"),
    ("reading who is here", "cat /etc/shadow"),
    ("somebody's home", "ls /home /root"),
    ("the folders of the system", "ls /var /sys /boot"),
    ("a user namespace", "unshare -U true"),
    ("mounting", "mount -t tmpfs none /tmp"),
    ("another root", "chroot / true"),
    (
        "an interface beside the loopback",
        "grep -v lo: /proc/net/dev | grep -q :",
    ),
    (
        "other processes",
        "[ $(ls /proc | grep -c '^[0-9]') -gt 8 ]",
    ),
    ("a device", "mknod /workspace/d b 8 0"),
    ("the machine's memory", "head -c 1 /dev/mem"),
    ("writing to /proc/sys", "echo 1 > /proc/sys/kernel/panic"),
    ("another agent", "echo x > /longrein/resident"),
    ("the folder of sockets", "touch /run/longrein/x"),
];

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
async fn no_way_out_is_open() {
    let place = Place::new().await;
    let session = place.enter().await;
    let works = "echo x > x && cp /bin/true /tmp/t && /tmp/t && python3 -c 'print(6 * 7)'";
    let (receipt, output) = run(&session, start("works", works)).await;
    assert_eq!(
        (receipt.end, output.as_str()),
        (End::Exited { status: 0 }, "42\n")
    );
    let mut wrong = String::new();
    for (number, (what, script)) in REFUSED.iter().enumerate() {
        let (receipt, output) = run(&session, start(&format!("c{number}"), script)).await;
        if receipt.end == (End::Exited { status: 0 }) {
            let _ = writeln!(wrong, "succeeds: {what}: {output}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    let state = format!("ls {0} || ls {0}/receipts", place.path("state").display());
    let (receipt, output) = run(&session, start("state", &state)).await;
    assert_ne!(receipt.end, End::Exited { status: 0 }, "{output}");
    session.stop().await.expect("it ends");
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
async fn limits_hold_and_the_box_stays_one() {
    let place = Place::new().await;
    let session = place.enter().await;
    let hog = "python3 -c 'x = bytearray(1 << 30)'";
    let (receipt, output) = run(&session, start("hog", hog)).await;
    assert_ne!(receipt.end, End::Exited { status: 0 }, "{output}");
    let mut bomb = start("bomb", "b() { b | b & }; b; sleep 30");
    bomb.limits.time_ms = 1_500;
    let (receipt, _) = run(&session, bomb).await;
    // It hits its limit of processes or of time, whichever comes first.
    assert_ne!(receipt.end, End::Exited { status: 0 });
    let (receipt, output) = run(
        &session,
        start("tmp", "dd if=/dev/zero of=/tmp/x bs=1M count=32"),
    )
    .await;
    assert_ne!(receipt.end, End::Exited { status: 0 }, "{output}");
    let mut growing = start("file", "dd if=/dev/zero of=big bs=1M count=8");
    growing.limits.file_bytes = 1 << 20;
    let (receipt, _) = run(&session, growing).await;
    assert_ne!(receipt.end, End::Exited { status: 0 });
    assert_eq!(
        std::fs::metadata(place.path("workspace/big"))
            .expect("it is there")
            .len(),
        1 << 20
    );
    let (receipt, output) = run(&session, start("well", "echo well")).await;
    assert_eq!(
        (receipt.end, output.as_str()),
        (End::Exited { status: 0 }, "well\n")
    );
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
