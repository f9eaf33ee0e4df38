"""Drafts that wait, statements that nobody sends and a full disk are told once, not again and again."""

import shutil
from collections import namedtuple
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent.alerts.noticing import Noticer
from agent.disclosure.prepare import Gate
from agent.site.directory import Site, create_site
from agent.store import AlertCode, AlertEvent, Channel, Store
from tests.agent.disclosure.drafts import prepare, prepare_one
from tests.agent.disclosure.ward import CARD, MODEL, OTHER_MODEL, sign, site_gate, whole_ward

HOUR_S = 3600.0
Usage = namedtuple("Usage", "total used free")


class Watched:
    """A site, its noticer, and a clock of the test's choice."""

    def __init__(self, site: Site, store: Store) -> None:
        self.now = 1_900_000_000.0
        self.site = site
        self.store = store
        store.alerts.watch([Channel.WEBHOOK])
        self.noticer = Noticer(site, frozenset(AlertCode), lambda: self.now)

    def look(self, notice: Callable[[Store], None]) -> list[AlertEvent]:
        """Return the events of one look."""
        notice(self.store)
        message = self.store.alerts.open_message(Channel.WEBHOOK, self.now)
        if message is None:
            return []
        return self.store.alerts.read_events(message, 100)


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    site = create_site(tmp_path / "site", "Test")
    with site.store() as store:
        yield Watched(site, store)


@pytest.fixture
def gate(watched: Watched) -> Gate:
    return site_gate(watched.site.directory)


def summarise(events: list[AlertEvent]) -> list[tuple[str, int | None]]:
    return [(event.code.value, event.waiting) for event in events]


def test_a_draft_is_told_once_and_its_approval_only_if_it_is_not_sent(watched: Watched, gate: Gate):
    look = lambda: summarise(watched.look(watched.noticer.notice_outbox))  # noqa: E731
    assert look() == []
    draft = prepare_one(gate)
    first = look()
    assert first[0] == ("draft_waiting", 1)
    assert look() == []
    sign(gate, draft)
    assert look() == []
    watched.now += HOUR_S - 1
    assert look() == []
    watched.now += 2
    told = look()
    assert [code for code, _ in told] == ["approved_unsent"]
    watched.now += 24 * HOUR_S
    assert look() == []


def test_drafts_of_two_models_are_one_event(watched: Watched, gate: Gate):
    prepare(gate, CARD, {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)})
    assert summarise(watched.look(watched.noticer.notice_outbox)) == [("draft_waiting", 2)]


def test_a_damaged_outbox_does_not_end_the_alerts(watched: Watched):
    (watched.site.submissions / f"{'0' * 64}.draft.dsse.json").write_text("CANARY")
    assert watched.look(watched.noticer.notice_outbox) == []


def test_a_disk_that_fills_up_is_told_once_until_it_has_room_again(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
):
    free = 2**40
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(2**41, 2**41 - free, free))
    look = lambda: summarise(watched.look(watched.noticer.notice_disk))  # noqa: E731
    assert look() == []
    free = 2**30
    assert look() == [("disk_low", None)]
    assert look() == []
    free = int(2.2 * 2**30)  # hardly more room: still the same alarm
    assert look() == []
    free = 2**30
    assert look() == []
    free = 2**40
    assert look() == []
    free = 2**30
    assert look() == [("disk_low", None)]
