"""What leaves by `submission send`: approved links, in their order, by the network or as files, and after a kill."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.cli.enroll import registry
from agent.cli.submission import submission
from agent.cli.submission_context import open_outbox
from agent.delivery.send import list_waiting
from agent.errors import DeliveryError, DisclosureError
from agent.site.directory import Site
from aggregator.home import today_day
from aggregator.intake import accept
from tests.agent.delivery.whole_site import (
    SUITE,
    Wire,
    drafts,
    ok,
    rows,
    states,
)
from tests.aggregator.conftest import Served
from tests.aggregator.federation import MODELS


@pytest.mark.full
def test_the_second_link_sent_first_is_held_back_and_both_arrive_later(
    site: Site, joined_key: Path, wire: Wire
) -> None:
    ok(site, submission, "prepare", "--suite", SUITE)
    for page in drafts(site):
        ok(site, submission, "approve", "--key", joined_key, "--yes", "--digest", page["digest"])
    before = len(wire.bytes)
    with pytest.raises(DeliveryError, match="comes after"):
        ok(site, submission, "send", "--digest", rows(site)[1]["digest"])
    assert len(wire.bytes) == before
    ok(site, submission, "send")
    assert [(row["seq"], row["state"]) for row in rows(site)] == [
        (n, "receipted") for n in (1, 2, 3, 4)
    ]


def test_nothing_is_sent_without_approval(
    site: Site, joined_key: Path, wire: Wire, tmp_path: Path
) -> None:
    del joined_key
    ok(site, submission, "prepare", "--suite", SUITE, "--model", MODELS[0].name)
    before = len(wire.bytes)
    (page,) = drafts(site)
    ok(site, submission, "send")  # the datasets
    before = len(wire.bytes)
    assert "Nothing is waiting" in ok(site, submission, "send")
    with pytest.raises(DisclosureError, match="is prepared, so it cannot be sent"):
        ok(site, submission, "send", "--digest", page["digest"])
    with pytest.raises(DisclosureError, match="is prepared, so it cannot be sent"):
        ok(site, submission, "send", "--digest", page["digest"], "--export", tmp_path / "out")
    assert len(wire.bytes) == before
    assert not (tmp_path / "out").exists()


def test_a_carried_receipt_is_listed_as_unproven_until_a_network_proves_it(
    site: Site, joined_key: Path, served: Served, tmp_path: Path
) -> None:
    del joined_key
    stick = tmp_path / "stick"
    stick.mkdir()
    ok(site, submission, "send", "--export", stick)
    for link in list_waiting(open_outbox(site)):
        receipt = accept(
            served.home, (stick / f"{link.digest}.dsse.json").read_bytes(), today_day=today_day()
        ).receipt
        (stick / "receipt").write_text(receipt)
        assert "receipted" in ok(site, submission, "send", "--import-receipt", stick / "receipt")
    assert states(site) == ["receipted"] * 2
    assert [row["receipt_is_carried"] for row in rows(site)] == [True, True]
    assert "2 of the receipts came as files" in ok(site, submission, "status")
    ok(site, registry, "update")
    assert [row["receipt_is_carried"] for row in rows(site)] == [False, False]
    assert "came as files" not in ok(site, submission, "status")


def start_sending(site: Site) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-m",
        "agent",
        "--site",
        str(site.directory),
        "submission",
        "send",
        "--keep-trying",
    ]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.full
def test_a_killed_sender_goes_on_where_it_was_once_the_network_is_back(
    site: Site, joined_key: Path, wire: Wire
) -> None:
    ok(site, submission, "prepare", "--suite", SUITE)
    ok(site, submission, "approve", "--key", joined_key, answer="y\n" * 2)
    wire.refusals = 1_000_000
    for _ in range(2):
        sending = start_sending(site)
        assert sending.stderr is not None
        assert "attempt 1 failed" in sending.stderr.readline()
        sending.kill()
        sending.communicate()
        assert states(site)[0] == "sent"
    sending = start_sending(site)
    time.sleep(1)
    wire.refusals = 0
    output, errors = sending.communicate(timeout=60)
    assert sending.returncode == 0, errors
    assert output.count("receipted ") == 4
    assert states(site) == ["receipted"] * 4
