"""`intramural tokens`: shown once, listed without their secrets, revoked at once."""

import json
import re
import time
from pathlib import Path

import pytest

from agent.access.tokens import read_token
from agent.site.directory import Site, create_site
from agent.store import Role
from tests.agent.terminal import Done, intramural


@pytest.fixture
def site(tmp_path: Path) -> Site:
    site = create_site(tmp_path / "site", "St. Elsewhere")
    with site.store() as store:
        store.accounts.add("anna", [Role.DATA_SCIENTIST], time.time())
    return site


def tokens(site: Site, *words: str) -> Done:
    return intramural("--site", site.directory, "tokens", *words, cwd=site.directory)


def create(site: Site) -> str:
    """Create a token and return its secret, which is all that standard output holds."""
    done = tokens(site, "create", "anna", "--label", "night runs", "--scope", "queue_jobs")
    assert done.returncode == 0, done.stderr
    assert "is not shown again" in done.stderr
    assert re.fullmatch(r"imt_[0-9a-f]{64}\n", done.stdout)
    return done.stdout.strip()


def test_a_token_is_shown_once_and_listed_without_its_secret(site: Site):
    assert "There are no API tokens" in tokens(site, "list").stdout
    secret = create(site)
    with site.store() as store:
        assert read_token(store, secret, time.time()) is not None
    shown = tokens(site, "list").stdout
    assert "night runs" in shown
    assert secret.removeprefix("imt_")[:12] not in shown
    (row,) = json.loads(tokens(site, "list", "anna", "--format", "json").stdout)
    assert (row["account"], row["scopes"]) == ("anna", "queue_jobs")


def test_a_revoked_token_ends_at_once(site: Site):
    secret = create(site)
    (row,) = json.loads(tokens(site, "list", "--format", "json").stdout)
    assert tokens(site, "revoke", row["id"]).stdout == f"{row['id']} is revoked\n"
    with site.store() as store:
        assert read_token(store, secret, time.time()) is None
    assert "There are no API tokens" in tokens(site, "list").stdout


@pytest.mark.parametrize(
    ("words", "finding"),
    [
        (["create", "anna", "--label", "x"], "Missing option '--scope'"),
        (["create", "anna", "--label", "x", "--scope", "everything"], "no scope named everything"),
        (["create", "anna", "--label", "x", "--scope", "view_audit"], "may not view_audit itself"),
        (["create", "anna", "--label", "x", "--scope", "reveal"], "not for programs"),
        (
            ["create", "anna", "--label", "x", "--scope", "view_runs", "--days", "91"],
            "1 to 90 days",
        ),
        (["create", "nobody", "--label", "x", "--scope", "view_runs"], "no account named nobody"),
        (["revoke", "0" * 16], "no API token with this id"),
    ],
)
def test_what_cannot_be_done_is_said_with_what_to_do(site: Site, words: list[str], finding: str):
    done = tokens(site, *words)
    assert done.returncode == 2
    assert finding in done.stderr
