"""One engine for all tests of redaction: opening one takes a second."""

import pytest

from agent.redaction import Redactor, open_redactor
from agent.redaction.engine import Engine, open_engine


@pytest.fixture(scope="session")
def engine() -> Engine:
    return open_engine("hipaa_safe_harbor")


@pytest.fixture(scope="session")
def redactor() -> Redactor:
    return open_redactor()
