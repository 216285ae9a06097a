"""What the scripts that try the command on real things share: a world of its own for each trial,
the command in it, a scripted model, and the look at what was left behind."""

import ctypes
import json
import os
import signal
import subprocess
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

COMMAND_LIMIT_S = 60
# How long a process may still be there after the command that used it has ended.
GONE_LIMIT_S = 5
POLL_S = 0.1
OUTPUT_LETTERS_MAX = 4_000
WHY_LETTERS_MAX = 300

# Makes what a child leaves behind ours: prctl(2).
PR_SET_CHILD_SUBREAPER = 36


class Wrong(Exception):
    """Something is not as it has to be; what, and what was seen instead."""


@dataclass
class World:
    """What one trial may touch."""

    # A folder of its own: the home of the command and of what it starts.
    folder: Path
    # What was started for it, and is ended with it.
    started: list[subprocess.Popen] = field(default_factory=list)

    def end(self) -> None:
        for process in self.started:
            end(process)


class Command:
    """The command, on the world of one trial alone."""

    def __init__(self, world: World) -> None:
        self.program = Path(os.environ.get("LONGREIN_BIN") or ROOT / "target/debug/longrein").resolve()
        self.world = world
        self.data = world.folder / "data"
        self.data.mkdir()

    def start(self, *words: str) -> subprocess.Popen:
        return subprocess.Popen(
            [self.program, "--json", "--data-dir", self.data, *words],
            cwd=self.world.folder,
            env=environment(self.world.folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str) -> list[dict]:
        """Runs it to its good end and gives the lines of its result."""
        return ended(self.start(*words), COMMAND_LIMIT_S)


def ended(process: subprocess.Popen, limit_s: float) -> list[dict]:
    try:
        out, err = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise Wrong(f"{words_of(process)} did not end within {limit_s:.0f} s:\n{last(out + err)}") from None
    told = f"{words_of(process)} ended with {process.returncode}:\n{last(out + err)}"
    demand(process.returncode == 0, told)
    return [json.loads(line) for line in out.splitlines()]


def last(text: str) -> str:
    return text[-OUTPUT_LETTERS_MAX:]


def words_of(process: subprocess.Popen) -> str:
    return "longrein " + " ".join(str(word) for word in process.args[4:])


def scripted_model(command: Command, steps: list[list[tuple[str, dict]]]) -> None:
    """Starts a model that makes these calls, a list for each reply, and lets the command know it as
    `local/any`."""
    replies = [{"calls": [{"tool": tool, "arguments": given} for tool, given in step]} for step in steps]
    script = command.world.folder / "script.json"
    script.write_text(json.dumps([*replies, {"text": "Done."}]))
    provider = subprocess.Popen(
        [command.program.parent / "mock-provider", "--script", script, "--until-stdin-closes"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    command.world.started.append(provider)
    address = provider.stdout.readline().strip()
    (command.data / "config.toml").write_text(
        f'[providers.local]\nformat = "openai-chat"\nbase_url = "{address}"\n'
    )


def prepare() -> None:
    """To be called once, before anything is started."""
    # As in scripts/env: what scripts/setup had to put beside the repository comes first, what cargo
    # installed for the person last.
    tools = ROOT / "target/tools"
    cargo = os.environ.get("CARGO_HOME") or Path.home() / ".cargo"
    os.environ["PATH"] = f"{tools}/bin:{tools}/node_modules/.bin:{os.environ['PATH']}:{cargo}/bin"
    # What a command leaves behind comes to us, so that it is seen.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def fetch_pinned(pins: Path, place: Path) -> str | None:
    """Fetches what is pinned, and says why it can't be had."""
    fetched = subprocess.run([ROOT / "scripts/fetch-pinned", pins, place], capture_output=True, text=True)
    if fetched.returncode == 0:
        return None
    told = fetched.stderr.strip().splitlines() or [f"{place} can't be made"]
    why = next((line for line in told if "error" in line.lower()), told[-1])
    return f"it can't be fetched: {why[:WHY_LETTERS_MAX]}"


def demand(holds: bool, what: str) -> None:
    if not holds:
        raise Wrong(what)


def environment(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}


def until(what: str, holds: Callable[[], bool], limit_s: float) -> None:
    deadline = time.monotonic() + limit_s
    while not holds():
        demand(time.monotonic() < deadline, f"it did not come about within {limit_s} s that {what}")
        time.sleep(POLL_S)


def left_behind(world: World) -> dict[int, str]:
    """Living children of ours that we did not start: what a command of the trial left behind."""
    ours = {process.pid for process in world.started}
    left = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) in ours:
            continue
        try:
            state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if int(parent) != os.getpid():
            continue
        if state == "Z":
            os.waitpid(int(entry.name), os.WNOHANG)
        else:
            left[int(entry.name)] = words
    return left


def nothing_is_left(world: World) -> None:
    try:
        until("nothing is left running", lambda: not left_behind(world), GONE_LIMIT_S)
    except Wrong:
        left = left_behind(world)
        for process in left:
            os.kill(process, signal.SIGKILL)
        raise Wrong(f"these were left running: {left}") from None


def end(process: subprocess.Popen) -> None:
    if process.stdin:
        process.stdin.close()
    process.terminate()
    try:
        process.wait(GONE_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def tried(world_in: Callable[[Path], World], trial: Callable[[World], None]) -> str | None:
    """Makes a trial in a folder that goes away, and says what is wrong."""
    with tempfile.TemporaryDirectory(prefix="longrein-") as folder:
        world = world_in(Path(folder).resolve())
        try:
            trial(world)
        except Wrong as wrong:
            return str(wrong)
        except (ArithmeticError, LookupError, OSError, TypeError, ValueError):
            # What was said is not even of the kind that was expected.
            return traceback.format_exc()
        finally:
            world.end()
    return None
