"""What cannot be cleared is withheld and counted; nothing reaches a log, the disk or the network."""

import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.redaction import Redactor


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000,
        "1-" * 50_000,
        "id number " * 10_000,
        "((((" * 20_000,
        "St. " * 20_000,
        " " * 100_000,
        "a@" * 40_000,
    ],
    ids=["letters", "digits and dashes", "cues", "brackets", "saints", "spaces", "at signs"],
)
def test_text_made_to_stall_patterns_ends_in_bounded_time(redactor: Redactor, text: str):
    began = time.process_time()
    redactor.redact(text)
    assert time.process_time() - began < 12


def test_no_log_record_carries_text(redactor: Redactor, caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.DEBUG):
        redactor.redact(
            "Margaret Holloway, MRN 00451234, m.holloway@ward7.example, Mayo Clinic, 03/14/2022"
        )
    assert [
        record.name
        for record in caplog.records
        if "presidio" in record.name or "spacy" in record.name
    ] == []
    assert "olloway" not in caplog.text


PROBE = """
import sys, os
opened = []
def watch(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.sendmsg"):
        opened.append(event)
    if event == "open" and isinstance(args[0], str) and isinstance(args[1], str) and set(args[1]) & set("wax+"):
        if args[0] != os.devnull:
            opened.append("write " + args[0])
sys.addaudithook(watch)
import agent.redaction
heavy = {"presidio_analyzer", "spacy", "numpy", "tldextract", "yaml", "pydantic"} & set(sys.modules)
assert not heavy, heavy
redactor = agent.redaction.open_redactor()
shown = redactor.redact("write to anna.kowalski@some-domain.co.uk or see https://x.example/y about Mr. Holloway")
assert shown == "write to [EMAIL-1] or see [URL-1] about [NAME-1]", shown
print(opened)
"""


@pytest.mark.full
def test_opening_and_using_the_engine_reaches_for_no_network_and_writes_no_file(tmp_path: Path):
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TMPDIR": str(tmp_path),
    }
    environment.pop("XDG_CACHE_HOME", None)
    done = subprocess.run(
        [sys.executable, "-c", PROBE], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
    assert list(tmp_path.iterdir()) == []
