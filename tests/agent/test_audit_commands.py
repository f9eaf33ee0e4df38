"""`intramural audit` as people call it: the log with its head, and a store that was put back."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent.site import Site, create_site
from protocol.canonical import canonical
from tests.agent.terminal import Done, intramural


@pytest.fixture
def site(tmp_path: Path) -> Site:
    site = create_site(tmp_path / "site", "St. Elsewhere")
    log(site, 4)
    return site


def log(site: Site, count: int) -> None:
    with site.store() as store:
        for number in range(count):
            store.audit("reveal", f"view run=1 page={number}")


def head_of(site: Site) -> str:
    """Return the head as the last line of `intramural audit` has it."""
    done = audit(site)
    assert done.returncode == 0, done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.startswith("Head: ")
    return last.removeprefix("Head: ")


def audit(site: Site, *words: str | Path) -> Done:
    return intramural("--site", site.directory, "audit", *words, cwd=site.directory)


def put_back(site: Site, copy: Path) -> None:
    shutil.rmtree(site.directory / "store")
    shutil.copytree(copy, site.directory / "store")


def test_log_is_printed_with_its_head_which_is_the_last_event_of_the_json_form(site: Site) -> None:
    number, link = head_of(site).split(":")
    done = audit(site, "--format", "json")
    rows = json.loads(done.stdout)
    assert [row["event"] for row in rows] == ["site created", *["reveal"] * 4]
    assert (str(rows[-1]["number"]), rows[-1]["link"]) == (number, link)


def test_deleted_event_is_named_by_every_form_of_the_command(site: Site) -> None:
    with closing(sqlite3.connect(site.directory / "store" / "site.sqlite3")) as database, database:
        database.execute("DELETE FROM audit_events WHERE number = 3")
    for words in ([], ["--format", "json"], ["verify"]):
        done = audit(site, *words)
        assert done.returncode == 8
        assert "the audit log was changed: event 3 is missing" in done.stderr


def test_store_that_was_put_back_is_located_by_heads_of_before(site: Site, tmp_path: Path) -> None:
    early = head_of(site)
    shutil.copytree(site.directory / "store", tmp_path / "copy")
    log(site, 3)
    late = head_of(site)
    before = audit(site, "verify", "--head", early, "--head", late)
    assert before.returncode == 0, before.stdout + before.stderr
    put_back(site, tmp_path / "copy")
    assert head_of(site) == early
    done = audit(site, "verify", "--head", late, "--head", early, "--format", "json")
    assert done.returncode == 1
    rows = {row["what"]: row for row in json.loads(done.stdout)}
    assert rows["audit log"]["outcome"] == "match"
    assert rows["head 5"]["outcome"] == "match"
    assert rows["head 8"]["finding"] == "3 events after event 5 are missing: the store was put back"


def test_list_of_heads_is_read_from_a_file(site: Site, tmp_path: Path) -> None:
    number, link = head_of(site).split(":")
    heads = tmp_path / "heads.ndjson"
    heads.write_bytes(canonical({"number": int(number), "link": link}) + b"\n")
    done = audit(site, "verify", "--heads", heads)
    assert done.returncode == 0, done.stdout + done.stderr
    heads.write_bytes(heads.read_bytes() + b'{"number": 5, "link": "x"}\n')
    done = audit(site, "verify", "--heads", heads)
    assert done.returncode == 2
    assert "line 2 of the file of heads is no head of an audit log" in done.stderr


@pytest.mark.parametrize(
    "head", ["5", "0:" + "0" * 64, "-1:" + "0" * 64, "5:" + "G" * 64, "5:" + "0" * 63, "٥:" + "0" * 64]
)
def test_what_is_no_head_is_refused(site: Site, head: str) -> None:
    done = audit(site, "verify", "--head", head)
    assert done.returncode == 2
    assert "expected the number of an event, a colon and 64 hex digits" in done.stderr
