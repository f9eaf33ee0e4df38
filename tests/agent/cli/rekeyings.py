"""A site that released a result, its steward, and what people do to bring a machine back."""

import hashlib
from pathlib import Path

from click.testing import CliRunner

from agent.cli.federation import open_federation
from agent.cli.reset import reset
from agent.cli.submission import submission
from agent.site.directory import Site
from aggregator.cli import cli as aggregator_cli
from aggregator.home import today_day
from aggregator.registry.proposals import Changes, change_now
from aggregator.registry.rekeyings import pending_rekeyings
from tests.agent.delivery.whole_site import (
    SUITE,
    as_steward,
    ok,
    rows,
    run,
)
from tests.aggregator.conftest import Served


class Steward:
    """The other person: a folder with keys, a list of decisions, and the root key that they were told."""

    def __init__(self, folder: Path, root: str) -> None:
        self.folder = folder
        self.listed = ("--list", folder / "list.jsonl")
        self.root = root

    def sign_request(self, request: Path, key: Path) -> Path:
        signed = (
            self.folder
            / f"signed-{hashlib.sha256(request.read_bytes()).hexdigest()[:8]}-{key.name}"
        )
        as_steward(
            "sign-request", request, "--key", key, "--out", signed, *self.listed, answer="y\n"
        )
        return signed


def release(site: Site, key: Path, model: str, suite: str = SUITE) -> None:
    approve(site, key, model, suite)
    ok(site, submission, "send")


def approve(site: Site, key: Path, model: str, suite: str = SUITE) -> None:
    ok(site, submission, "prepare", "--suite", suite, "--model", model)
    waiting = [row for row in rows(site) if row["state"] == "prepared"]
    ok(site, submission, "approve", "--key", key, answer="y\n" * len(waiting))


def decide(served: Served) -> None:
    """People at the aggregator compare the fingerprints, and put the one request that waits in force."""
    with served.home.database.reading() as connection:
        ((asked,), _) = pending_rekeyings(connection)
    with served.home.database.writing() as connection:
        change_now(connection, served.home, Changes(rekeyings=[asked]), today_day=today_day())


def carry_head(site: Site, served: Served) -> Path:
    """Return the file with the aggregator's word about a site that its people write down for it."""
    out = site.directory.parent / "carried-head"
    out.unlink(missing_ok=True)
    words = [
        "--dir",
        str(served.home.directory),
        "head",
        open_federation(site).read_membership().site,
        "--out",
        str(out),
    ]
    written = CliRunner().invoke(aggregator_cli, words)
    assert written.exit_code == 0, written.output
    return out


def shown(site: Site, *words: object) -> tuple[int, str]:
    result = run(site, reset, "show", *words)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output
