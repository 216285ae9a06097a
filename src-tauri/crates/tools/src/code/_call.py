"""How a call leaves the sandbox: one line of JSON each way, over a socket that only leads to Longrein.

Every call is decided, recorded and paid for like one that the model makes itself. Some wait for a
person; the program is paused meanwhile.
"""

from __future__ import annotations

import json
import os
import socket
from typing import Any

_SOCKET = "LONGREIN_TOOLS"


class ToolError(Exception):
    """A call that did not do what it was asked.

    ``kind`` is one of ``invalid_arguments``, ``not_permitted``, ``not_found``, ``conflict``,
    ``temporary``, ``failed`` and ``cancelled``.
    """

    def __init__(self, kind: str, message: str) -> None:
        # Both, so that it can be handed from one process to another.
        super().__init__(kind, message)
        self.kind = kind
        self.message = message

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


class ResultFile(os.PathLike):
    """A result that was too long to be handed over: it lies in a file of the workspace."""

    def __init__(self, path: str, bytes: int, preview: str) -> None:
        self.path = path
        self.bytes = bytes
        self.preview = preview

    def __fspath__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"<{self.bytes} bytes in {self.path}; read them with .text() or .json()>"

    def text(self) -> str:
        """The whole result as text."""
        with open(self.path, encoding="utf-8") as file:
            return file.read()

    def json(self) -> Any:
        """The whole result as JSON."""
        return json.loads(self.text())


class _Unset:
    """Says that an argument was not given."""

    def __repr__(self) -> str:
        return "<not given>"


UNSET: Any = _Unset()


def _answer(line: bytes) -> bytes:
    """What one call is answered. Each has a connection of its own, so that those of several threads and
    processes run side by side."""
    path = os.environ.get(_SOCKET)
    if not path:
        raise ToolError("not_permitted", "this program was not given any tools")
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(path)
            connection.sendall(line + b"\n")
            with connection.makefile("rb") as answers:
                return answers.readline()
    except OSError as error:
        raise ToolError("failed", f"the call was cut off: {error}") from None


def call(tool: str, arguments: dict[str, Any]) -> Any:
    """Calls a tool by its full name, and gives its result: objects and lists where it is JSON, else text."""
    given = {name: value for name, value in arguments.items() if value is not UNSET}
    try:
        line = json.dumps({"tool": tool, "arguments": given}, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ToolError("invalid_arguments", f"the arguments are no JSON: {error}") from None
    answer = _answer(line.encode())
    if not answer.endswith(b"\n"):
        raise ToolError("failed", "the call was cut off before its answer came")
    said = json.loads(answer)
    if "error" in said:
        raise ToolError(said["error"]["class"], said["error"]["message"])
    if "file" in said:
        return ResultFile(**said["file"])
    return said["ok"]
