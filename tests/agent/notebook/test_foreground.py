"""A run in a notebook: its thread has an event loop, and its kernel can be interrupted."""

import asyncio
import io
import subprocess
import sys
import threading
import types
from pathlib import Path

import pytest

from agent.errors import ConfigError
from agent.notebook.foreground import open_progress, run_in_foreground
from agent.notebook.site import Site
from agent.site.directory import create_site

LOOPING = """
import asyncio, os, signal, sys, threading
from agent.notebook.foreground import run_in_foreground

async def wait():
    try:
        while True:
            await asyncio.sleep(3600)  # a server that does not reply
    finally:
        print("stopped", flush=True)

async def cell():
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        run_in_foreground(lambda: asyncio.run(wait()))
    except KeyboardInterrupt:
        print("interrupted", flush=True)

signal.signal(signal.SIGINT, signal.default_int_handler)
loop = asyncio.new_event_loop()
loop.run_until_complete(cell())
"""


async def ask() -> str:
    await asyncio.sleep(0)
    return threading.current_thread().name


def test_work_with_an_event_loop_of_its_own_runs_inside_another():
    async def cell() -> str:
        return run_in_foreground(lambda: asyncio.run(ask()))

    assert asyncio.run(cell()) == "intramural-run"
    assert run_in_foreground(lambda: asyncio.run(ask())) == "MainThread"


def test_an_error_of_the_work_reaches_the_cell():
    def fail() -> None:
        raise ConfigError("wrong")

    async def cell() -> None:
        run_in_foreground(fail)

    with pytest.raises(ConfigError, match="wrong"):
        asyncio.run(cell())


def test_an_interrupted_kernel_stops_the_work():
    said = subprocess.check_output([sys.executable, "-c", LOOPING], text=True, timeout=60)
    assert said.splitlines() == ["stopped", "interrupted"]


def test_a_run_in_a_cell_says_what_is_wrong_with_its_server(tmp_path: Path):
    create_site(tmp_path / "site", "St. Example")
    site = Site(tmp_path / "site")

    async def cell() -> None:
        site.run("pubmed_qa:model=a/b", server="http://127.0.0.1:9/v1", quiet=True)

    with pytest.raises(Exception, match=r"127\.0\.0\.1:9") as raised:
        asyncio.run(cell())
    assert raised.value.__notes__


def test_a_notebook_draws_progress_over_without_terminal_controls(
    monkeypatch: pytest.MonkeyPatch,
):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    progress = open_progress(quiet=False)
    progress.begin("PubMedQA: a/b", 2)
    progress.show_left(lambda: "a minute left")
    progress.tick()
    progress.advance(2)
    progress.note("careful")
    progress.end()
    first, second, *_, last = stream.getvalue().split("\r")
    assert "\x1b" not in stream.getvalue()
    assert (first, last[-1]) == ("", "\n")
    assert second.startswith("PubMedQA: a/b")
    drawn = [line for line in stream.getvalue().split("\r") if "a minute left" in line]
    assert len(last) > len(drawn[-1])  # nothing of the longer line is left
    assert "note: careful" in stream.getvalue()
