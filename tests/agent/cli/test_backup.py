"""`backup`, `restore`, `copies`: a site comes back on another machine, and knows that it may have forgotten much."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.backup.restore import open_copy_keys, read_header, read_keys_folder, restore_copy
from agent.backup.write import write_copy
from agent.cli.audit import audit
from agent.cli.backup import backup, copies, restore
from agent.cli.datasets import datasets
from agent.cli.doctor import examine
from agent.cli.enroll import enroll, registry, steward_key
from agent.cli.ledger import ledger
from agent.cli.reset import reset
from agent.cli.rotate import rotate
from agent.cli.runs import runs
from agent.cli.site import purge
from agent.cli.submission import submission
from agent.cli.summarize import summarize
from agent.delivery.outbox import Outbox
from agent.errors import AgentError, ConfigError, DisclosureError, StoreError
from agent.site.directory import Site, create_site
from tests.agent.backup.conftest import PASSPHRASE, fill_site
from tests.agent.cli.rekeyings import Steward, approve, carry_head, decide, release, shown
from tests.agent.delivery.whole_site import (
    SUITE,
    Wire,
    approve_at_the_aggregator,
    fill,
    ok,
    rows,
    run,
    write_invite,
)
from tests.aggregator.conftest import Served
from tests.aggregator.federation import CARD, MODELS
from tests.forked import run_command

REPEATED, ROUNDED = '"repeated"', '"rounded"'  # rules of the gate, in a file of verdicts


@pytest.fixture
def small(tmp_path: Path) -> Site:
    return fill_site(tmp_path / "small")


@pytest.fixture
def passphrase_file(tmp_path: Path) -> Path:
    path = tmp_path / "passphrase"
    path.write_text(PASSPHRASE + "\n")
    path.chmod(0o600)
    return path


def copy_and_restore(site: Site, copy: Path, directory: Path) -> Site:
    if not copy.exists():
        write_copy(site, copy, passphrase=PASSPHRASE)
    return restore_copy(copy, directory, open_copy_keys(read_header(copy), PASSPHRASE)).site


def refused(site: Site, *command: object) -> None:
    result = run(site, *command)  # type: ignore[arg-type]
    assert isinstance(result.exception, DisclosureError), (result.output, result.exception)
    assert "was restored from a copy of" in str(result.exception)
    assert "reset show" in result.exception.advice


def test_commands_as_people_type_them(small: Site, tmp_path: Path, passphrase_file: Path):
    copy, directory = tmp_path / "copy", tmp_path / "restored"
    words = ("--site", small.directory, "backup", copy, "--label", "nightly")
    done = run_command("agent", *words, "--passphrase-file", passphrase_file)
    assert done.returncode == 0, done.stderr
    assert "sealed with the passphrase" in done.stdout
    checked = run_command("agent", "--site", small.directory, "copies", "check", copy)
    assert "is whole" in checked.stdout, checked.stderr
    done = run_command("agent", "restore", copy, directory, "--passphrase-file", passphrase_file)
    assert done.returncode == 0, done.stderr
    assert f"Next: intramural --site {directory} doctor" in done.stdout
    for site in (small.directory, directory):
        listed = run_command("agent", "--site", site, "copies", "list", "--format", "json")
        (row,) = json.loads(listed.stdout)
        assert (row["label"], row["keys"], row["state"]) == ("nightly", "sealed", "complete")
    first, second = (
        run_command("agent", "--site", site, "runs", "list", "--format", "json").stdout
        for site in (small.directory, directory)
    )
    assert json.loads(first) == json.loads(second) != []


def test_a_typed_passphrase_is_asked_for_twice_and_never_shown(small: Site, tmp_path: Path):
    copy = tmp_path / "copy"
    typed = f"{PASSPHRASE}\n{PASSPHRASE}\n"
    assert PASSPHRASE not in ok(small, backup, copy, answer=typed)
    wrong = run(small, restore, copy, tmp_path / "restored", answer="another four words here\n")
    assert isinstance(wrong.exception, StoreError)
    assert "does not open the keys" in str(wrong.exception)
    assert not (tmp_path / "restored").exists()
    ok(small, restore, copy, tmp_path / "restored", answer=f"{PASSPHRASE}\n")


@pytest.mark.parametrize("weak", ["short", "password1234", "aaaaaaaaaaaaaaa", ""])
def test_a_passphrase_that_is_easily_guessed_is_refused(
    small: Site, tmp_path: Path, passphrase_file: Path, weak: str
):
    passphrase_file.write_text(weak)
    result = run(small, backup, tmp_path / "copy", "--passphrase-file", passphrase_file)
    assert isinstance(result.exception, ConfigError)
    assert "passphrase" in str(result.exception)
    assert weak == "" or weak not in str(result.exception)
    assert not (tmp_path / "copy").exists()


def test_a_passphrase_file_that_others_can_read_is_refused(
    small: Site, tmp_path: Path, passphrase_file: Path
):
    for mode in (0o640, 0o604, 0o666):
        passphrase_file.chmod(mode)
        result = run(small, backup, tmp_path / "copy", "--passphrase-file", passphrase_file)
        assert isinstance(result.exception, ConfigError)
        assert "open to other accounts" in str(result.exception)
    passphrase_file.chmod(0o600)
    passphrase_file.write_text(f"{PASSPHRASE}\nand more\n")
    several = run(small, backup, tmp_path / "copy", "--passphrase-file", passphrase_file)
    assert "one line" in str(several.exception)
    missing = run(small, backup, tmp_path / "copy", "--passphrase-file", tmp_path / "none")
    assert isinstance(missing.exception, ConfigError)


def test_no_option_takes_a_passphrase_where_other_accounts_can_read_it():
    for command in (backup, restore, copies.commands["check"]):
        names = {name for option in command.params for name in option.opts}
        assert "--passphrase" not in names
        assert not any("env" in str(option.envvar) for option in command.params if option.envvar)


def test_a_label_has_no_room_for_a_path(small: Site, tmp_path: Path):
    for label in ("/srv/mrs-quill", "a" * 41, "line\nbreak", "-x"):
        result = run(small, backup, tmp_path / "copy", "--without-keys", "--label", label)
        assert result.exit_code == 2
    assert not (tmp_path / "copy").exists()


def test_purge_names_the_copies_that_hold_what_it_deleted(small: Site, tmp_path: Path):
    ok(small, backup, tmp_path / "first", "--without-keys", "--label", "before the move")
    said = ok(small, purge, "--older-than", 0)
    copy_id = read_header(tmp_path / "first").copy_id
    assert "1 known copy still holds texts that were deleted here" in said
    assert f"{copy_id[:8]} of " in said
    assert "(before the move)" in said
    ok(small, backup, tmp_path / "second", "--without-keys")
    listed = json.loads(ok(small, copies, "list", "--format", "json"))
    assert [row["holds_deleted_texts"] for row in listed] == [True, False]
    assert "is whole" in ok(small, copies, "check", tmp_path / "second")
    (tmp_path / "first").unlink()
    ok(small, copies, "forget", copy_id[:8])
    assert "still hold" not in ok(small, purge, "--older-than", 0)
    events = [event["event"] for event in json.loads(ok(small, audit, "--format", "json"))]
    assert events.count("copy written") == 2
    assert events.count("copy destroyed") == 1


def test_forgetting_needs_the_id_of_one_copy(small: Site, tmp_path: Path):
    ok(small, backup, tmp_path / "copy", "--without-keys")
    for wrong in ("", "abc", "0123456789abcdef", "%"):
        assert isinstance(run(small, copies, "forget", wrong).exception, ConfigError)
    assert run(small, copies, "forget").exit_code == 2
    assert len(json.loads(ok(small, copies, "list", "--format", "json"))) == 1
    ok(small, copies, "forget", "--older-than", 1)
    assert len(json.loads(ok(small, copies, "list", "--format", "json"))) == 1
    with small.store() as store:
        store.database.connection.execute("UPDATE copies SET made_at = made_at - 100000")
    ok(small, copies, "forget", "--older-than", 1)
    assert json.loads(ok(small, copies, "list", "--format", "json")) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
@pytest.mark.parametrize("kind", ["full", "read-only"])
def test_a_disk_that_cannot_hold_the_copy_is_named(small: Site, tmp_path: Path, kind: str):
    disk = tmp_path / "disk"
    disk.mkdir()
    options = "size=2m" if kind == "full" else "size=64m,ro"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", disk], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("a tmpfs cannot be mounted here")
    try:
        done = run_command(
            "agent", "--site", small.directory, "backup", disk / "copy", "--without-keys"
        )
        assert done.returncode == 2, done.stderr
        assert {"full": "too little room", "read-only": "Read-only"}[kind] in done.stderr
        assert "Traceback" not in done.stderr
        write_copy(small, tmp_path / "copy", passphrase=None)
        words = ("restore", tmp_path / "copy", disk / "site", "--keys", small.keys)
        done = run_command("agent", *words)
        assert done.returncode == 2, done.stderr
        assert {"full": "quota is full", "read-only": "Read-only"}[kind] in done.stderr
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", disk], check=True)
    with small.store() as store:  # the failed copy is not known; the site is as it was
        assert len(store.copies.read_all()) == 1
        assert store.audit.read_events()


def run_as_nobody(action: Callable[[], object]) -> str:
    """Return the error that an action raises under an account without rights, in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setegid(65534)
            os.seteuid(65534)
            action()
        except AgentError as error:
            os.write(writing, f"{type(error).__name__}: {error} {error.advice}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as file:
        return file.read()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act for another account")
def test_an_account_that_may_not_read_or_write_there_is_told_so(small: Site) -> None:
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        folder.chmod(0o755)
        theirs, closed = folder / "site", folder / "closed"
        shutil.copytree(small.directory, theirs)
        closed.mkdir(mode=0o755)
        write_copy(small, folder / "copy", passphrase=None)
        for path in (theirs, *theirs.rglob("*")):
            os.chown(path, 65534, 65534)
        keys = read_keys_folder(small.keys)
        said = run_as_nobody(lambda: write_copy(Site(theirs), closed / "copy", passphrase=None))
        assert said.startswith("ConfigError: copy cannot be written (Permission denied)"), said
        assert "in which this account can write" in said
        said = run_as_nobody(lambda: restore_copy(folder / "copy", closed / "new", keys))
        assert said.startswith("ConfigError: copy cannot be read (Permission denied)"), said
        (folder / "copy").chmod(0o644)
        said = run_as_nobody(lambda: restore_copy(folder / "copy", closed / "new", keys))
        assert said.startswith("ConfigError: new cannot be written (Permission denied)"), said
        (theirs / "data/ward/notes.jsonl").chmod(0)
        os.chown(theirs / "data/ward/notes.jsonl", 0, 0)
        (folder / "open").mkdir()
        (folder / "open").chmod(0o777)
        target = folder / "open/copy"
        said = run_as_nobody(lambda: write_copy(Site(theirs), target, passphrase=None))
        assert said.startswith("StoreError: data/ward/notes.jsonl cannot be read"), said
        (theirs / "data/ward").chmod(0)
        os.chown(theirs / "data/ward", 0, 0)
        said = run_as_nobody(lambda: write_copy(Site(theirs), target, passphrase=None))
        assert said.startswith("StoreError: data/ward cannot be read"), said
        assert [*closed.iterdir(), *(folder / "open").iterdir()] == []
    finally:
        shutil.rmtree(folder)


def test_a_restored_site_reads_everything_and_submits_nothing_until_it_was_reset(
    site: Site, served: Served, key: Path, steward: Steward, tmp_path: Path
) -> None:
    ok(site, submission, "prepare", "--suite", SUITE, "--model", MODELS[1].name)  # a draft waits
    write_copy(site, tmp_path / "copy", passphrase=PASSPHRASE)
    release(site, key, MODELS[1].name)
    restored = copy_and_restore(site, tmp_path / "copy", tmp_path / "restored")

    (sent,) = [row for row in rows(restored, "result") if row["state"] == "receipted"]
    (waiting,) = [row for row in rows(restored, "result") if row["state"] == "prepared"]
    for command in (
        (submission, "prepare", "--suite", SUITE),
        (submission, "approve", "--key", key, "--yes", "--digest", waiting["digest"]),
        (submission, "approve", "--out", tmp_path / "request"),
        (submission, "plan", "--scorecard", CARD.name, "--model", MODELS[0].name),
        (rotate, "request", "--role", "agent", "--out", tmp_path / "rotation"),
        (
            submission,
            "withdraw",
            "--reason",
            "data_error",
            "--digest",
            sent["digest"],
        ),
    ):
        refused(restored, *command)
    assert not (tmp_path / "request").exists()
    assert rows(restored, "result")[-1]["state"] == "prepared"

    ok(restored, runs, "list")
    ok(restored, summarize, "--suite", SUITE)
    ok(restored, ledger, "show")
    ok(restored, ledger, "verify")
    ok(restored, submission, "show")
    ok(restored, audit)
    (check,) = [check for check in examine(restored) if check.subject == "restored"]
    assert check.verdict == "warning"
    assert "reset show" in check.advice

    code, text = shown(restored)
    assert (code, "Lost here: 1 link" in text) == (1, True)
    refused_to_continue = run(restored, reset, "continue")
    assert isinstance(refused_to_continue.exception, DisclosureError)
    ok(restored, reset, "request", "--reason", "restored", "--out", tmp_path / "reset")
    refused(restored, submission, "prepare", "--suite", SUITE)
    ok(restored, reset, "send", steward.sign_request(tmp_path / "reset", key))
    refused(restored, submission, "prepare", "--suite", SUITE)
    decide(served)
    ok(restored, registry, "update")
    for cell in CARD.cells:
        fill(restored, cell.benchmark, cell.metric, MODELS[2].name, right=50, suite="later")
    release(restored, key, MODELS[2].name, "later")
    assert [row["state"] for row in rows(restored, "result") if row["epoch"] == 2] == ["receipted"]
    events = json.loads(ok(restored, audit, "--format", "json"))
    ended = [event for event in events if event["event"] == "submitting after a restore"]
    assert [event["detail"].split()[-1] for event in ended] == ["reason=new_epoch"]


def test_an_approved_statement_in_a_copy_is_not_sent_again_from_the_restored_site(
    site: Site, key: Path, tmp_path: Path
) -> None:
    approve(site, key, MODELS[1].name)
    restored = copy_and_restore(site, tmp_path / "copy", tmp_path / "restored")
    refused(restored, submission, "send")
    refused(restored, submission, "send", "--export", tmp_path / "carried")
    assert not (tmp_path / "carried").exists()


def test_a_restored_site_that_lost_nothing_continues_when_somebody_says_so(
    site: Site, served: Served, key: Path, tmp_path: Path
) -> None:
    restored = copy_and_restore(site, tmp_path / "copy", tmp_path / "restored")
    refused(restored, submission, "prepare", "--suite", SUITE)
    code, text = shown(restored)
    assert (code, "reset continue" in text) == (0, True)
    refused(restored, submission, "prepare", "--suite", SUITE)  # looking changes nothing
    head = carry_head(site, served)
    assert run(restored, reset, "continue", "--head", head).exit_code == 2
    ok(restored, reset, "continue")
    release(restored, key, MODELS[1].name)
    again = run(restored, reset, "continue")
    assert isinstance(again.exception, ConfigError)
    assert "reset continue" not in shown(restored)[1]


def test_a_restored_site_that_lost_nothing_may_still_ask_for_a_new_epoch(
    site: Site, key: Path, tmp_path: Path
) -> None:
    restored = copy_and_restore(site, tmp_path / "copy", tmp_path / "restored")
    ok(restored, reset, "request", "--reason", "restored", "--out", tmp_path / "request")


def test_a_reset_that_was_in_force_before_the_copy_lifts_no_mark(
    site: Site, served: Served, key: Path, steward: Steward, tmp_path: Path
) -> None:
    ok(site, reset, "request", "--reason", "stolen_key", "--new-agent-key", "--out", tmp_path / "r")
    ok(site, reset, "send", steward.sign_request(tmp_path / "r", key))
    decide(served)
    ok(site, registry, "update")
    restored = copy_and_restore(site, tmp_path / "copy", tmp_path / "restored")
    refused(restored, submission, "prepare", "--suite", SUITE)


def test_a_site_that_never_joined_has_nothing_to_compare(small: Site, tmp_path: Path) -> None:
    restored = copy_and_restore(small, tmp_path / "copy", tmp_path / "restored")
    (check,) = [check for check in examine(restored) if check.subject == "restored"]
    assert check.verdict == "ok"


def test_registering_data_at_a_restored_site_is_refused_but_may_be_tried(
    site: Site, key: Path, tmp_path: Path
) -> None:
    restored = copy_and_restore(site, tmp_path / "copy", tmp_path / "restored")
    refused(restored, datasets, "register", "pubmed_qa")
    tried = run(restored, datasets, "register", "pubmed_qa", "--dry-run")
    assert "was restored" not in str(tried.exception)


def test_a_folder_that_is_no_site_makes_no_copy(tmp_path: Path) -> None:
    result = run(Site(tmp_path), backup, tmp_path.parent / "copy", "--without-keys")
    assert isinstance(result.exception, ConfigError)
    other = create_site(tmp_path / "site", "St. Example")
    (other.directory / "store/site.sqlite3").unlink()
    result = run(other, backup, tmp_path / "copy", "--without-keys")
    assert isinstance(result.exception, StoreError)
    assert not (tmp_path / "copy").exists()


def prepare_again(site: Site) -> str:
    """Ask a model again, with the answer about one patient changed; return the gate's rules about its figures."""
    for cell in CARD.cells:
        fill(site, cell.benchmark, cell.metric, MODELS[1].name, right=59, suite="again")
    ok(site, submission, "prepare", "--suite", "again", "--model", MODELS[1].name)
    (draft,) = [row for row in rows(site, "result") if row["state"] == "prepared"]
    return json.dumps(Outbox(site.submissions).read_verdicts(draft["digest"]))


def test_a_restored_copy_cannot_release_again_what_the_later_site_has_released(
    site: Site, key: Path, tmp_path: Path
) -> None:
    """The copy has forgotten a figure; a second one, computed without one patient, would betray that patient."""
    write_copy(site, tmp_path / "copy", passphrase=PASSPHRASE)
    release(site, key, MODELS[1].name)
    restored = copy_and_restore(site, tmp_path / "copy", tmp_path / "restored")
    refused(restored, submission, "prepare", "--suite", SUITE, "--model", MODELS[1].name)
    assert rows(restored, "result")[-1]["state"] == "receipted"
    later = prepare_again(site)
    assert (REPEATED in later, ROUNDED in later) == (True, False)

    with restored.store() as store:
        store.copies.end_restoration()  # without the mark, nothing stands in the way of the attack
    attack = prepare_again(restored)
    assert (REPEATED in attack, ROUNDED in attack) == (False, True)
    approve_waiting = run(restored, submission, "approve", "--key", key, answer="y\n")
    assert approve_waiting.exception is None


def test_a_copy_of_the_time_before_joining_gains_its_mark_when_it_joins(
    site: Site, served: Served, wire: Wire, tmp_path: Path
) -> None:
    write_copy(site, tmp_path / "copy", passphrase=PASSPHRASE)
    restored = copy_and_restore(site, tmp_path / "copy", tmp_path / "restored")
    assert [check.verdict for check in examine(restored) if check.subject == "restored"] == ["ok"]
    joined = join_without_datasets(restored, served, wire, tmp_path)
    refused(joined, submission, "prepare", "--suite", SUITE)
    ok(joined, reset, "continue")
    result = run(joined, submission, "prepare", "--suite", SUITE)
    assert "was restored" not in str(result.exception)


def join_without_datasets(site: Site, served: Served, wire: Wire, tmp_path: Path) -> Site:
    ok(site, steward_key, "--out", tmp_path / "steward.key")
    invite = write_invite(served.home, tmp_path / "invite.json", wire.url)
    ok(site, enroll, "--invite", invite, "--steward-key", tmp_path / "steward.key")
    approve_at_the_aggregator(served.home)
    ok(site, registry, "update")
    return site
