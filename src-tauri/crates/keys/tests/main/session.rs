//! A D-Bus and a gnome-keyring of a test's own, in a folder of its own. The bus starts nothing by
//! itself, so that there is a keychain only where the test starts one.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use keyring_core::api::CredentialStoreApi as _;
use tempfile::TempDir;

use crate::script::Worker;

/// How long a program may take to be ready.
const START_LIMIT: Duration = Duration::from_secs(20);

/// How often it is looked at meanwhile.
const POLL: Duration = Duration::from_millis(20);

/// The name by which a keychain is found on the bus.
const KEYCHAIN: &str = "org.freedesktop.secrets";

const BUS: &str = r#"<!DOCTYPE busconfig PUBLIC
 "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:dir=FOLDER</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"#;

/// How a keychain is started.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// With the password of the login keyring, which is made if it is not there.
    Unlocked,
    /// Without: a login keyring that is there stays locked.
    Locked,
}

/// A session in which a store finds its keychain.
pub struct Session {
    folder: TempDir,
    bus: Option<(Child, String)>,
    keychain: Option<Child>,
}

impl Session {
    /// A session without a bus.
    pub fn without_bus() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            bus: None,
            keychain: None,
        }
    }

    /// A session with a bus; `None`, with the reason printed, where the programs are missing.
    pub fn with_bus() -> Option<Self> {
        for program in ["dbus-daemon", "gnome-keyring-daemon"] {
            if !is_installed(program) {
                println!("skipped: {program} is not installed (scripts/setup test)");
                return None;
            }
        }
        let mut session = Self::without_bus();
        session.bus = Some(session.start_bus());
        Some(session)
    }

    /// A session with a bus and a keychain.
    pub fn with_keychain(start: Start) -> Option<Self> {
        let mut session = Self::with_bus()?;
        session.start_keychain(start);
        Some(session)
    }

    /// Starts a keychain, in place of the one that runs.
    pub fn start_keychain(&mut self, start: Start) {
        self.stop_keychain();
        let mut command = Command::new("gnome-keyring-daemon");
        command
            .args(["--foreground", "--components=secrets"])
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(self.environment())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if start == Start::Unlocked {
            command.arg("--unlock");
        }
        let mut keychain = command.spawn().unwrap();
        let mut password = keychain.stdin.take().unwrap();
        if start == Start::Unlocked {
            password.write_all(b"a password").unwrap();
        }
        drop(password);
        self.keychain = Some(keychain);
        self.wait_for(true);
    }

    /// Ends the keychain.
    pub fn stop_keychain(&mut self) {
        if let Some(mut keychain) = self.keychain.take() {
            end(&mut keychain);
            self.wait_for(false);
        }
    }

    /// Ends the bus, and with it the keychain.
    pub fn stop_bus(&mut self) {
        self.stop_keychain();
        if let Some((bus, _)) = &mut self.bus {
            end(bus);
        }
    }

    /// Begins a script of a store in the keychain of this session.
    pub fn begin(&self, script: &str) -> Worker {
        let environment = self.environment();
        let environment: Vec<(&str, &str)> = environment
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        Worker::begin(
            &format!("keychain\n{script}"),
            self.folder.path(),
            &environment,
        )
    }

    /// What a script says, from its beginning to its end.
    pub fn says(&self, script: &str) -> String {
        self.begin(script).says()
    }

    fn environment(&self) -> Vec<(&'static str, String)> {
        let inside = |name: &str| self.folder.path().join(name).display().to_string();
        let mut environment = vec![
            ("HOME", inside("home")),
            ("XDG_DATA_HOME", inside("data")),
            ("XDG_RUNTIME_DIR", inside("run")),
        ];
        if let Some((_, address)) = &self.bus {
            environment.push(("DBUS_SESSION_BUS_ADDRESS", address.clone()));
        }
        environment
    }

    fn start_bus(&self) -> (Child, String) {
        let folder = self.folder.path();
        for name in ["home", "data", "run", "bus"] {
            std::fs::create_dir(folder.join(name)).unwrap();
        }
        let sockets = folder.join("bus").display().to_string();
        let config: PathBuf = folder.join("bus.conf");
        std::fs::write(&config, BUS.replace("FOLDER", &sockets)).unwrap();
        let mut bus = Command::new("dbus-daemon")
            .arg(format!("--config-file={}", config.display()))
            .args(["--nofork", "--print-address=1"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut address = String::new();
        let mut output = BufReader::new(bus.stdout.take().unwrap());
        output.read_line(&mut address).unwrap();
        (bus, address.trim().to_owned())
    }

    /// Waits until a keychain is on the bus, or none is.
    fn wait_for(&self, there: bool) {
        let (_, address) = self.bus.as_ref().unwrap();
        let builder = zbus::blocking::connection::Builder::address(address.as_str());
        let connection = builder.unwrap().build().unwrap();
        let bus = zbus::blocking::fdo::DBusProxy::new(&connection).unwrap();
        let until = Instant::now() + START_LIMIT;
        while bus.name_has_owner(KEYCHAIN.try_into().unwrap()).unwrap() != there {
            assert!(Instant::now() < until, "the keychain takes too long");
            std::thread::sleep(POLL);
        }
    }
}

/// Puts an entry into the keychain that differs from one of ours in an attribute of its own only, as
/// another program or a restored copy may leave it.
pub fn twin(name: &str, text: &str) {
    let store = zbus_secret_service_keyring_store::Store::new().unwrap();
    let own = HashMap::from([("target", "default")]);
    let entry = store.build("longrein", name, Some(&own)).unwrap();
    entry.set_password(text).unwrap();
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(keychain) = &mut self.keychain {
            end(keychain);
        }
        if let Some((bus, _)) = &mut self.bus {
            end(bus);
        }
    }
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

fn is_installed(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(program).exists())
}
