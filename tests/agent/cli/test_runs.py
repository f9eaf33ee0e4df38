"""The commands about stored runs: who sees them, and how one is deleted."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from agent.access.accounts import add_account
from agent.cli.main import intramural
from agent.errors import ConfigError
from agent.store import Role
from tests.agent.service.filled_site import MODEL, FilledSite, case, filled_site


@pytest.fixture
def filled(tmp_path: Path) -> FilledSite:
    return filled_site(tmp_path)


def call(filled: FilledSite, *words: str, code: int = 0, typed: str = "") -> Result:
    arguments = ["--site", str(filled.site.directory), "runs", *words]
    result = CliRunner().invoke(intramural, arguments, input=typed)
    assert result.exit_code == code, (result.output, result.exception)
    return result


def refuse(filled: FilledSite, *words: str) -> str:
    arguments = ["--site", str(filled.site.directory), "runs", *words]
    with pytest.raises(ConfigError) as error:
        CliRunner().invoke(intramural, arguments, catch_exceptions=False)
    return str(error.value)


def read_list(filled: FilledSite, *words: str) -> list[dict[str, object]]:
    return list(json.loads(call(filled, "list", "--format", "json", *words).stdout))


def test_an_empty_site_says_how_a_run_is_made(filled: FilledSite):
    assert "no runs yet" in call(filled, "list").stdout


def test_the_list_shows_owners_and_privacy(filled: FilledSite):
    with filled.site.store() as store:
        dana = add_account(
            store, "dana", {Role.DATA_SCIENTIST}, 1.0, password="correct horse battery"
        )
    private = filled.add([case(0)], suite="may", owner=dana.account_id, private=True)
    filled.add([case(0), case(1)], ended=False)
    rows = read_list(filled)
    assert [(row["suite"], row["owner"], row["private"], row["instances"]) for row in rows] == [
        ("may", "dana", True, 1),
        ("november", "command line", False, 2),
    ]
    assert [row["state"] for row in rows] == ["ended", "unfinished"]
    assert [row["id"] for row in read_list(filled, "--suite", "may")] == [private]
    table = call(filled, "list").stdout
    assert "dana only" in table
    assert "everyone" in table
    assert "there is no suite june" in refuse(filled, "list", "--suite", "june")


def test_a_run_is_kept_from_others_and_shown_again(filled: FilledSite):
    run_id = filled.add([case(0)])
    said = call(filled, "unshare", run_id[:6]).stdout
    assert said.startswith(f"run {run_id} is private: pubmed_qa:model={MODEL}")
    assert read_list(filled)[0]["private"] is True
    call(filled, "unshare", run_id)
    assert "is shown to everyone" in call(filled, "share", run_id).stdout
    assert read_list(filled)[0]["private"] is False
    with filled.site.store() as store:
        events = [event.event for event in store.audit.read_events()]
    assert events[-2:] == [
        "run kept from others",
        "run shown to others",
    ]  # the second time changed nothing


@pytest.mark.parametrize(
    ("typed_id", "message"),
    [
        ("abc", "at least 4 characters of the run's id, not abc"),
        ("0000ffff", "no run has the id 0000ffff"),
        ("\x1b[31mred", "no run has the id"),
        ("", "at least 4 characters"),
    ],
)
@pytest.mark.parametrize("command", ["share", "unshare", "delete"])
def test_an_unknown_id_is_refused(filled: FilledSite, command: str, typed_id: str, message: str):
    filled.add([case(0)])
    said = refuse(filled, command, typed_id)
    assert message in said
    assert "\x1b" not in said
    assert len(read_list(filled)) == 1


def test_a_deletion_says_what_goes_and_asks(filled: FilledSite):
    run_id = filled.add([case(0), case(1)])
    filled.add([case(1)], suite="december")
    said = call(filled, "delete", run_id, typed="n\n").stdout
    assert "november: pubmed_qa" in said
    assert "2 instances, 1 answer, 1 question, 0 verdicts; 2 texts stay" in said
    assert "nothing was deleted" in said
    assert len(read_list(filled)) == 2
    said = call(filled, "delete", run_id, typed="y\n").stdout
    assert f"run {run_id} deleted with 2 texts" in said
    assert [row["suite"] for row in read_list(filled)] == ["december"]


def test_a_script_deletes_without_being_asked(filled: FilledSite):
    run_id = filled.add([case(0)])
    filled.add(
        [case(0, prompt="Another plan?")]
    )  # the same run, which leaves the first texts behind
    said = call(filled, "delete", run_id, "--yes").stdout
    assert "and 2 texts that no run uses" in said
    assert "Delete it?" not in said
    assert read_list(filled) == []
