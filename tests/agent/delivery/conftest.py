"""A desk that serves, and a site with approved submissions."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.delivery.outbox import Submission
from agent.delivery.transport import Aggregator, AggregatorConnection
from agent.disclosure.prepare import Gate, prepare
from agent.site.directory import Site
from tests.agent.delivery.desk import Desk, open_desk
from tests.agent.delivery.joined_site import (
    STEWARD_KEY,
    build_joined,
    connect,
    copy_joined,
    open_aggregator,
    open_site,
)
from tests.agent.delivery.whole_site import Wire
from tests.agent.disclosure.ward import (
    CARD,
    MODEL,
    OTHER_MODEL,
    register,
    sign,
    site_gate,
    whole_ward,
)
from tests.aggregator.conftest import Served, serve_in_thread


@pytest.fixture
def desk() -> Iterator[Desk]:
    with open_desk() as desk:
        yield desk


@pytest.fixture
def aggregator(desk: Desk) -> Aggregator:
    return Aggregator(AggregatorConnection(desk.url, connect_timeout_s=2.0, total_timeout_s=2.0))


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return site_gate(tmp_path)


@pytest.fixture
def approved(gate: Gate, desk: Desk) -> list[Submission]:
    """Two models' submissions, in the order of the chain; the dataset that they are of arrived before."""
    findings = {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)}
    for registered in register(gate, findings):
        desk.log.leaves.append(registered.envelope.pae)
        gate.outbox.put_receipt(registered.digest, desk.log.receipt(registered.envelope.pae))
    prepare(gate, CARD, findings)
    return [sign(gate, draft) for draft in gate.outbox.list_submissions() if draft.is_result]


@pytest.fixture(scope="session")
def joined_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a site that has joined an aggregator, to be copied."""
    folder = tmp_path_factory.mktemp("joined")
    build_joined(folder)
    return folder


@pytest.fixture
def federation(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The folder of a site and an aggregator; copies of two that know each other for a test with `joined_key`."""
    if "joined_key" in request.fixturenames:
        copy_joined(request.getfixturevalue("joined_once"), tmp_path)
    return tmp_path


@pytest.fixture
def served(federation: Path) -> Iterator[Served]:
    """An aggregator that serves in a thread: a process of its own takes a second to start."""
    home = open_aggregator(federation)
    with serve_in_thread(home) as running:
        yield running
    home.database.close()


@pytest.fixture
def wire(served: Served) -> Iterator[Wire]:
    wire = Wire(served.port)
    yield wire
    wire.close()


@pytest.fixture
def site(federation: Path) -> Site:
    return open_site(federation)


@pytest.fixture
def joined_key(site: Site, wire: Wire, federation: Path) -> Path:
    """The steward's key of a site that has joined, with approved datasets; see `join` in whole_site.py."""
    del site
    connect(federation, wire.url)
    return federation / STEWARD_KEY


@pytest.fixture
def others_were_here_first(desk: Desk) -> None:
    desk.log.leaves.append(b"another site's")
