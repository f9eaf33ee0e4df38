"""A desk that serves, and a site with approved submissions."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.delivery.outbox import Submission
from agent.delivery.transport import Aggregator, Connection
from agent.disclosure.prepare import Gate, prepare
from tests.agent.delivery.desk import Desk, open_desk
from tests.agent.disclosure.ward import CARD, MODEL, OTHER_MODEL, sign, site_gate, whole_ward


@pytest.fixture
def desk() -> Iterator[Desk]:
    with open_desk() as desk:
        yield desk


@pytest.fixture
def aggregator(desk: Desk) -> Aggregator:
    return Aggregator(Connection(desk.url, connect_timeout_s=2.0, total_timeout_s=2.0))


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return site_gate(tmp_path)


@pytest.fixture
def approved(gate: Gate) -> list[Submission]:
    """Two models' submissions, in the order of the chain."""
    prepare(gate, CARD, {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)})
    return [sign(gate, draft) for draft in gate.outbox.all()]
