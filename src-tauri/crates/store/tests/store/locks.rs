//! One driver per tree.

use std::process::Command;

use longrein_protocol::event::RunCancelled;
use longrein_store::lock::{driven_by, end_holder};
use longrein_store::{Holder, LockError, Log, LogError, Store, TreeLock};
use rustix::process::{Pid, Signal, kill_process};

use crate::processes::{Other, run_of_seed};
use crate::support::{append, begun, block_on};

#[test]
fn a_lock_that_is_held_names_its_holder_and_is_free_when_it_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let run = run_of_seed(1);
    block_on(async {
        assert_eq!(TreeLock::holder(folder.path(), run), None);
        let (lock, first) = TreeLock::acquire(&store, run).await.unwrap();
        let Err(LockError::Held {
            holder: Some(holder),
            tree,
        }) = TreeLock::acquire(&store, run).await
        else {
            panic!("it was taken twice");
        };
        assert_eq!((tree, holder.pid), (run, std::process::id()));
        assert_eq!(TreeLock::holder(folder.path(), run), Some(holder));
        assert_eq!(driven_by(folder.path(), std::process::id()), [run]);
        let (_other, _) = TreeLock::acquire(&store, run_of_seed(2)).await.unwrap();

        drop(lock);
        assert_eq!(TreeLock::holder(folder.path(), run), None);
        let (_lock, second) = TreeLock::acquire(&store, run).await.unwrap();
        assert!(second > first);
    });
}

#[test]
fn a_lock_ends_with_its_process() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let run = run_of_seed(1);
    let mut other = Other::start("hold", folder.path(), 1);
    other.ready();
    block_on(async {
        let refused = TreeLock::acquire(&store, run).await;
        let Err(LockError::Held {
            holder: Some(holder),
            ..
        }) = refused
        else {
            panic!("it was not held");
        };
        assert_eq!(holder.pid, other.pid());
        let mut both = vec![run, run_of_seed(2)];
        both.sort_unstable();
        assert_eq!(driven_by(folder.path(), other.pid()), both);

        other.child.kill().unwrap();
        other.child.wait().unwrap();
        assert_eq!(
            TreeLock::holder(folder.path(), run),
            None,
            "its name is stale"
        );
        assert_eq!(driven_by(folder.path(), other.pid()), []);
        TreeLock::acquire(&store, run).await.unwrap();
    });
}

#[test]
fn a_lock_is_not_inherited_by_programs_that_are_started() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let run = run_of_seed(1);
    block_on(async {
        let (lock, _) = TreeLock::acquire(&store, run).await.unwrap();
        let mut program = Command::new("sleep").arg("600").spawn().unwrap();
        drop(lock);
        TreeLock::acquire(&store, run).await.unwrap();
        program.kill().unwrap();
        program.wait().unwrap();
    });
}

#[test]
fn a_stopped_holder_is_ended_and_its_fence_is_old() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let (mut sample, old) = block_on(begun(&store, 1));
    let mut other = Other::start("hold", folder.path(), 1);
    other.ready();
    let pid = Pid::from_raw(other.pid().try_into().unwrap()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    block_on(async {
        assert!(
            TreeLock::acquire(&store, sample.run).await.is_err(),
            "stopped is not gone"
        );
        let holder = TreeLock::holder(folder.path(), sample.run).unwrap();
        end_holder(folder.path(), &holder).unwrap();
        let (_lock, new) = TreeLock::acquire(&store, sample.run).await.unwrap();
        let event = sample.event(RunCancelled {});
        let late = store
            .append(append(old, &sample, vec![event.clone()]))
            .await;
        assert!(matches!(late, Err(LogError::Fenced)));
        store
            .append(append(new, &sample, vec![event]))
            .await
            .unwrap();
        // Ending one that is gone already is fine.
        end_holder(folder.path(), &holder).unwrap();
    });
}

#[test]
fn a_process_that_only_has_the_number_of_a_holder_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let _store = Store::open(folder.path()).unwrap();
    let mut other = Other::start("hold", folder.path(), 1);
    other.ready();
    let mut holder = TreeLock::holder(folder.path(), run_of_seed(1)).unwrap();
    holder.start_time -= 1;
    end_holder(folder.path(), &holder).unwrap();
    assert!(other.child.try_wait().unwrap().is_none());
}

#[test]
fn neither_this_process_nor_one_of_another_machine_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    block_on(async {
        let (_lock, _) = TreeLock::acquire(&store, run_of_seed(1)).await.unwrap();
        let me = TreeLock::holder(folder.path(), run_of_seed(1)).unwrap();
        let refused = end_holder(folder.path(), &me);
        assert!(
            matches!(refused, Err(LockError::CannotEnd { .. })),
            "{refused:?}"
        );
        let elsewhere = Holder {
            pid: 1,
            host: "elsewhere".to_owned(),
            ..me
        };
        let refused = end_holder(folder.path(), &elsewhere).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "process 1 can't be ended: it runs on elsewhere"
        );
    });
}
