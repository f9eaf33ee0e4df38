"""The process that runs one own metric. It imports nothing from the agent and exits when its input closes.

The first line of input describes the code to load; the reply is what the code declares. Each further line is a question
to the metric. Lines are JSON. Every reply has the number of its request, so that a line that the metric wrote to the
pipe itself is not taken for a reply to a later request.

The limits are set before any of the metric's code runs. They are no sandbox: the code runs under the same account.
"""

import contextlib
import importlib
import importlib.util
import json
import numbers
import os
import resource
import signal
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, BinaryIO

CONSTANTS = ("API", "NAME", "TITLE", "UNIT", "LOW", "HIGH", "BINARY", "HIGHER_IS_BETTER")
_GRACE_S = 2.0  # beyond the caller's own limit, so that the caller decides while it lives


@dataclass(frozen=True, slots=True)
class ReferenceView:
    """A reference answer, as a metric sees it. `correct` marks the right ones."""

    text: str
    correct: bool


def serve() -> None:
    """Load the metric and answer requests until the input ends."""
    requests, replies = _take_pipes()
    setup = json.loads(requests.readline())
    _set_limits(setup["memory_bytes"])
    _set_alarm(setup["load_seconds"])
    try:
        module = _load(setup)
        reply: dict[str, Any] = {"declared": _describe(module)}
    except BaseException as error:  # noqa: BLE001 - the metric's code may raise anything
        _send(replies, 0, {"raised": _describe_error(error, setup["code"])})
        return
    _send(replies, 0, reply)
    for line in requests:
        request = json.loads(line)
        _set_alarm(setup["seconds"])
        reply = _score(module, request, setup["code"])
        _set_alarm(0)
        _send(replies, request["number"], reply)


def _take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Move the pipes to other descriptors, so that the metric's own prints and reads cannot disturb them."""
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
    return requests, replies


def _set_limits(memory_bytes: int) -> None:
    limits = {
        resource.RLIMIT_AS: memory_bytes,
        resource.RLIMIT_CORE: 0,  # a core file would contain the texts
        resource.RLIMIT_FSIZE: 0,  # no file can be written
        resource.RLIMIT_NPROC: 0,  # no process or thread can be started, except by root
    }
    for kind, limit in limits.items():
        with contextlib.suppress(OSError, ValueError):  # some systems lack one of them
            resource.setrlimit(kind, (limit, limit))


def _set_alarm(seconds: float) -> None:
    """End this process after a time even if the agent, which applies the limit, has ended; 0 for no alarm."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds + _GRACE_S if seconds else 0)


def _load(setup: Mapping[str, Any]) -> ModuleType:
    code = Path(setup["code"])
    if setup["module"]:
        sys.path.insert(0, str(code))
        return importlib.import_module(setup["module"])
    # The folder is not searched for modules: a metric may have the name of one that others import.
    spec = importlib.util.spec_from_file_location("intramural_own_metric", code / "metric.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _describe(module: ModuleType) -> dict[str, Any]:
    declared: dict[str, Any] = {}
    for name in CONSTANTS:
        value = getattr(module, name, None)
        is_plain = value is None or isinstance(value, bool | int | float | str)
        declared[name] = value if is_plain else "(not a text or number)"
    declared["score"] = "function" if callable(getattr(module, "score", None)) else None
    return declared


def _score(module: ModuleType, request: Mapping[str, Any], code: str) -> dict[str, Any]:
    references = tuple(ReferenceView(text, correct) for text, correct in request["references"])
    messages = tuple(MappingProxyType(message) for message in request["messages"])
    context = {
        "messages": messages,
        "extra": MappingProxyType(request["extra"]),
        "multiple_choice": request["multiple_choice"],
    }
    try:
        value = module.score(request["answer"], references, MappingProxyType(context))
        if isinstance(value, numbers.Real):
            return {"value": float(value)}
    except BaseException as error:  # noqa: BLE001 - the metric's code may raise anything
        return {"raised": _describe_error(error, code)}
    if isinstance(value, str):
        return {"reason": value}
    return {"nothing": value is None}


def _describe_error(error: BaseException, code: str) -> dict[str, Any]:
    """Return the type of an error and its last line in the metric's code; its message might quote an answer."""
    lines = []
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename.startswith(code):
            lines.append(frame.lineno)
    if isinstance(error, SyntaxError) and str(error.filename).startswith(code):
        lines.append(error.lineno)
    return {"type": type(error).__name__, "line": lines[-1] if lines else None}


def _send(replies: BinaryIO, number: int, reply: Mapping[str, Any]) -> None:
    replies.write(json.dumps({**reply, "number": number}).encode("ascii") + b"\n")
    replies.flush()


if __name__ == "__main__":
    serve()
