//! Which calls of the kernel a command may make: a list of those that programs need. What is not
//! on it is refused, above all what makes a namespace, traces, mounts, loads or keeps keys; an
//! engine's own list allows some of that, and says different things on each engine.

/// The profile in the form that engines take.
pub(super) const PROFILE: &str = include_str!("seccomp.json");

#[cfg(test)]
mod tests {
    use super::*;

    /// What each rule allows without a condition.
    fn allowed() -> Vec<String> {
        let profile: serde_json::Value = serde_json::from_str(PROFILE).expect("it is JSON");
        let rules = profile["syscalls"].as_array().expect("it has rules");
        rules
            .iter()
            .filter(|rule| rule["action"] == "SCMP_ACT_ALLOW" && rule.get("args").is_none())
            .flat_map(|rule| rule["names"].as_array().cloned().unwrap_or_default())
            .filter_map(|name| name.as_str().map(str::to_owned))
            .collect()
    }

    #[test]
    fn what_leads_out_of_the_box_is_not_on_the_list() {
        let allowed = allowed();
        for name in [
            "unshare",
            "setns",
            "mount",
            "umount2",
            "pivot_root",
            "chroot",
            "fsopen",
            "move_mount",
            "open_tree",
            "mount_setattr",
            "ptrace",
            "process_vm_readv",
            "process_vm_writev",
            "process_madvise",
            "pidfd_getfd",
            "kcmp",
            "keyctl",
            "add_key",
            "request_key",
            "io_uring_setup",
            "bpf",
            "perf_event_open",
            "userfaultfd",
            "init_module",
            "finit_module",
            "delete_module",
            "kexec_load",
            "reboot",
            "swapon",
            "settimeofday",
            "clock_settime",
            "adjtimex",
            "clock_adjtime",
            "sethostname",
            "setdomainname",
            "open_by_handle_at",
            "name_to_handle_at",
            "iopl",
            "ioperm",
            "acct",
            "quotactl",
            "syslog",
            "vhangup",
            "modify_ldt",
            "clone",
            "clone3",
            "socket",
            "personality",
        ] {
            assert!(!allowed.iter().any(|allowed| allowed == name), "{name}");
        }
    }
}
