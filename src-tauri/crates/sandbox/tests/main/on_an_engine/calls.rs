//! Programs that call tools from inside, while apps come and go.

use longrein_sandbox::wire::{CallId, End, Stream};

use super::on_both;
use super::place::{Inside, Place, script, within};

/// Calls a tool that many times, one after the other, and prints the sum of the answers.
const PROGRAM: &str = "import json, os, socket, sys\n\
    tools = socket.socket(socket.AF_UNIX); tools.connect(os.environ['LONGREIN_TOOLS'])\n\
    lines = tools.makefile('rw')\n\
    total = 0\n\
    for n in range(int(sys.argv[1])):\n\
    \x20   print(json.dumps({'tool': 'double', 'arguments': {'n': n}}), file=lines, flush=True)\n\
    \x20   total += json.loads(lines.readline())['ok']\n\
    print(total)\n";

async fn begin(inside: &Inside, place: &Place, calls: u32) {
    std::fs::write(place.workspace().join("program.py"), PROGRAM).expect("it is ours");
    let text = format!("python3 program.py {calls}");
    let mut start = script("code", inside.container.environment(), &text);
    start.tools = true;
    within(inside.session.start(start))
        .await
        .expect("it starts");
}

/// Answers calls as a tool would, up to the one with this number, which is left open.
async fn answer_until(inside: &mut Inside, open: u32, done: &mut Vec<u32>) -> CallId {
    loop {
        let call = within(inside.incoming.calls.recv())
            .await
            .expect("it calls");
        if call.id.number == open {
            return call.id;
        }
        answer(inside, &call.id, done).await;
    }
}

async fn answer(inside: &Inside, call: &CallId, done: &mut Vec<u32>) {
    // A call that is told again is answered from the journal, not made again.
    if !done.contains(&call.number) {
        done.push(call.number);
    }
    let body = format!("{{\"ok\": {}}}", (call.number - 1) * 2);
    within(inside.session.answer(call.clone(), body.as_bytes()))
        .await
        .expect("it is taken");
}

async fn a_program_goes_on_where_it_was_when_its_app_is_another_one(place: Place) {
    let mut inside = place.enter().await;
    begin(&inside, &place, 200).await;
    let mut done = Vec::new();
    let open = answer_until(&mut inside, 120, &mut done).await;
    drop(inside);

    let mut inside = place.enter().await;
    let again = within(inside.incoming.calls.recv())
        .await
        .expect("it is told again");
    assert_eq!(again.id, open);
    answer(&inside, &again.id, &mut done).await;
    let last = answer_until(&mut inside, 200, &mut done).await;
    answer(&inside, &last, &mut done).await;
    let receipt = within(inside.session.wait("code")).await.expect("it ends");
    assert_eq!(receipt.end, End::Exited { status: 0 });
    assert_eq!(
        done,
        (1..=200).collect::<Vec<_>>(),
        "each call once, in order"
    );
    let output = within(
        inside
            .session
            .command("code")
            .read_all(Stream::Output, 1 << 10),
    )
    .await;
    assert_eq!(output.expect("it is kept"), b"39800\n");
    place.clear().await;
}

async fn a_call_waits_in_a_container_that_stands_still(place: Place) {
    let mut inside = place.enter().await;
    begin(&inside, &place, 1).await;
    let call = answer_until(&mut inside, 1, &mut Vec::new()).await;
    within(inside.container.pause())
        .await
        .expect("it stands still");
    drop(inside);
    // To enter wakes it.
    let mut inside = place.enter().await;
    let again = within(inside.incoming.calls.recv())
        .await
        .expect("it is told again");
    assert_eq!(again.id, call);
    answer(&inside, &again.id, &mut Vec::new()).await;
    let receipt = within(inside.session.wait("code")).await.expect("it ends");
    assert_eq!(receipt.end, End::Exited { status: 0 });
    place.clear().await;
}

on_both!(
    a_program_goes_on_where_it_was_when_its_app_is_another_one,
    a_call_waits_in_a_container_that_stands_still,
);
