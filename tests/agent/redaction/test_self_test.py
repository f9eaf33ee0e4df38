"""An engine that does not find what it must is not opened, whatever was detected before."""

from pathlib import Path

import pytest

from agent.errors import RedactionError
from agent.redaction.engine import open_engine
from tests.agent.redaction.policies import POLICY
from tests.agent.redaction.stored_detections import MemoryStore


@pytest.mark.full
def test_a_policy_too_weak_for_the_self_test_is_refused(tmp_path: Path):
    content = POLICY.read_text().replace("threshold: 0.4", "threshold: 0.95")  # no rule is so sure
    path = tmp_path / "weak.yaml"
    path.write_text(content)
    with pytest.raises(RedactionError, match="self-test"):
        open_engine(str(path))


def test_the_self_test_never_reads_the_store():
    class Poisoned(MemoryStore):
        def find(self, name: bytes) -> bytes | None:
            raise AssertionError("the self-test read the store")

    open_engine("hipaa_safe_harbor", store=Poisoned())
