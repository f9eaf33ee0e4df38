"""The commands as a person types them, from an empty folder to a verified board."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from aggregator.cli import cli, main
from aggregator.errors import AggregatorError
from aggregator.home import Home, today_day
from aggregator.intake import accept
from aggregator.registry.invites import Invite
from protocol.envelope import decode
from protocol.errors import Code
from protocol.refusal import verify_refusal
from tests.aggregator.conftest import start, stop
from tests.aggregator.federation import (
    CARD,
    MODELS,
    TestSite,
    new_home,
    ready,
    register_datasets,
    registry_of,
    scores,
)


def run(*words: object, fed: str | None = None) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words], input=fed)


def done(*words: object, fed: str | None = None) -> str:
    result = run(*words, fed=fed)
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result.output


def failed(*words: object) -> AggregatorError:
    result = run(*words)
    assert isinstance(result.exception, AggregatorError), result.output
    return result.exception


def read_invite(path: Path) -> Invite:
    fields = json.loads(path.read_bytes())
    assert fields.pop("schema") == 1
    return Invite(**fields | {"root_keys": tuple(fields["root_keys"])})


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    made = tmp_path / "aggregator"
    done(
        "--dir",
        made,
        "init",
        "--origin",
        "board.example",
        "--name",
        "Example",
        "--url",
        "http://127.0.0.1:1",
    )
    return made


def test_the_shipped_scorecard_is_registered_by_its_name(tmp_path: Path) -> None:
    made = tmp_path / "aggregator"
    done("--dir", made, "init", "--origin", "board.example", "--scorecard", "medhelm-v1")
    (listed,) = json.loads(done("--dir", made, "list", "scorecards", "--format", "json"))
    assert (listed["name"], listed["version"], listed["state"]) == ("medhelm-v1", 1, "active")


def test_a_scorecard_that_is_not_shipped_names_those_that_are(tmp_path: Path) -> None:
    error = failed(
        "--dir",
        tmp_path / "aggregator",
        "init",
        "--origin",
        "board.example",
        "--scorecard",
        "medhelm",
    )
    assert str(error) == "there is no scorecard 'medhelm'"
    assert "medhelm-v1" in error.advice


def test_from_nothing_to_a_verified_board(tmp_path: Path) -> None:
    card, models, directory = (
        tmp_path / "card.json",
        tmp_path / "models.yaml",
        tmp_path / "aggregator",
    )
    card.write_text(json.dumps(CARD.to_json()))
    models.write_text(
        "- {name: example/large, display_name: Example Large, organization: Example Org}\n"
    )
    made = json.loads(
        done(
            "init",
            directory,
            "--origin",
            "board.example",
            "--scorecard",
            card,
            "--models",
            models,
            "--format",
            "json",
        )
    )
    here = ("--dir", directory)
    done(
        *here,
        "register",
        "--model",
        MODELS[2].name,
        "--display-name",
        "First choice",
        "--not-a-language-model",
    )
    done(
        *here,
        "invite",
        "--site-name",
        "St. Example",
        "--publication",
        "named",
        "--out",
        tmp_path / "invite.json",
    )
    invite = read_invite(tmp_path / "invite.json")
    assert invite.root_keys == (made["root_key"],)
    site = TestSite(invite.site)
    (tmp_path / "request.json").write_bytes(site.ask_to_enrol(invite))
    said = done(*here, "enroll", tmp_path / "request.json", fed="y\n")
    assert site.agent.public.fingerprint in said
    assert site.steward.public.fingerprint in said
    home = Home(directory)
    site.prev = registry_of(home).sites[site.id].start
    register_datasets(home, site)
    for model in (MODELS[0], MODELS[2]):
        envelope = site.sign(site.result(registry_of(home), scores(3), model=model.name))
        accept(home, envelope, today_day=today_day())
        site.accepted(envelope)
    home.database.close()
    board = tmp_path / "board"
    assert str(board / "index.html") in done(*here, "publish", "--out", board)
    checked = json.loads(
        done("verify", "--board", board, "--root-key", made["root_key"], "--format", "json")
    )
    assert checked["identical"]
    assert checked["pinned"]
    assert sorted(path.name for path in (directory / "registry").iterdir()) == [
        f"{n}.dsse.json" for n in (1, 2, 3)
    ]
    (board / "index.html").write_text("changed")
    result = run("verify", "--board", board, "--format", "json")
    assert result.exit_code == 1
    assert "index.html" in json.loads(result.output)["differs"]


def test_a_person_who_says_no_enrols_nobody(directory: Path, tmp_path: Path) -> None:
    done(
        "--dir",
        directory,
        "invite",
        "--site-name",
        "St. Example",
        "--out",
        tmp_path / "invite.json",
    )
    invite = read_invite(tmp_path / "invite.json")
    (tmp_path / "request").write_bytes(TestSite(invite.site).ask_to_enrol(invite))
    assert "Not enrolled" in done("--dir", directory, "enroll", tmp_path / "request", fed="n\n")
    assert "Not enrolled" in done("--dir", directory, "enroll", tmp_path / "request", fed="\n")
    assert done("--dir", directory, "list", "sites") == "No sites.\n"


def test_files_that_are_refused_get_a_signed_refusal_to_carry_back(tmp_path: Path) -> None:
    home = new_home(tmp_path / "aggregator")
    site, stick = ready(home), tmp_path / "stick"
    stick.mkdir()
    result = site.result(registry_of(home), scores(1))
    good, bad = site.sign(result), site.sign(replace(result, approval="exception"))
    stranger = TestSite(site.id).sign(result)
    for name, content in (("good", good), ("bad", bad), ("stranger", stranger)):
        (stick / f"{name}.dsse.json").write_bytes(content)
    for _ in range(2):
        left = run(
            "--dir", home.directory, "accept", *sorted(stick.glob("*.json")), "--receipts", stick
        )
        assert left.exit_code == 1
    digests = {name: decode(content).digest for name, content in (("good", good), ("bad", bad))}
    answers = {path.name for path in stick.iterdir()} - {
        "good.dsse.json",
        "bad.dsse.json",
        "stranger.dsse.json",
    }
    assert answers == {f"{digests['good']}.receipt", f"{digests['bad']}.refusal"}
    registry = registry_of(home)
    note = (stick / f"{digests['bad']}.refusal").read_text("utf-8")
    assert (
        verify_refusal(note, digests["bad"], registry.receipt_key, registry.log_name).code
        is Code.NO_EXCEPTIONS
    )
    home.database.close()


def test_a_wrong_request_says_why(directory: Path, tmp_path: Path) -> None:
    (tmp_path / "request").write_bytes(b"{}")
    error = failed("--dir", directory, "enroll", tmp_path / "request")
    assert (error.exit_code, "malformed" in str(error)) == (5, True)


def test_pending_requests_are_enrolled_one_by_one(directory: Path, tmp_path: Path) -> None:
    from aggregator.registry.invites import keep_request, open_request

    home = Home(directory)
    sites = []
    for number in range(2):
        done(
            "--dir",
            directory,
            "invite",
            "--site-name",
            f"Site {number}",
            "--out",
            tmp_path / f"{number}.json",
        )
        invite = read_invite(tmp_path / f"{number}.json")
        sites.append(invite.site)
        with home.database.writing() as connection:
            request = TestSite(invite.site).ask_to_enrol(invite)
            keep_request(connection, open_request(connection, request, today_day=today_day()))
    home.database.close()
    here = ("--dir", directory)
    assert {
        line["site"] for line in json.loads(done(*here, "requests", "--format", "json"))
    } == set(sites)
    assert run(*here, "enroll", "--pending", "--fingerprint-checked").exit_code == 2
    done(*here, "enroll", "--pending", "--fingerprint-checked", "--site", sites[1])
    assert [
        line["name"] for line in json.loads(done(*here, "list", "sites", "--format", "json"))
    ] == ["Site 1"]
    done(*here, "enroll", "--pending", "--fingerprint-checked")
    assert done(*here, "enroll", "--pending") == "No request is waiting.\n"


@pytest.mark.parametrize("what", ["sites", "models", "scorecards", "forks"])
def test_every_listing_speaks_json(directory: Path, what: str) -> None:
    assert json.loads(done("--dir", directory, "list", what, "--format", "json")) == []


def test_registering_nothing_or_the_same_makes_no_version(directory: Path) -> None:
    here = ("--dir", directory)
    assert run(*here, "register").exit_code == 2
    assert run(*here, "register", "--model", "a/b").exit_code == 2
    words = ("register", "--model", "a/b", "--display-name", "A")
    assert "version 2" in done(*here, *words)
    assert "version 2 stays" in done(*here, *words)
    assert "version 3" in done(*here, "register", "--renew")


def test_an_invite_is_private_and_never_overwritten(directory: Path, tmp_path: Path) -> None:
    out = tmp_path / "invite.json"
    done("--dir", directory, "invite", "--site-name", "St. Example", "--out", out)
    assert out.stat().st_mode & 0o777 == 0o600
    assert failed("--dir", directory, "invite", "--site-name", "Other", "--out", out).exit_code == 3


@dataclass
class Ended:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def typed(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., Ended]:
    """Run the program's own entry, in this process."""

    def run_main(*words: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["intramural-aggregator", *words])
        with pytest.raises(SystemExit) as left:
            main()
        return Ended(int(left.value.code or 0), *capfd.readouterr())

    return run_main


def test_errors_say_what_to_do_and_leave_with_their_code(
    tmp_path: Path, typed: Callable[..., Ended]
) -> None:
    for words, code in (
        (["--dir", str(tmp_path), "list", "sites"], 2),
        (["verify", "--board", str(tmp_path / "none")], 2),
        (["--no-such-option"], 2),
        (["init", str(tmp_path / "x"), "--origin", "NOT AN ORIGIN"], 2),
    ):
        ended = typed(*words)
        assert ended.returncode == code, ended.stderr
        assert "Traceback" not in ended.stderr
        if words != ["--no-such-option"]:
            error, advice = ended.stderr.splitlines()
            assert error.startswith("error: ")
            assert re.match(r"  [A-Z].*\.$", advice)


@pytest.mark.parametrize("directory", ["/proc/x", "/dev/null/x", "/proc/self/fd"])
def test_a_directory_that_cannot_be_made_ends_in_a_sentence(
    directory: str, typed: Callable[..., Ended]
) -> None:
    ended = typed("--dir", directory, "init", "--origin", "board.example")
    assert ended.returncode in {2, 3}
    assert ended.stderr.startswith("error: ")
    assert "Traceback" not in ended.stderr


def broken(fault: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the real command with a fault in the middle of `list`."""
    return subprocess.run(
        [sys.executable, "-c", FAULT.format(fault=fault), *words],
        capture_output=True,
        text=True,
        check=False,
    )


FAULT = """
import os, signal
from aggregator import listings
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs have it ignored
def fail(*_args, **_kwargs):
    {fault}
listings.listing = fail
from aggregator.cli import main
main()
"""


@pytest.mark.full
def test_an_error_that_nobody_expected_quotes_nothing_and_says_where(directory: Path) -> None:
    ended = broken(
        "raise ValueError('canary from a submission')", "--dir", str(directory), "list", "sites"
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith("unexpected error: ValueError")
    assert "canary" not in ended.stderr + ended.stdout
    assert "Traceback" not in ended.stderr
    assert re.search(r"^  cli\.py:\d+ in list_$", ended.stderr, re.MULTILINE)
    assert ended.stderr.rstrip().splitlines()[-2].endswith("in fail")


@pytest.mark.full
def test_ctrl_c_leaves_with_130(directory: Path) -> None:
    ended = broken("os.kill(os.getpid(), signal.SIGINT)", "--dir", str(directory), "list", "sites")
    assert (ended.returncode, ended.stdout) == (130, "")
    assert ended.stderr.strip().startswith("interrupted")


@pytest.mark.full
def test_a_reader_who_goes_away_gets_no_traceback(directory: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(
        [sys.executable, "-m", "aggregator", "--dir", directory, "list", "sites", "--format", "json"],
        stdout=writing, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (1, "")


def test_an_error_cannot_take_over_the_terminal(
    directory: Path, typed: Callable[..., Ended]
) -> None:
    hostile = "\x1b[2J\u202eboard"
    for words in (
        ["register", "--retire-scorecard", hostile],
        ["verify", "--board", hostile],
        [hostile],
    ):
        ended = typed("--dir", str(directory), *words)
        assert ended.returncode != 0
        assert "\x1b" not in ended.stderr
        assert "\u202e" not in ended.stderr


def test_the_exit_codes_are_where_people_look_for_them() -> None:
    said = " ".join(done("--help").split())
    codes = dict(re.findall(r"(\d+) ([a-z ]+)", said.split("Exit codes:")[1].split(".")[0]))
    assert codes.keys() == {"0", "1", "2", "3", "4", "5", "6", "7", "130"}


def test_listings_are_tables_for_people(directory: Path) -> None:
    done("--dir", directory, "register", "--model", "a/b", "--display-name", "Modell Ä")
    head, _, row = done("--dir", directory, "list", "models").strip().splitlines()
    assert re.split(r"\s{2,}", head.strip()) == [
        *("Name", "Display name", "Organization", "Kind", "Family", "Parameters millions", "Digest")
    ]
    assert row.split()[:3] == ["a/b", "Modell", "Ä"]
    assert run("--dir", directory, "list", "models", "--format", "text").exit_code == 2


@pytest.mark.full
@pytest.mark.sample(1)
@pytest.mark.parametrize(("level", "lines"), [("info", True), ("warning", False)])
def test_the_log_is_as_loud_as_it_was_asked_to_be(
    directory: Path, tmp_path: Path, level: str, lines: bool
) -> None:
    served = start(Home(directory), tmp_path / "log", options=("--log-level", level))
    try:
        served.post(b"{}")
    finally:
        stop(served)
    assert ("refused: route=POST /v1/submissions code=malformed" in served.log.read_text()) is lines


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys; from aggregator.cli import cli; cli(['--help'], standalone_mode=False); "
        "heavy = {'fastapi', 'sqlalchemy', 'alembic', 'jinja2', 'uvicorn', 'pydantic', 'cryptography'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ended.stdout.splitlines()[-1] == "[]"


@pytest.mark.full
def test_the_aggregator_never_imports_the_agent() -> None:
    program = (
        "import sys, pkgutil, importlib, aggregator; "
        "[importlib.import_module(m.name) for m in pkgutil.walk_packages(aggregator.__path__, 'aggregator.')"
        " if not m.name.endswith(('.env', '__main__')) and '.versions.' not in m.name]; "
        "print([m for m in sys.modules if m == 'agent' or m.startswith('agent.')])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ended.stdout.strip() == "[]"
