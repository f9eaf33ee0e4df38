"""`intramural rotate`: a new key signs once the registry names it, and a rotation is taken back."""

from pathlib import Path

import pytest

from agent.cli.enroll import registry, steward_key
from agent.cli.rotate import rotate
from agent.cli.submission import submission
from agent.errors import DisclosureError
from agent.site.directory import Site
from tests.agent.cli.rekeyings import Steward, decide, release
from tests.agent.delivery.whole_site import (
    PROTECTED,
    SUITE,
    ok,
    rows,
    states,
)
from tests.aggregator.conftest import Served
from tests.aggregator.federation import MODELS


@pytest.mark.full
@pytest.mark.parametrize("role", ["agent", "steward"])
def test_a_rotated_key_signs_from_then_on_and_the_old_one_no_more(
    site: Site, served: Served, key: Path, steward: Steward, tmp_path: Path, role: str
) -> None:
    request, new = tmp_path / "rotation", tmp_path / "new-steward.key"
    words: tuple[object, ...] = ("--role", role, "--out", request)
    if role == "steward":
        ok(site, steward_key, "--out", new)
        words = (*words, "--steward-public", f"{new}.pub")
    ok(site, rotate, "request", *words)
    signed = steward.sign_request(request, key)
    if role == "steward":
        with pytest.raises(
            DisclosureError, match="2 signatures; it must have those of exactly 3 keys"
        ):
            ok(site, rotate, "send", signed)
        signed = steward.sign_request(signed, new)
    ok(site, rotate, "send", signed)
    assert states(site, "rotate") == ["sent"]
    with pytest.raises(DisclosureError, match="a key rotation is waiting"):
        ok(site, submission, "prepare", "--suite", SUITE, "--model", MODELS[1].name)
    ok(site, submission, "send")
    assert states(site, "rotate") == ["sent"]  # it waits for a person, without an error
    before = (site.keys / "agent.key").read_bytes()
    decide(served)
    ok(site, registry, "update")
    assert ((site.keys / "agent.key").read_bytes() != before) == (role == "agent")
    ok(site, submission, "send")
    assert states(site, "rotate") == ["receipted"]
    release(site, key if role == "agent" else new, MODELS[1].name)
    last = rows(site, "result")[-1]
    assert (last["epoch"], last["seq"], last["state"]) == (1, len(PROTECTED) + 3, "receipted")


def test_a_rotation_that_nobody_puts_in_force_is_taken_back(
    site: Site, served: Served, key: Path, steward: Steward, tmp_path: Path
) -> None:
    request = tmp_path / "rotation"
    ok(site, rotate, "request", "--role", "agent", "--out", request)
    signed = steward.sign_request(request, key)
    ok(site, rotate, "send", signed)
    ok(site, rotate, "cancel")
    assert states(site, "rotate") == ["void"]
    release(site, key, MODELS[1].name)
    with pytest.raises(DisclosureError, match="has grown since"):
        ok(site, rotate, "send", signed)
    ok(site, rotate, "request", "--role", "agent", "--out", tmp_path / "later")


@pytest.mark.full
def test_a_key_is_not_replaced_while_drafts_or_submissions_wait(
    site: Site, key: Path, tmp_path: Path
) -> None:
    ok(site, submission, "prepare", "--suite", SUITE, "--model", MODELS[1].name)
    with pytest.raises(DisclosureError, match="is prepared"):
        ok(site, rotate, "request", "--role", "agent", "--out", tmp_path / "none")
    ok(site, submission, "approve", "--key", key, answer="y\n")
    with pytest.raises(DisclosureError, match="is approved"):
        ok(site, rotate, "request", "--role", "agent", "--out", tmp_path / "none")
    assert not (tmp_path / "none").exists()
