"""docs/scoring.md lists every rule of reading, and each example is read by its rule."""

import pytest

from tests.agent.reading.reading_rules import BEGIN, END, PAGE, ShownRule, list_rules, update

RULES = list_rules()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.family}: {rule.name}")
def test_the_example_of_every_rule_is_read_by_that_rule(rule: ShownRule):
    reading = rule.read(rule.example)
    assert reading is not None
    assert reading.rule == rule.name
    assert 0 <= reading.start < reading.end <= len(rule.example)


def test_no_rule_is_listed_twice():
    assert len({(rule.family, rule.name) for rule in RULES}) == len(RULES)


def test_the_page_has_the_tables_that_the_rules_give():
    page = PAGE.read_text("utf-8")
    assert page.count(BEGIN) == page.count(END) == 1
    assert update(page) == page, "run python -m tests.agent.reading.reading_rules"
