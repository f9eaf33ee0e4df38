"""Publishing on from what an earlier publication has followed: the same bytes as from the first entry."""

import hashlib
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import update

from aggregator.board import followed_log, log_folder, own_log
from aggregator.board.followed_log import FOLLOWED_FILE
from aggregator.board.publish import publish
from aggregator.errors import BoardMismatchError
from aggregator.home import Home, today_day
from aggregator.log import journal
from aggregator.registry.changes import Additions
from aggregator.registry.proposals import Changes, change_now
from aggregator.store.schema import entries
from protocol.registry import Model
from tests.aggregator.copies import copy_home
from tests.aggregator.federation import (
    MODELS,
    TestSite,
    challenge_of,
    new_home,
    new_key,
    put_in_force,
    ready,
    registry_of,
    scores,
    submit,
)

STEPS = 60


def read_folder(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def change(home: Home, changes: Changes) -> None:
    with home.database.writing() as connection:
        change_now(connection, home, changes, today_day=today_day())


class Life:
    """A federation that lives: each step is one thing that a site, a thief or the central team does."""

    def __init__(self, home: Home, seed: int) -> None:
        self.home = home
        self.draw = random.Random(seed)
        self.sites: list[TestSite] = []
        self.results: list[tuple[TestSite, str]] = []
        self.models = [model.name for model in MODELS]

    def live(self) -> None:
        steps: list[tuple[int, Callable[[], None]]] = [
            (12, self.report),
            (3, self.report_as_planned),
            (3, self.withdraw),
            (2, self.enrol),
            (1, self.rotate),
            (1, self.revoke),
            (1, self.change_publication),
            (1, self.rename),
            (1, self.register),
        ]
        weights = [weight for weight, _ in steps]
        (_, step), *_ = self.draw.choices(steps, weights)
        (step if self.sites else self.enrol)()

    def enrol(self) -> None:
        site = ready(
            self.home, f"Site {len(self.sites)}", self.draw.choice(["named", "pooled", "pooled"])
        )
        self.sites.append(site)

    def report(self) -> None:
        site = self.draw.choice(self.sites)
        found = scores(self.draw.randrange(1000), right=self.draw.uniform(0.3, 0.9))
        if self.draw.random() < 0.2:
            found.pop(self.draw.choice(list(found)))
        result = site.result(registry_of(self.home), found, model=self.draw.choice(self.models))
        self.results.append((site, submit(self.home, site, result)))

    def report_as_planned(self) -> None:
        site, registry = self.draw.choice(self.sites), registry_of(self.home)
        envelope = site.sign(site.plan(registry))
        challenge = challenge_of(self.home, envelope)
        plan = site.accepted(envelope)
        result = site.result(registry, scores(self.draw.randrange(1000)))
        self.results.append(
            (site, submit(self.home, site, replace(result, plan=plan, challenge=challenge)))
        )

    def withdraw(self) -> None:
        if self.results:
            site, digest = self.results.pop(self.draw.randrange(len(self.results)))
            submit(self.home, site, site.withdraw(registry_of(self.home), digest))

    def rotate(self) -> None:
        site, key = self.draw.choice(self.sites), new_key()
        request = site.rotate(registry_of(self.home), "agent", key)
        put_in_force(self.home, request)
        site.accepted(request)
        site.agent = key

    def revoke(self) -> None:
        """The key of a site's agent was stolen some entries ago; the site goes on with another in a new epoch."""
        site = self.draw.choice(self.sites)
        with self.home.database.reading() as connection:
            size = journal.size(connection)
        change(
            self.home,
            Changes(revoked={site.agent.public.keyid: self.draw.randrange(size // 2, size)}),
        )
        key = new_key()
        request = site.reset(registry_of(self.home), agent=key, reason="stolen_key")
        put_in_force(self.home, request)
        site.accepted(request)
        site.agent = key
        self.results = [entry for entry in self.results if entry[0] is not site]

    def change_publication(self) -> None:
        change(
            self.home,
            Changes(
                publications={
                    self.draw.choice(self.sites).id: self.draw.choice(["named", "pooled"])
                }
            ),
        )

    def rename(self) -> None:
        named = [
            id for id, site in registry_of(self.home).sites.items() if site.publication == "named"
        ]
        if named:
            change(
                self.home, Changes(names={self.draw.choice(named): f"Renamed {self.draw.random()}"})
            )

    def register(self) -> None:
        name = f"late/model-{len(self.models)}"
        change(
            self.home, Changes(additions=Additions(models=[Model(name, f"Late {name}", "", True)]))
        )
        self.models.append(name)


@pytest.fixture
def small_bundles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_folder, "BUNDLE", 8)
    monkeypatch.setattr(own_log, "BUNDLE", 8)


def count_entries_followed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    followed: list[int] = []
    follow = own_log._Reader._follow

    def count(reader: own_log._Reader, row: object, position: int, *rest: object) -> None:
        followed.append(position)
        follow(reader, row, position, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(own_log._Reader, "_follow", count)
    return followed


@pytest.mark.full
@pytest.mark.sample(1)
@pytest.mark.usefixtures("small_bundles")
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_however_often_it_was_published_before_the_board_is_the_same(
    home: Home, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    life = Life(home, seed)
    followed = count_entries_followed(monkeypatch)
    from_start = 0
    publications = 0
    for _ in range(STEPS):
        life.live()
        if life.draw.random() > 0.35:
            continue
        followed.clear()
        publish(home, tmp_path / "on")
        publications += 1
        from_start += bool(followed) and followed[0] == 0
        kept = (home.directory / FOLLOWED_FILE).read_bytes()
        publish(home, tmp_path / "anew", from_scratch=True)
        assert read_folder(tmp_path / "on") == read_folder(tmp_path / "anew")
        (home.directory / FOLLOWED_FILE).write_bytes(kept)
    assert from_start < publications / 2, "most publications went on from the one before"


@pytest.fixture
def published(home: Home, tmp_path: Path) -> Path:
    """A board of three sites; one more result has come since."""
    sites = [ready(home, f"Site {number}") for number in range(3)]
    for number, site in enumerate(sites):
        submit(home, site, site.result(registry_of(home), scores(number)))
    publish(home, tmp_path / "board")
    submit(home, sites[0], sites[0].result(registry_of(home), scores(9), model=MODELS[1].name))
    return tmp_path / "board"


def spoil(home: Home, position: int) -> None:
    """Put the envelope of the entry before in the place of an entry's."""
    with home.database.writing() as connection:
        earlier = list(journal.read_entries(connection))[position - 1].envelope
        connection.execute(
            update(entries).where(entries.c.position == position).values(envelope=earlier)
        )


def test_one_more_entry_is_the_only_one_followed(
    home: Home, published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    followed = count_entries_followed(monkeypatch)
    publish(home, published)
    assert len(followed) == 1
    publish(home, tmp_path / "another folder")
    assert len(followed) == 1
    assert read_folder(tmp_path / "another folder") == read_folder(published)


@pytest.mark.full
@pytest.mark.parametrize(
    "accident", ["cut off", "a byte", "empty", "a folder", "another program", "an unknown array"]
)
def test_a_damaged_file_is_as_good_as_none(
    home: Home, published: Path, tmp_path: Path, accident: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home.directory / FOLLOWED_FILE
    content = path.read_bytes()
    match accident:
        case "cut off":
            path.write_bytes(content[:-1])
        case "a byte":
            path.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
        case "empty":
            path.write_bytes(b"")
        case "a folder":
            path.unlink()
            path.mkdir()
        case "another program":
            monkeypatch.setattr(followed_log, "_digest_program", lambda: "0" * 64)
        case "an unknown array":
            changed = content[65:].replace(b'"|u1"', b'"|O8"')
            path.write_bytes(hashlib.sha256(changed).hexdigest().encode() + b"\n" + changed)
    followed = count_entries_followed(monkeypatch)
    publish(home, published)
    assert followed[0] == 0
    publish(home, tmp_path / "anew", from_scratch=True)
    assert read_folder(tmp_path / "anew") == read_folder(published)


def test_a_file_of_another_aggregator_is_as_good_as_none(
    home: Home, published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = new_home(tmp_path / "other")
    site = ready(other)
    submit(other, site, site.result(registry_of(other), scores(1)))
    publish(other, tmp_path / "other board")
    other.database.close()
    (home.directory / FOLLOWED_FILE).write_bytes((other.directory / FOLLOWED_FILE).read_bytes())
    followed = count_entries_followed(monkeypatch)
    publish(home, published)
    assert followed[0] == 0


def test_of_a_log_set_back_a_longer_one_that_was_followed_counts_for_nothing(
    home: Home, published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = copy_home(home, tmp_path / "copy")
    site = ready(home, "Late")
    submit(home, site, site.result(registry_of(home), scores(5)))
    publish(home, published)
    (copy.directory / FOLLOWED_FILE).write_bytes((home.directory / FOLLOWED_FILE).read_bytes())
    followed = count_entries_followed(monkeypatch)
    publish(copy, tmp_path / "older")
    copy.database.close()
    assert followed[0] == 0


@pytest.mark.usefixtures("small_bundles")
def test_entries_spoilt_since_are_found_as_far_as_they_are_read(
    home: Home, published: Path, tmp_path: Path
) -> None:
    with home.database.reading() as connection:
        size = journal.size(connection)
    before = read_folder(published)
    for position in (
        size - 1,
        size - 2,
    ):  # not followed yet, and followed in a bundle that is not full
        copy = copy_home(home, tmp_path / f"copy {position}")
        spoil(copy, position)
        with pytest.raises(BoardMismatchError, match="do not match the signed head of the log"):
            publish(copy, published)
        copy.database.close()
    assert read_folder(published) == before
    spoil(home, 1)
    with pytest.raises(BoardMismatchError, match="do not match the signed head of the log"):
        publish(home, published, from_scratch=True)
    with pytest.raises(BoardMismatchError, match="do not match the signed head of the log"):
        publish(home, tmp_path / "a folder without the old bundles")
    publish(home, published)
    assert (
        read_folder(published).items()
        >= {name: before[name] for name in before if name[4:] == "entries/000"}.items()
    )


def test_nobody_else_may_read_what_was_followed(home: Home, published: Path) -> None:
    assert (home.directory / FOLLOWED_FILE).stat().st_mode & 0o777 == 0o600
