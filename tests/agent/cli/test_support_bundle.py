"""What helpers get has no name and no text of the site, whatever is planted there, and however broken it is."""

import getpass
import io
import json
import os
import shutil
import socket
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from agent.access.accounts import add_account
from agent.site.directory import Site
from agent.store import QueuedCommand, Role
from tests.agent.service.filled_site import FilledSite, case
from tests.agent.terminal import intramural
from tests.canaries import Canaries, Finder

PARTS = {
    *("format", "made_at", "versions", "machine", "settings", "files", "store", "queue", "runs"),
    *("statements", "log", "checks"),
}


def make(site: Path, *words: str) -> dict[str, Any]:
    """Write a bundle, and return its content, which is what the terminal showed before."""
    file = site.parent / f"bundle-{time.monotonic_ns()}.json"
    done = intramural("--site", site, "support-bundle", file, "--yes", *words, cwd=site.parent)
    assert done.returncode == 0, done.stderr
    assert done.stdout == file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    content = json.loads(done.stdout)
    assert set(content) == PARTS
    return dict(content)


def plant(filled: FilledSite, canaries: Canaries) -> None:
    """Put a canary wherever a person may type something, or a record says something."""
    site = filled.site
    text = canaries.draw_phrases("text", 3)
    filled.add(
        [case(n, prompt=text[0], answer=text[1], identity=text[2]) for n in range(3)],
        suite=canaries.draw_one("suite"),
        entry=f"pubmed_qa:model={canaries.draw_one('model')}",
    )
    with site.store() as store:
        account = add_account(
            store,
            canaries.draw_one("account"),
            frozenset({Role.ADMINISTRATOR}),
            time.time(),
            password=canaries.draw_one("password"),
        )
        words = canaries.draw("job", 6)
        command = QueuedCommand(
            (words[0], words[1]), words[2], account.account_id, (words[3],), words[4], words[5]
        )
        job = store.jobs.add(command, time.time())
        store.jobs.fail(job.job_id, time.time(), canaries.draw_one("problem"))
        store.jobs.add_schedule("0 3 * * *", command, time.time())
        store.audit.record(canaries.draw_one("event"), canaries.draw_one("detail"))
    for folder in ("data", "benchmarks", "plugins", "jobs", "servers", "transfers"):
        place = site.directory / folder / canaries.draw_one("folder")
        place.mkdir(parents=True)
        (place / f"{canaries.draw_one('file')}.csv").write_text(canaries.draw_one("content"))
    (site.plugins / f"{canaries.draw_one('plugin')}.py").write_text(canaries.draw_one("code"))
    deployment, host = canaries.draw_one("deployment"), canaries.draw_one("host")
    site.deployments.write_text(
        f"model_deployments:\n  - name: local/{deployment}\n    model_name: x/{deployment}\n"
        "    client_spec:\n      class_name: VLLMChatClient\n"
        f"      args: {{base_url: 'http://127.0.0.1:9/{host}', vllm_model_name: {deployment}}}\n"
    )
    site.judges.write_text(
        f"judges:\n  - {{name: {canaries.draw_one('judge')}, model: x/{deployment}, "
        f"model_deployment: local/{deployment}}}\n"
    )
    log = site.directory.parent / f"{canaries.draw_one('log')}.log"
    log.write_text(
        f'{{"event": "{canaries.draw_one("log event")}"}}\n{canaries.draw_one("log line")}\n'
        f'{{"event": "command_ended", "exit_code": "{canaries.draw_one("log code")}"}}\n'
        '{"event": "command_ended", "exit_code": 4}\n[1]\n'
        "2026-11-29T00:35:49.346Z info command_ended process=7 command=run exit_code=9 seconds=0.1\n"
        "2026-11-29T00:35:49.346Z info command_ended process=7 command=run exit_code=19450308 seconds=0.1\n"
        f"2026-11-29T00:35:49.346Z info {canaries.draw_one('text event')} exit_code=8\n"
    )
    (site.directory / "site.yaml").write_text(
        f"site_name: {canaries.draw_one('site name')}\nallowed_hosts: [127.0.0.1, {host}]\n"
        f"log_file: {log}\nlog_level: info\nmax_in_flight: 3\nconnect_timeout_s: 1\n"
        f"aggregator_url: https://{host}\nalert_site_label: {canaries.draw_one('label')}\n"
        f"oidc_client_id: {canaries.draw_one('client')}\noidc_uses_proxy: false\n"
        f"trusted_proxy_roles: {{{canaries.draw_one('group')}: viewer}}\n"
    )


@pytest.mark.timeout(300)
def test_nothing_that_was_planted_anywhere_is_in_the_bundle(filled: FilledSite):
    canaries = Canaries(seed=23)
    plant(filled, canaries)
    content = make(filled.site.directory)
    text = json.dumps(content)
    assert Finder(canaries).search_named(text.encode()) == {}
    for name in (str(filled.site.directory.parent), socket.gethostname()):
        assert name not in text
    user = getpass.getuser()
    assert user == "root" or user not in text
    assert content["settings"]["values"] == {
        "redaction_policy": "hipaa_safe_harbor",
        "disclosure_policy": "strict",
        "log_level": "info",
        "max_in_flight": 3,
        "connect_timeout_s": 1.0,
        "oidc_uses_proxy": False,
    }
    assert "site_name" in content["settings"]["given"]
    assert content["log"] == {
        "file": True,
        "events": {
            "command_ended": 4,
            "command_started": 1,
        },  # the bundle's own command is the latter
        "exit_codes": {"4": 1, "9": 1},
    }
    assert content["queue"]["jobs"]["failed"] == 1
    assert content["queue"]["lost"] == 1
    assert content["store"]["rows"]["answers"] > 0
    assert content["checks"]["server"] == {"failed 4": 1}
    assert content["checks"]["store"] == {"ok": 1}
    with Site(filled.site.directory).store() as store:
        assert store.audit.read_events()[-1].event == "support bundle"


def break_settings(site: Path, canary: str) -> None:
    with (site / "site.yaml").open("a") as file:
        file.write(f"{canary}: {canary}\nmax_in_flight: {canary}\n")


def remove_store(site: Path, canary: str) -> None:
    (site / "store").rename(site / canary)


def remove_key(site: Path, canary: str) -> None:
    (site / "keys" / "data.key").rename(site / "keys" / canary)


def damage_store(site: Path, canary: str) -> None:
    path = site / "store" / "site.sqlite3"
    with sqlite3.connect(path) as connection:
        connection.execute(f'CREATE TABLE "{canary}" (x)')
        connection.execute("DROP TABLE scores")


def spoil_store(site: Path, canary: str) -> None:
    for path in (site / "store").iterdir():
        path.write_bytes(canary.encode() * 1000)


def remove_all(site: Path, canary: str) -> None:
    del canary
    shutil.rmtree(site)
    site.mkdir(0o700)


BREAKS = [break_settings, remove_store, remove_key, damage_store, spoil_store, remove_all]


@pytest.mark.parametrize("spoil", BREAKS, ids=lambda each: each.__name__)
def test_a_broken_site_still_gives_a_bundle_that_names_nothing(filled: FilledSite, spoil: Any):
    canary = "zephyrinequackenbush"
    spoil(filled.site.directory, canary)
    content = make(filled.site.directory)
    text = json.dumps(content).lower()
    assert canary not in text
    assert str(filled.site.directory).lower() not in text
    assert content["versions"]["intramural"]
    assert content["machine"]["disk"]["free_bytes"] > 0
    if spoil is damage_store:  # a table that is not there has no number of rows
        assert "scores" not in content["store"]["rows"]
    else:
        assert "error" in text or "failed" in text


def test_a_part_that_fails_says_which_kind_of_error_it_was(filled: FilledSite):
    remove_store(filled.site.directory, "elsewhere")
    content = make(filled.site.directory)
    assert content["store"] == {"error": "StoreError", "exit_code": 8}
    assert content["settings"]["given"] == ["site_name"]


def test_the_content_is_shown_before_a_person_is_asked_and_no_leaves_no_file(
    filled: FilledSite, monkeypatch: pytest.MonkeyPatch
):
    asked: list[str] = []

    def refuse(text: str, **_: object) -> bool:
        import click

        asked.append(text)
        raise click.Abort

    monkeypatch.setattr("click.confirm", refuse)
    file = filled.site.directory.parent / "bundle.json"
    done = intramural("--site", filled.site.directory, "support-bundle", file, cwd=file.parent)
    assert asked == ["Write this to bundle.json?"]
    assert done.returncode == 130
    assert json.loads(done.stdout)["format"] == 1
    assert not file.exists()


def test_where_nobody_can_be_asked_the_option_is_named(
    filled: FilledSite, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    file = filled.site.directory.parent / "bundle.json"
    words = ("--site", filled.site.directory, "support-bundle", file)
    done = intramural(*words, cwd=file.parent)
    assert done.returncode == 2
    assert "give --yes" in done.stderr
    assert not file.exists()


def test_a_file_that_exists_is_not_replaced(filled: FilledSite):
    file = filled.site.directory.parent / "bundle.json"
    file.write_text("kept")
    words = ("--site", filled.site.directory, "support-bundle", file, "--yes")
    assert intramural(*words, cwd=file.parent).returncode == 2
    assert file.read_text() == "kept"
    assert os.listdir(file.parent)  # noqa: PTH208
