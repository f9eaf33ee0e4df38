"""Approving with the steward's own tool: the right bytes come back, once and for all, and a no changes nothing."""

import base64
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from protocol import envelope
from protocol.approval_files import read_rejection
from protocol.cell_codes import SUPPRESSED
from protocol.identity import NONE
from protocol.statements import build_statement
from protocol.verification import History, authenticate, verify_link
from tests.protocol import world
from tests.steward import hospital
from tests.steward.hospital import Steward, chain, next_result


def test_what_the_tool_signs_is_what_the_aggregator_takes(steward: Steward) -> None:
    assert steward.approve(steward.ask(*chain())).code == 0
    registry = hospital.registry_with(steward.signer)
    history = History(head=None)
    for number, data in enumerate(steward.signed()):
        accepted = verify_link(
            authenticate(data, registry, log_index=number),
            registry,
            history,
            today_day=hospital.TODAY,
        )
        datasets = dict(history.datasets)
        if accepted.scorecard is None:
            datasets[accepted.digest] = accepted.statement  # type: ignore[assignment]
        history = replace(
            history, head=accepted.head, ledger=accepted.statement.header.ledger, datasets=datasets
        )


@pytest.mark.full
def test_approving_again_gives_the_same_bytes(steward: Steward) -> None:
    file = steward.ask(*chain())
    assert steward.approve(file).code == 0
    again = steward.approve(file, out="again.json")
    assert again.code == 0
    assert "You approved this statement before (number 1 on your list)" in again.output
    assert (steward.folder / "again.json").read_bytes() == (
        steward.folder / "signed.json"
    ).read_bytes()
    assert len(steward.decisions()) == 3


def test_answering_no_signs_nothing_and_leaves_no_trace(steward: Steward) -> None:
    reply = steward.approve(steward.ask(*chain()), answer="y\nn\n")
    assert reply.code == 1
    assert "Nothing was signed." in reply.output
    assert "To sign only the drafts before this one, name each with --digest." in reply.output
    assert not (steward.folder / "signed.json").exists()
    assert not steward.list_path.exists()


def test_the_page_shows_the_exact_bytes(steward: Steward) -> None:
    (ward, *_) = chain()
    shown = steward.show(steward.ask(ward)).output
    assert build_statement(ward).decode() in shown.replace("\n", "")


@pytest.mark.full
def test_the_difference_comes_from_the_stewards_own_list(steward: Steward) -> None:
    assert steward.approve(steward.ask(*chain())).code == 0
    follower = next_result(cells={**chain()[2].cells, "ward/exact_match": 760})
    shown = steward.show(steward.ask(follower, name="next.json")).output
    assert world.digest_of(chain()[2]) in shown
    assert "+0.040" in shown
    assert "no earlier release of this model" not in shown


def test_a_release_that_the_list_never_saw_is_warned_of(steward: Steward) -> None:
    shown = " ".join(steward.show(steward.ask(next_result(cells=chain()[2].cells))).output.split())
    assert (
        "Your list contains no earlier release of this model and scorecard to compare with."
        in shown
    )
    assert "Your list does not contain the previous link" in shown
    assert "registered data of ward, notes is not among the statements known here" in shown


@pytest.mark.full
def test_one_draft_is_chosen_by_its_digest(steward: Steward) -> None:
    file = steward.ask(*chain())
    digest = world.digest_of(chain()[0])
    assert steward.approve(file, "--digest", digest[:8], answer="y\n").code == 0
    assert [envelope.decode(data).digest for data in steward.signed()] == [digest]
    assert steward.approve(file, "--digest", digest[:7], out="b.json").refuses(
        3, "no draft with this digest"
    )
    third, second = world.digest_of(chain()[2]), world.digest_of(chain()[1])
    early = steward.approve(file, "--digest", third, out="b.json")
    assert early.refuses(2, f"draft {second[:12]} comes before it in the site's chain")


def test_yes_needs_a_digest_and_root_keys_that_are_known(steward: Steward) -> None:
    file = steward.ask(chain()[0])
    digest = world.digest_of(chain()[0])
    assert steward.approve(file, "--yes", answer="").refuses(2, "--yes requires --digest")
    assert steward.approve(file, "--yes", "--digest", digest, answer="").refuses(
        2, "--yes requires --root"
    )
    root = world.ROOT.public.fingerprint
    assert steward.approve(file, "--yes", "--digest", digest, "--root", root, answer="").code == 0
    second = steward.ask(chain()[1], name="second.json")
    digest = world.digest_of(chain()[1])
    assert (
        steward.approve(second, "--yes", "--digest", digest, out="second.signed", answer="").code
        == 0
    )


@pytest.mark.full
def test_a_draft_that_breaks_a_rule_cannot_be_signed_whatever_is_answered(steward: Steward) -> None:
    broken = replace(chain()[2], cells={**chain()[2].cells, "ward/exact_match": 733})
    file = steward.ask(*chain()[:2], broken)
    assert steward.approve(file).refuses(3, "off_grid: ward/exact_match")
    assert "MUST NOT BE SIGNED" in steward.show(file).output
    assert not (steward.folder / "signed.json").exists()


def test_a_site_cannot_loosen_the_federations_rules_by_its_own_policy(steward: Steward) -> None:
    loose = replace(
        world.STRICT, name="loose", min_units=1, min_events=1, grid_units=1, metrics_per_group=9
    )
    result = replace(
        chain()[2],
        cells={**chain()[2].cells, "ward/rouge_l": 640},
        spreads={"ward/rouge_l": 12, "notes/rouge_l": 12},
    )
    assert steward.approve(steward.ask(*chain()[:2], result, policy=loose)).refuses(
        3, "too_many_metrics"
    )


def test_the_agents_key_signs_nothing_as_steward(steward: Steward) -> None:
    key = hospital.write_plain_key(steward.folder / "agent.key", world.AGENT)
    reply = steward.run(
        "approve",
        steward.ask(chain()[0]),
        "--key",
        key,
        "--out",
        "signed.json",
        "--list",
        "l",
        answer="y\n",
    )
    assert reply.refuses(4, "this is the agent's key")
    assert not (steward.folder / "l").exists()


def test_a_key_of_nobody_or_of_another_site_signs_nothing(steward: Steward) -> None:
    for signer in (world.STRANGER, world.OTHER_STEWARD):
        key = hospital.write_plain_key(steward.folder / "other.key", signer)  # type: ignore[arg-type]
        reply = steward.run(
            "approve", steward.ask(chain()[0]), "--key", key, "--out", "o", answer="y\n"
        )
        assert reply.refuses(4, "not a steward's key of this site")


def test_an_output_file_that_is_there_is_not_overwritten(steward: Steward) -> None:
    (steward.folder / "signed.json").write_text("something else")
    assert steward.approve(steward.ask(chain()[0])).refuses(2, "is not overwritten")
    assert (steward.folder / "signed.json").read_text() == "something else"
    assert not steward.list_path.exists()


@pytest.mark.full
@pytest.mark.parametrize("reason", ["wrong_figures", "shorter_history"])
def test_a_rejection_carries_digests_and_a_reason_alone(steward: Steward, reason: str) -> None:
    reply = steward.run(
        "reject",
        steward.ask(*chain()),
        "--reason",
        reason,
        "--out",
        "no.json",
        "--list",
        steward.list_path,
    )
    assert reply.code == 0, reply.errors
    rejection = read_rejection((steward.folder / "no.json").read_bytes())
    assert rejection.reason == reason
    assert rejection.digests == tuple(world.digest_of(statement) for statement in chain())
    assert [entry["decision"] for entry in steward.decisions()] == ["rejected"] * 3


def test_a_reason_in_words_of_ones_own_is_refused(steward: Steward) -> None:
    reply = steward.run(
        "reject", steward.ask(chain()[0]), "--reason", "see patient 17", "--out", "no.json"
    )
    assert reply.refuses(2, "'see patient 17' is not one of")
    assert not (steward.folder / "no.json").exists()


@pytest.mark.full
def test_a_rejected_draft_may_be_approved_later(steward: Steward) -> None:
    file = steward.ask(*chain())
    rejected = steward.run(
        "reject", file, "--reason", "other", "--out", "no", "--list", steward.list_path
    )
    assert rejected.code == 0, rejected.errors
    approved = steward.approve(file)
    assert approved.code == 0
    assert approved.output.count("You rejected this statement before (other).") == 3
    assert [entry["decision"] for entry in steward.decisions()] == ["rejected"] * 3 + [
        "approved"
    ] * 3


def test_what_was_approved_cannot_be_rejected(steward: Steward) -> None:
    file = steward.ask(chain()[0])
    assert steward.approve(file).code == 0
    reply = steward.run(
        "reject", file, "--reason", "other", "--out", "no", "--list", steward.list_path
    )
    assert reply.refuses(2, "was approved before")


def test_a_draft_with_withheld_groups_explains_them(steward: Steward) -> None:
    result = chain()[2]
    groups = {**result.groups, "ward/sex.female": 0, "ward/sex.male": 0}
    cells = dict(result.cells)
    for subgroup in ("female", "male"):
        cells[f"ward/exact_match/sex.{subgroup}"] = SUPPRESSED
    shown = steward.show(steward.ask(*chain()[:2], replace(result, groups=groups, cells=cells)))
    assert "fewer than 11 units, or the group's size would reveal another group's" in " ".join(
        shown.output.split()
    )
    assert shown.code == 0, shown.errors


def test_a_result_without_registered_data_is_not_signed(steward: Steward) -> None:
    bare = replace(chain()[2], data={"exam": NONE, "ward": NONE, "notes": NONE})
    assert steward.approve(steward.ask(*chain()[:2], bare)).refuses(3, "never registered")


@pytest.mark.full
def test_killed_at_any_moment_the_list_and_what_was_given_out_agree(steward: Steward) -> None:
    """Whatever was given out stands on the list; and approving again gives what was, or would have been, given out."""
    file = steward.ask(*chain())
    for number in range(12):
        out = steward.folder / f"out-{number}.json"
        paths = [str(hospital.ROOT / "deploy/steward"), str(hospital.ROOT)]
        words = [
            "approve",
            str(file),
            "--key",
            str(steward.key),
            "--out",
            str(out),
            "--list",
            str(steward.list_path),
        ]
        with subprocess.Popen(
            [sys.executable, "-m", "intramural_steward", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        ) as process:
            assert process.stdin is not None
            process.stdin.write(b"y\ny\ny\n")
            process.stdin.flush()
            time.sleep(0.15 + 0.04 * number)
            process.send_signal(signal.SIGKILL)
        assert len(steward.decisions()) in {0, 3}
        if out.exists():
            assert len(steward.decisions()) == 3
    assert steward.approve(file, out="last.json").code == 0
    assert len(steward.decisions()) == 3
    kept = [json.loads(line)["envelope"] for line in steward.list_path.read_bytes().splitlines()]
    assert [base64.b64decode(each) for each in kept] == list(steward.signed("last.json"))


def test_no_word_of_the_commands_changes_the_site(steward: Steward, tmp_path: Path) -> None:
    """Reading needs no site directory and writes nothing but the list's lock."""
    file = steward.ask(*chain())
    before = {path.name for path in tmp_path.iterdir()}
    assert steward.show(file).code == 0
    assert {path.name for path in tmp_path.iterdir()} - before == {"list.jsonl.lock"}
