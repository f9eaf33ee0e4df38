"""Policies: the shipped numbers, and the files that make nothing leave."""

from pathlib import Path

import pytest

from agent.disclosure.policy import read_policy, read_policy_file
from agent.errors import DisclosureError
from agent.io.packaged import shipped
from protocol.policy import stricter
from tests.protocol import world

STRICT = (shipped("policies") / "disclosure" / "strict.yaml").read_text()


def test_strict_holds_the_numbers_of_the_promise() -> None:
    assert read_policy("strict") == world.STRICT


def test_the_other_profiles_are_shipped_with_their_thresholds() -> None:
    paths = (shipped("policies") / "disclosure").glob("*.yaml")
    policies = {path.stem: read_policy(path.stem) for path in paths}
    assert set(policies) == {"strict", "uk-tre", "cms", "public"}
    assert (policies["uk-tre"].min_units, policies["uk-tre"].grid_units) == (10, 5)
    assert (policies["cms"].min_units, policies["cms"].min_events) == (11, 11)
    assert len({policy.digest for policy in policies.values()}) == 4


def test_public_lets_no_protected_figure_through_rather_than_every_one() -> None:
    assert read_policy("public").min_units >= 1_000_000


def test_tightening_is_possible_and_loosening_is_not() -> None:
    floor = read_policy("strict")
    assert stricter(read_policy("uk-tre"), floor).min_units == 11
    assert stricter(read_policy("public"), floor).min_units == 1_000_000


def test_a_sites_own_file_is_read_from_the_site(tmp_path: Path) -> None:
    own = STRICT.replace("name: strict", "name: ours").replace("min_units: 11", "min_units: 30")
    (tmp_path / "ours.yaml").write_text(own)
    assert read_policy("ours.yaml", tmp_path).min_units == 30


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (STRICT + "min_unit: 3\n", "min_unit"),
        (STRICT.replace("min_events:", "min_event:"), "min_event"),
        (
            STRICT.replace("min_units: 11", "min_units: 11\nmin_units: 1"),
            "'min_units' is given twice",
        ),
        (STRICT.replace("min_units: 11", "min_units: 1.5"), "min_units"),
        (STRICT.replace("min_units: 11", "min_units: true"), "min_units"),
        (STRICT.replace("min_units: 11", "min_units: 0x1"), "min_units"),
        (STRICT.replace("min_units: 11", "min_units: 1_1"), "min_units"),
        (STRICT.replace("min_units: 11", "min_units: -1"), "min_units"),
        (STRICT.replace("min_units: 11", "min_units: [11]"), "min_units"),
        (STRICT.replace("min_units: 11", "min_units:"), "min_units"),
        ("", "expected a map"),
        ("- 1\n", "expected a map"),
        ("a: [\n", "p.yaml: line 2: "),
        ("a: !!python/object/apply:os.system [ls]\n", "tags are not supported"),
    ],
)
def test_a_policy_in_doubt_is_no_policy(tmp_path: Path, text: str, what: str) -> None:
    (tmp_path / "p.yaml").write_text(text)
    with pytest.raises(DisclosureError, match=what) as caught:
        read_policy_file(tmp_path / "p.yaml")
    assert "p.yaml" in str(caught.value)


def test_missing_and_unreadable_policies_are_errors(tmp_path: Path) -> None:
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe")
    (tmp_path / "long.yaml").write_bytes(b"#" * 2**21)
    for name in ("nothing.yaml", "bytes.yaml", "long.yaml"):
        with pytest.raises(DisclosureError, match=name):
            read_policy(name, tmp_path)
    for name in ("nothing", "../strict", "", "strict.yaml"):
        with pytest.raises(DisclosureError):
            read_policy(name)


def test_a_shipped_file_under_another_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "disclosure").mkdir()
    (tmp_path / "disclosure" / "loose.yaml").write_text(STRICT)
    monkeypatch.setattr("agent.disclosure.policy.shipped", lambda _: tmp_path)
    with pytest.raises(DisclosureError, match="has a different name"):
        read_policy("loose")
