"""What is changed of Presidio."""

import pytest

from agent.redaction.engine import Engine


@pytest.mark.parametrize(
    "text", ["SSN 123456789 on file", "my passport, ssn or social security: 123 45 6789"]
)
def test_a_finding_in_doubt_still_gets_its_context(engine: Engine, text: str):
    assert "6789" not in engine.redact(text)
