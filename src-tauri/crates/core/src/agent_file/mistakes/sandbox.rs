//! What is said of a box that can't be.

use expect_test::expect;

use super::{problems, refused};
use crate::agent_file::parse;

#[test]
fn sizes_hosts_and_images_that_are_none_are_told() {
    refused(
        r#"
[tools]
allow = ["run_command"]
[sandbox]
image = "a b"
memory = "2"
disk = "1KiB"
hosts = ["http://a.org", "packages.example.org:443"]
"#,
        expect![[r#"
            5:9 sandbox.image | “a b” is not the name of an image. | Write it like this: image = "localhost/lab/tools:1"
            6:10 sandbox.memory | “2” is no size. | Write it like this: memory = "2GiB"
            7:8 sandbox.disk | sandbox.disk can't be 1KiB. | Give a size from 1MiB to 16TiB.
            8:10 sandbox.hosts | 'http://a.org' names no host: its port is none. | Write it like this: hosts = ["packages.example.org", "files.example.org"]
        "#]],
    );
}

#[test]
fn a_box_without_commands_is_a_warning() {
    let told = problems("[sandbox]\nmemory = \"1GiB\"");
    assert!(told.contains("runs no commands"), "{told}");
}

#[test]
fn a_box_and_a_command_to_check_by_are_read_and_written_as_they_are() {
    let text = r#"
name = "a"
[tools]
allow = ["run_code"]
[sandbox]
memory = "1536MiB"
cpus = 1.5
hosts = ["*.example.org:8443"]
[[done_when]]
command = "make test"
status = 2
matches = "2 failed"
"#;
    let spec = parse(text, "a.agent.toml").expect("it can be used");
    assert_eq!(spec.sandbox.memory.0, 1_536 << 20);
    let again = parse(&crate::agent_file::to_toml(&spec), "a.agent.toml");
    assert_eq!(again.expect("it can be used"), spec);
}
