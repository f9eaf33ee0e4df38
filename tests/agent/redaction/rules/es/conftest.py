"""One Spanish engine for the tests of this folder."""

import pytest

from agent.redaction.engine import Engine, open_engine


@pytest.fixture(scope="session")
def spanish() -> Engine:
    return open_engine("gdpr", language="es")
