"""An engine by a policy of a site's own."""

import pytest

from agent.redaction.engine import Engine
from agent.redaction.policy.policy import RedactionPolicy
from tests.agent.redaction.policy.own_policies import SHIPPED


@pytest.fixture(scope="module")
def ours() -> Engine:
    return Engine(
        RedactionPolicy.model_validate(
            {
                **SHIPPED,
                "recognizers": [{"entity": "ID", "pattern": r"(?i)\bstudy arm: \K[a-z]{3,9}"}],
                "deny": {"FACILITY": ["Sunrise House", "blue wing"], "NAME": ["Bo"]},
                "allow": ["Foley", "617-555-0100"],
            }
        )
    )
