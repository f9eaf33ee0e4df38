"""Joining a federation by `enroll`, `registry` and `steward-key`: two machines, a used invite."""

import json
import socket
from pathlib import Path

import pytest

from agent.cli.enroll import enroll, registry, steward_key
from agent.errors import ConfigError, DeliveryError
from agent.site.directory import Site, create_site
from aggregator.registry.versions import newest_envelope
from tests.agent.delivery.whole_site import (
    Wire,
    approve_at_the_aggregator,
    join,
    ok,
    run,
    write_invite,
)
from tests.aggregator.conftest import Served


def test_the_steward_may_keep_the_key_on_another_machine(
    site: Site, served: Served, wire: Wire, tmp_path: Path
) -> None:
    key, invite = (
        tmp_path / "steward.key",
        write_invite(served.home, tmp_path / "invite.json", wire.url),
    )
    nowhere = Site(tmp_path / "no-site-at-all")
    made = ok(nowhere, steward_key, "--out", key)
    half, signed = tmp_path / "half.json", tmp_path / "signed.json"
    ok(site, enroll, "--invite", invite, "--steward-public", f"{key}.pub", "--out", half)
    shown = ok(nowhere, enroll, "--request", half, "--steward-key", key, "--out", signed)
    fingerprint = made.split("fingerprint ")[1].strip()
    assert fingerprint in shown
    ok(site, enroll, "--invite", invite, "--request", signed)
    approve_at_the_aggregator(served.home)
    assert "is enrolled" in ok(site, registry, "update")
    assert fingerprint in ok(site, registry, "show")


@pytest.mark.parametrize(
    ("options", "said", "advised"),
    [
        (("--invite", "none.json", "--request", "x"), "the invite none.json", "as --invite"),
        (("--request", "none.json", "--steward-key", "k", "--out", "o"), "is missing", "the path"),
    ],
)
def test_a_file_that_is_not_there_is_no_matter_of_permissions(
    tmp_path: Path, options: tuple[str, ...], said: str, advised: str
) -> None:
    late = create_site(tmp_path / "late", "Late hospital")
    with pytest.raises(ConfigError, match=said) as caught:
        ok(late, enroll, *options)
    assert advised in caught.value.advice
    assert "permissions" not in caught.value.advice


def test_a_second_site_with_a_used_invite_keeps_nothing_of_it_and_takes_a_new_one(
    site: Site, served: Served, wire: Wire, tmp_path: Path
) -> None:
    key = join(site, served, wire, tmp_path)
    late = create_site(tmp_path / "late", "Late hospital")
    with pytest.raises(DeliveryError, match="refused") as caught:
        ok(late, enroll, "--invite", tmp_path / "invite.json", "--steward-key", key)
    assert "used before or has expired" in caught.value.advice
    assert not [path for path in late.submissions.rglob("*") if path.is_file()]
    with pytest.raises(ConfigError, match="has not been enrolled"):
        ok(late, registry, "update")
    own = tmp_path / "own.key"
    ok(late, steward_key, "--out", own)
    invite = write_invite(served.home, tmp_path / "second.json", wire.url)
    ok(late, enroll, "--invite", invite, "--steward-key", own)
    assert "not yet enrolled" in ok(late, registry, "update")
    approve_at_the_aggregator(served.home)
    assert "this site is enrolled" in ok(late, registry, "update")


def test_another_sites_entry_is_not_taken_for_ones_own(
    site: Site, served: Served, wire: Wire, tmp_path: Path
) -> None:
    """By files nobody is told of the refusal: only the registry shows that the invite was used by another."""
    join(site, served, wire, tmp_path)
    late, key = create_site(tmp_path / "late", "Late hospital"), tmp_path / "late.key"
    ok(late, steward_key, "--out", key)
    invite = tmp_path / "invite.json"
    ok(late, enroll, "--invite", invite, "--steward-key", key, "--out", tmp_path / "request")
    with served.home.database.reading() as connection:
        (tmp_path / "registry.json").write_bytes(newest_envelope(connection))
    assert "is not enrolled" in ok(late, registry, "update", "--import", tmp_path / "registry.json")
    rows = json.loads(ok(late, registry, "show", "--format", "json"))
    assert not [row for row in rows if row["kind"].endswith(" key")]
    assert "with other keys" in next(row["name"] for row in rows if row["kind"] == "site")


def test_enrolling_an_enrolled_site_again_takes_nothing_from_it(
    site: Site, served: Served, wire: Wire, tmp_path: Path
) -> None:
    key, invite = (
        tmp_path / "steward.key",
        write_invite(served.home, tmp_path / "invite.json", wire.url),
    )
    ok(site, steward_key, "--out", key)
    for _ in range(2):
        ok(site, enroll, "--invite", invite, "--steward-key", key)
    approve_at_the_aggregator(served.home)
    with pytest.raises(
        ConfigError, match="is enrolled already"
    ):  # before it took the registry that says so
        ok(site, enroll, "--invite", invite, "--steward-key", key)
    assert "this site is enrolled" in ok(site, registry, "update")


def test_where_nobody_answers_the_command_to_try_again_is_the_one_that_was_given(
    site: Site, served: Served, tmp_path: Path
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    invite = write_invite(served.home, tmp_path / "invite.json", url)
    key = tmp_path / "steward.key"
    ok(site, steward_key, "--out", key)
    for said, command, words in (
        ("enroll", enroll, ("--invite", invite, "--steward-key", key)),
        ("registry update", registry, ("update",)),
    ):
        error = run(site, command, *words).exception
        assert isinstance(error, DeliveryError)
        assert url in str(error)
        assert f"Try `intramural {said}` again" in error.advice
        assert "submission" not in error.advice
