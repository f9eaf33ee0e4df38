"""`intramural audit` as people call it: the log with its head, a store that was put back, submissions once more."""

import hashlib
import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent.catalog.benchmark import survey_benchmarks
from agent.cli.federation import today_day
from agent.cli.submission_context import open_gate
from agent.delivery.membership import Federation, Membership
from agent.disclosure.leaf_sampling import bound_wrong_leaves
from agent.disclosure.scorecard import draft_scorecard
from agent.keys import KeyRole, load_signer
from agent.site.directory import Site, create_site
from agent.vocabulary import Response
from protocol import envelope
from protocol import registry as registered
from protocol.canonical import canonical
from tests.agent.disclosure.ward import sign
from tests.agent.fault_server import Asked, FaultServer, Message
from tests.agent.runs.suites import run
from tests.agent.terminal import Done, intramural
from tests.protocol import world


@pytest.fixture
def site(tmp_path: Path) -> Site:
    site = create_site(tmp_path / "site", "St. Elsewhere")
    log(site, 4)
    return site


def log(site: Site, count: int) -> None:
    with site.store() as store:
        for number in range(count):
            store.audit.record("reveal", f"view run=1 page={number}")


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
    assert (
        rows["head 8"]["finding"]
        == "3 events after event 5 are missing: the store was restored from a backup"
    )


def test_list_of_heads_is_read_from_a_file(site: Site, tmp_path: Path) -> None:
    number, link = head_of(site).split(":")
    heads = tmp_path / "heads.ndjson"
    heads.write_bytes(canonical({"number": int(number), "link": link}) + b"\n")
    done = audit(site, "verify", "--heads", heads)
    assert done.returncode == 0, done.stdout + done.stderr
    heads.write_bytes(heads.read_bytes() + b'{"number": 5, "link": "x"}\n')
    done = audit(site, "verify", "--heads", heads)
    assert done.returncode == 2
    assert "line 2 of the file of heads is not a head of an audit log" in done.stderr


@pytest.mark.parametrize(
    "head",
    ["5", "0:" + "0" * 64, "-1:" + "0" * 64, "5:" + "G" * 64, "5:" + "0" * 63, "٥:" + "0" * 64],
)
def test_what_is_no_head_is_refused(site: Site, head: str) -> None:
    done = audit(site, "verify", "--head", head)
    assert done.returncode == 2
    assert "expected the number of an event, a colon and 64 hex digits" in done.stderr


# What was submitted, once more from the store.


def says(asked: Asked) -> Message | None:
    return (
        Message({"role": "assistant", "content": "The answer is (A)."})
        if "A. yes" in asked.prompt
        else None
    )


@pytest.fixture(scope="module")
def submitted(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Return an enrolled site that has evaluated a public benchmark and whose steward approved the figures."""
    site = create_site(tmp_path_factory.mktemp("submitted") / "site", "St. Elsewhere")
    with FaultServer(models=[world.MODEL.name], fault=says) as server:
        run(site, server.url, f"pubmed_qa:model={world.MODEL.name}")
    signer = load_signer(site.keys / "agent.key", KeyRole.AGENT)
    benchmarks, _ = survey_benchmarks(None)
    card = draft_scorecard("audited", 1, [benchmarks["pubmed_qa"]])
    registry = world.registry(
        expires_day=today_day(site) + 100,
        sites={
            world.SITE: registered.Site(
                "St. Elsewhere",
                "named",
                world.ENROLMENT,
                (
                    registered.SiteKey(signer.public, "agent"),
                    registered.SiteKey(world.STEWARD.public, "steward"),
                ),
            )
        },
        scorecards={card.digest: registered.RegisteredScorecard(card)},
    )
    federation = Federation(site.submissions)
    federation.join(
        Membership(world.ORIGIN, world.SITE, "", (world.ROOT.public.keyid,), 1), signer.public.keyid
    )
    data = envelope.sign(registered.build_registry(registry), (world.ROOT,), envelope.REGISTRY_TYPE)
    federation.take(data, today_day(site))
    prepared = intramural(
        "--site", site.directory, "submission", "prepare", "--suite", "s", cwd=site.directory
    )
    assert prepared.returncode == 0, prepared.stderr
    gate = open_gate(site)
    (draft,) = gate.outbox.list_submissions()
    sign(gate, draft)
    return site


def digest_of(site: Site) -> str:
    (submission,) = open_gate(site).outbox.list_submissions()
    return submission.digest


def copy_of(site: Site, tmp_path: Path) -> Site:
    """Return a copy of the site, for a test to change."""
    shutil.copytree(site.directory, tmp_path / "copy")
    for path in [tmp_path / "copy", *(tmp_path / "copy").rglob("*")]:
        path.chmod(0o700 if path.is_dir() else 0o600)
    return Site(tmp_path / "copy")


def change(site: Site, statement: str) -> None:
    with closing(sqlite3.connect(site.directory / "store" / "site.sqlite3")) as database, database:
        assert database.execute(statement).rowcount


def test_approved_submission_is_computed_again_and_matches(submitted: Site) -> None:
    done = audit(submitted, "verify", "--format", "json")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads(done.stdout)
    assert [(row["what"], row["outcome"]) for row in rows] == [
        ("audit log", "match"),
        (f"submission {digest_of(submitted)[:12]}", "match"),
    ]
    named = audit(submitted, "verify", "--digest", digest_of(submitted)[:8])
    assert named.returncode == 0
    assert "match" in named.stdout


def test_score_changed_after_approval_is_found_by_verify_and_stops_sample(
    submitted: Site, tmp_path: Path
) -> None:
    site = copy_of(submitted, tmp_path)
    change(site, "UPDATE scores SET value = 1.0 - value WHERE position = 0")
    done = audit(site, "verify")
    assert done.returncode == 1
    assert "scores_root: the scores in the store give a different root" in " ".join(
        done.stdout.split()
    )
    sampled = audit(site, "sample", "--digest", digest_of(site))
    assert sampled.returncode == 6
    assert "so its leaves cannot be opened" in sampled.stderr


def test_sample_of_an_honest_submission_matches_and_says_what_it_excludes(submitted: Site) -> None:
    done = audit(
        submitted, "sample", "--digest", digest_of(submitted), "-k", "4", "--seed", "of the steward"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    with submitted.store() as store:
        (stored,) = store.runs.select("s")
        size = store.answers.count_instances(
            stored.run_id
        )  # one metric of each; the other is of the whole run
        assert store.audit.read_events()[-1].event == "leaves sampled"
    assert f"4 of {size} leaves drawn with seed of the steward" in done.stdout
    assert "4 match, 0 differ, 0 cannot be checked" in done.stdout
    bound = bound_wrong_leaves(size, 4, 0)
    assert f"at most {bound} of {size} leaves are wrong ({100 * bound / size:.2f} %)" in done.stdout
    everything = audit(submitted, "sample", "--digest", digest_of(submitted))
    assert f"at most 0 of {size} leaves are wrong (0.00 %)" in everything.stdout


def test_opened_leaves_can_be_checked_by_another_program(submitted: Site) -> None:
    """With hashlib and the rules of RFC 6962 alone."""
    done = audit(
        submitted, "sample", "--digest", digest_of(submitted), "-k", "5", "--format", "json"
    )
    (sample,) = json.loads(done.stdout)
    (submission,) = open_gate(submitted).outbox.list_submissions()
    for opening in sample["openings"]:
        content = bytes.fromhex(opening["salt"]) + opening["record"].encode()
        found = hashlib.sha256(b"\x00" + content).digest()
        index, last = opening["index"], sample["leaves"] - 1
        for sibling in map(bytes.fromhex, opening["proof"]):
            while index == last and index % 2 == 0:  # without a sibling it moved up as it is
                index, last = index // 2, last // 2
            pair = sibling + found if index % 2 else found + sibling
            found, index, last = hashlib.sha256(b"\x01" + pair).digest(), index // 2, last // 2
        assert found.hex() == submission.result.scores_root


def test_answers_swapped_after_approval_are_found_by_a_sample(
    submitted: Site, tmp_path: Path
) -> None:
    """Whoever holds the data key puts another answer in the place of one that was scored; scores stay."""
    site = copy_of(submitted, tmp_path)
    with site.store() as store:
        (stored,) = store.runs.select("s")
        keys = list(store.answers.read_request_keys(stored.run_id))
        answers = [(key, Response("The answer is (B).", "", "stop", 1, 1, 0.1)) for key in keys]
        store.answers.settle(stored.run_id, answers, [])
    done = audit(site, "sample", "--digest", digest_of(site))
    assert done.returncode == 1
    assert "the submission has 1, but the stored answer gets 0" in done.stdout
    assert re.search(r"^leaf \d+, pubmed_qa/", done.stdout, re.MULTILINE)


def test_purged_answers_are_counted_against_the_submission(submitted: Site, tmp_path: Path) -> None:
    site = copy_of(submitted, tmp_path)
    with site.store() as store:
        store.purge(0)
    done = audit(site, "sample", "--digest", digest_of(site))
    assert done.returncode == 1
    assert "0 match, 0 differ" in done.stdout
    assert "(100.00 %), those that cannot be checked counted as wrong" in done.stdout
    assert audit(site, "verify").returncode == 0  # figures need no texts
