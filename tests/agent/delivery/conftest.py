"""A desk that serves, and a site with approved submissions."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.delivery.outbox import Submission
from agent.delivery.transport import Aggregator, AggregatorConnection
from agent.disclosure.prepare import Gate, prepare
from agent.site.directory import Site
from tests.agent.delivery.desk import Desk, open_desk
from tests.agent.delivery.whole_site import CANARY, Wire, make_site
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
from tests.aggregator.federation import new_home


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


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """An aggregator that serves in a thread: a process of its own takes a second to start."""
    home = new_home(tmp_path / "aggregator")
    with serve_in_thread(home) as running:
        yield running
    home.database.close()


@pytest.fixture
def wire(served: Served) -> Iterator[Wire]:
    wire = Wire(served.port)
    yield wire
    wire.close()


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return make_site(tmp_path / f"{CANARY}-site")


@pytest.fixture
def others_were_here_first(desk: Desk) -> None:
    desk.log.leaves.append(b"another site's")
