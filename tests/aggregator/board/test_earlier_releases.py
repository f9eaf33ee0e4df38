"""An operator who writes other figures into releases of the past: readers and auditors compute them again."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from aggregator.board import auditing
from aggregator.board.publish import publish
from aggregator.board.releases import SUMMARIES_KEPT
from aggregator.board.verification import verify
from aggregator.errors import BoardMismatchError
from aggregator.home import Home, today_day
from protocol.identity import model_digest
from protocol.registry import Model
from tests.aggregator.audited import change_registry, draw_auditor, name_auditors
from tests.aggregator.federation import (
    MODELS,
    TestSite,
    new_home,
    ready,
    registry_of,
    scores,
    submit,
)


def report(home: Home, site: TestSite, seed: int, model: str = MODELS[0].name) -> None:
    submit(home, site, site.result(registry_of(home), scores(seed), model=model))


def forge_release(place: Path, number: int, field: str) -> None:
    """Change a release of the past, with every digest that depends on it."""
    listing = json.loads((place / "releases.json").read_bytes())
    release = listing["releases"][number - 1]
    summary = place / f"releases/{number}.json"
    if field == "figure":
        content = json.loads(summary.read_bytes())
        content["scorecards"][0]["models"][0]["win_rate"] = 999
        summary.unlink()
        summary.write_bytes(
            json.dumps(content, separators=(",", ":"), sort_keys=True).encode() + b"\n"
        )
        release["summary"] = hashlib.sha256(summary.read_bytes()).hexdigest()
    elif field == "board":
        release["board"] = "0" * 64
    else:
        release["registry"] += 1
    (place / "releases.json").unlink()
    (place / "releases.json").write_bytes(
        json.dumps(listing, indent=1, sort_keys=True).encode() + b"\n"
    )


FIELDS = pytest.mark.parametrize(
    ("field", "sentence"),
    [
        ("figure", r"releases/1.json does not match the first \d+ log entries"),
        ("board", "releases.json: release 1 does not match the board"),
        ("registry", "release 1"),
    ],
)


@pytest.mark.full
@FIELDS
def test_an_invented_release_is_seen_by_everybody_where_nothing_is_hidden(
    home: Home, tmp_path: Path, field: str, sentence: str
) -> None:
    site = ready(home)
    report(home, site, 1)
    publish(home, tmp_path / "board")
    change_registry(home, expires_day=registry_of(home).expires_day + 1)
    report(home, site, 2, MODELS[1].name)
    publish(home, tmp_path / "board")
    verified = verify(tmp_path / "board", today_day=today_day())
    assert verified.releases.recomputed == (1,)
    assert verified.releases.sentences == ["Earlier releases recomputed from the log: 1."]
    for place in (tmp_path / "board", home.directory):
        forge_release(place, 1, field)
    report(home, site, 3)
    publish(home, tmp_path / "board")
    with pytest.raises(BoardMismatchError, match=sentence) as caught:
        verify(tmp_path / "board", today_day=today_day())
    assert "begin a new list" in caught.value.advice


@dataclass
class Pooled:
    """An aggregator with pooled sites and an auditor."""

    home: Home
    folder: Path
    key: Path

    @property
    def board(self) -> Path:
        return self.folder / "board"

    def publish(self) -> None:
        publish(self.home, self.board)

    def audit(self) -> auditing.Audited:
        archive = self.folder / "log.archive"
        archive.unlink(missing_ok=True)
        auditing.archive(self.home, archive)
        root = registry_of(self.home).roots[0].keyid
        return auditing.audit(self.board, archive, self.key, [root], today_day=today_day())


@pytest.fixture
def pooled(tmp_path: Path) -> Iterator[Pooled]:
    home = new_home(tmp_path / "aggregator")
    path, signer = draw_auditor(tmp_path, "one")
    name_auditors(home, [signer])
    made = Pooled(home, tmp_path, path)
    report(home, ready(home, "Named"), 40)
    made.publish()
    for number in range(4):
        report(home, ready(home, f"Hospital {number}", "pooled"), number)
    made.publish()
    report(home, ready(home, "Late", "pooled"), 50)
    made.publish()
    yield made
    home.database.close()


@pytest.mark.full
def test_an_auditor_computes_earlier_releases_again_and_the_public_says_what_it_cannot(
    pooled: Pooled,
) -> None:
    public = verify(pooled.board, today_day=today_day())
    assert (public.releases.recomputed, public.releases.unread, public.releases.older) == (
        (1,),
        (2,),
        (),
    )
    assert "whose figures rely on auditors: 2." in public.releases.sentences[1]
    assert pooled.audit().releases.recomputed == (1, 2)


@pytest.mark.full
@FIELDS
def test_no_auditor_signs_an_invented_release(pooled: Pooled, field: str, sentence: str) -> None:
    for place in (pooled.board, pooled.home.directory):
        forge_release(place, 2, field)
    report(pooled.home, ready(pooled.home, "Later", "pooled"), 60)
    pooled.publish()
    verify(pooled.board, today_day=today_day())
    with pytest.raises(BoardMismatchError, match=sentence.replace("1", "2", 1)):
        pooled.audit()
    assert not (pooled.board / "audits").exists()


def test_releases_whose_keys_were_revoked_since_stay_what_they_were(
    home: Home, tmp_path: Path
) -> None:
    """The board then counted a site that counts no more: the release is computed under the registry of its time."""
    first, second = ready(home, "First"), ready(home, "Second")
    report(home, first, 1)
    report(home, second, 2)
    publish(home, tmp_path / "board")
    registry = registry_of(home)
    entry = registry.sites[first.id]
    revoked = replace(entry, keys=tuple(replace(key, revoked_from=0) for key in entry.keys))
    change_registry(home, sites={**registry.sites, first.id: revoked})
    publish(home, tmp_path / "board")
    without = dict(registry_of(home).sites)
    del without[second.id]
    change_registry(home, sites=without)
    publish(home, tmp_path / "board")
    assert verify(tmp_path / "board", today_day=today_day()).releases.recomputed == (1, 2)


@pytest.mark.full
def test_releases_of_which_no_figures_are_kept_are_named(home: Home, tmp_path: Path) -> None:
    site = ready(home)
    for seed in range(SUMMARIES_KEPT + 3):
        report(home, site, seed)
        publish(home, tmp_path / "board")
    checked = verify(tmp_path / "board", today_day=today_day()).releases
    assert checked.older == (1, 2, 3)
    assert checked.recomputed == tuple(range(4, SUMMARIES_KEPT + 3))
    assert "Older releases, listed by digest only and not checked: 1 to 3." in checked.sentences


@pytest.mark.full
def test_releases_over_the_life_of_a_federation_are_all_computed_again(pooled: Pooled) -> None:
    """Sites join, change their publication, withdraw, lose keys and leave, and a model comes; none of it is a lie."""
    home = pooled.home
    named, changing = ready(home, "Second"), ready(home, "Changing", "pooled")
    report(home, named, 70, MODELS[1].name)
    pooled.publish()
    sites = registry_of(home).sites
    change_registry(
        home, sites={**sites, changing.id: replace(sites[changing.id], publication="named")}
    )
    withdrawn = submit(home, changing, changing.result(registry_of(home), scores(71)))
    pooled.publish()
    submit(home, changing, changing.withdraw(registry_of(home), withdrawn))
    pooled.publish()
    sites = dict(registry_of(home).sites)
    revoked = tuple(replace(key, revoked_from=0) for key in sites[named.id].keys)
    change_registry(home, sites={**sites, named.id: replace(sites[named.id], keys=revoked)})
    pooled.publish()
    late = Model("late/model", "Late", "", True)
    change_registry(home, models={**registry_of(home).models, model_digest(late.name): late})
    report(home, changing, 72, late.name)
    pooled.publish()
    del sites[named.id]
    change_registry(home, sites=sites)
    pooled.publish()
    report(home, changing, 73)
    pooled.publish()
    assert pooled.audit().releases.recomputed == tuple(range(1, 10))
