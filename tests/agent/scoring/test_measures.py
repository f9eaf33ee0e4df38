"""The rules of scoring decide a plan's identity, and are read from a stored run as they were."""

from agent.metrics import AnswerParser, MetricUse
from agent.scoring.measures import Rules
from agent.store.run_details import RunDetails, read_details, write_details


def test_whatever_changes_the_rules_changes_the_plan():
    uses, parser = (MetricUse("exact_match"),), AnswerParser("text")
    rules = [
        Rules.of(uses, "intramural", parser, "l"),
        Rules.of(uses, "helm", parser, "l"),
        Rules.of(uses, "both", parser, "l"),
        Rules.of(uses, "intramural", AnswerParser("json", "answer"), "l"),
        Rules.of(uses, "intramural", AnswerParser("pattern", pattern="x"), "l"),
        Rules.of(uses, "intramural", parser, "m"),
        Rules.of((MetricUse("rouge_1", {"stemmer": False}),), "intramural", parser, "l"),
        Rules.of((MetricUse("rouge_1", {"stemmer": True}),), "intramural", parser, "l"),
    ]
    assert len({tuple(one.identity()) for one in rules}) == len(rules)
    for one in rules:
        details = one.put_into(RunDetails(lineage=one.lineage))
        assert Rules.of_run(read_details(write_details(details))).identity() == one.identity()
