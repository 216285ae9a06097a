//! A D-Bus and a gnome-keyring of a test's own. The bus starts nothing by itself.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::support::{Home, until};

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

/// A session in which the command finds a keychain.
pub struct Keyring {
    folder: PathBuf,
    address: String,
    bus: Child,
    keychain: Child,
}

impl Keyring {
    /// An unlocked keychain in this home; `None`, with the reason printed, where the programs are
    /// missing.
    pub fn start(home: &Home) -> Option<Self> {
        for program in ["dbus-daemon", "gnome-keyring-daemon"] {
            if !is_installed(program) {
                println!("skipped: {program} is not installed (scripts/setup test)");
                return None;
            }
        }
        let folder = home.path().join("session");
        for name in ["data", "run", "bus"] {
            fs::create_dir_all(folder.join(name)).unwrap();
        }
        let config = folder.join("bus.conf");
        let sockets = folder.join("bus").display().to_string();
        fs::write(&config, BUS.replace("FOLDER", &sockets)).unwrap();
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
        let address = address.trim().to_owned();
        let mut starting = Command::new("gnome-keyring-daemon");
        starting
            .args(["--foreground", "--components=secrets", "--unlock"])
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", home.path())
            .env("XDG_DATA_HOME", folder.join("data"))
            .env("XDG_RUNTIME_DIR", folder.join("run"))
            .env("DBUS_SESSION_BUS_ADDRESS", &address)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut keychain = starting.spawn().unwrap();
        let mut password = keychain.stdin.take().unwrap();
        password.write_all(b"a password").unwrap();
        drop(password);
        let session = Self {
            folder,
            address,
            bus,
            keychain,
        };
        until("the keychain", || {
            let mut command = home.command(&["keys", "store", "--json"]);
            session.enter(&mut command);
            let said = command.output().unwrap().stdout;
            String::from_utf8_lossy(&said)
                .contains("\"standing\":\"ready\"")
                .then_some(())
        });
        Some(session)
    }

    /// Lets a command run in this session.
    pub fn enter(&self, command: &mut Command) {
        command
            .env("XDG_RUNTIME_DIR", self.folder.join("run"))
            .env("DBUS_SESSION_BUS_ADDRESS", &self.address);
    }
}

impl Drop for Keyring {
    fn drop(&mut self) {
        for child in [&mut self.keychain, &mut self.bus] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn is_installed(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(program).exists())
}
