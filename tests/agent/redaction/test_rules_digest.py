"""The digest under which findings are kept: of everything that decides them, and of nothing else."""

from pathlib import Path

import pytest

from agent.redaction import rules_digest as module
from agent.redaction.policy.policy import load_policy
from agent.redaction.rules_digest import rules_digest

_REDACTION = Path(module.__file__).parent


def test_digest_reads_the_running_package_and_not_the_generator_of_training_texts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    policy = load_policy("hipaa_safe_harbor")
    read: list[Path] = []
    read_bytes = Path.read_bytes

    def recording_read(path: Path) -> bytes:
        read.append(path)
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", recording_read)
    module.rules_digest(policy)

    assert all(path.is_relative_to(_REDACTION) for path in read)
    assert {_REDACTION / "rules/rulebook.py", _REDACTION / "rules/en/words/given_names.txt"} <= set(
        read
    )
    assert not [path for path in read if "training" in path.name]


def test_another_policy_is_another_set_of_rules():
    policy = load_policy("hipaa_safe_harbor")
    assert rules_digest(policy) == rules_digest(policy)
    assert rules_digest(policy) != rules_digest(policy.model_copy(update={"threshold": 0.9}))
