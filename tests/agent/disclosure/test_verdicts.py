"""Every rule of the gate is explained."""

from agent.disclosure.verdicts import EXPLAINED, GateRule


def test_every_rule_has_its_sentence() -> None:
    assert set(EXPLAINED) == set(GateRule)
