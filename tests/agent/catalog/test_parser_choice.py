"""Another parser than the benchmark's own: in a run entry, on the command line, and every way to get it wrong."""

import pytest

from agent.catalog.parser_choice import NO_CHOICE, choose_parser, read_parser_choice
from agent.catalog.run_entries import parse_run_entry, read_overrides
from agent.errors import ConfigError
from agent.vocabulary import AnswerParser
from tests.agent.catalog.shipped import BENCHMARKS

CLOSED, OPEN = BENCHMARKS["med_mcqa"], BENCHMARKS["aci_bench"]


@pytest.mark.parametrize(
    ("kind", "field", "pattern", "parser"),
    [
        (None, None, None, AnswerParser("option_letter")),
        ("option_letter", None, None, AnswerParser("option_letter")),
        ("json", None, None, AnswerParser("json")),
        ("json", "answer_choice", None, AnswerParser("json", "answer_choice")),
        (None, "answer_choice", None, AnswerParser("json", "answer_choice")),
        ("pattern", None, r"(\w)$", AnswerParser("pattern", pattern=r"(\w)$")),
        (None, None, r"(\w)$", AnswerParser("pattern", pattern=r"(\w)$")),
    ],
)
def test_what_is_set_replaces_the_benchmarks_parser(kind, field, pattern, parser):
    assert choose_parser(CLOSED, read_parser_choice(kind, field, pattern)) == parser


@pytest.mark.parametrize(
    ("keys", "what"),
    [
        ("parser=jsn", "expected one of option_letter, text, json, pattern, label (did you mean 'json'?)"),
        ("parser=text,answer_field=a", "answer_field needs parser json, not text"),
        ("parser=json,answer_pattern=a", "answer_pattern needs parser pattern, not json"),
        ("answer_field=a,answer_pattern=b", "answer_field and answer_pattern belong to different parsers"),
        ("answer_field=", "answer_field is '', expected the name of a JSON field"),
        ("answer_pattern=", "answer_pattern is empty, expected a regular expression"),
        ("answer_pattern=(", "answer_pattern: is not a regular expression"),
        ("parser=json,answer_mode=constrained", "cannot be set with answer_mode=constrained"),
    ],
)  # fmt: skip
def test_a_wrong_key_of_a_run_entry_is_named_with_what_was_expected(keys: str, what: str):
    entry = f"med_mcqa:model=a/b,{keys}"
    with pytest.raises(ConfigError) as caught:
        parse_run_entry(entry)
    assert f"the run entry {entry!r}" in str(caught.value)
    assert what in str(caught.value)


@pytest.mark.parametrize(
    ("benchmark", "words", "what"),
    [
        (OPEN, ("option_letter", None, None), "--parser option_letter needs options"),
        (CLOSED, ("text", None, None), "--parser text is for answers in free text"),
        (CLOSED, ("pattern", None, None), "--parser pattern needs --answer-pattern"),
        (CLOSED, ("label", None, None), "--parser label needs the labels of the benchmark"),
    ],
)
def test_a_parser_that_does_not_fit_the_benchmark_is_refused(benchmark, words, what: str):
    with pytest.raises(ConfigError, match=what):
        choose_parser(benchmark, read_parser_choice(*words))


def test_a_benchmark_with_labels_keeps_them_with_another_field_or_pattern():
    labelled = BENCHMARKS["medhallu"]
    by_field = choose_parser(labelled, read_parser_choice(None, "hallucinated", None))
    by_pattern = choose_parser(labelled, read_parser_choice(None, None, "Verdict: (.*)"))
    assert by_field == AnswerParser("json", "hallucinated", labels=labelled.labels)
    assert by_pattern == AnswerParser("pattern", pattern="Verdict: (.*)", labels=labelled.labels)


@pytest.mark.parametrize(
    ("benchmark", "kind", "own"),
    [
        ("medhallu", "option_letter", "label"),
        ("aci_bench", "option_letter", "text"),
        ("med_mcqa", "text", "option_letter"),
    ],
)
def test_a_refused_parser_names_the_one_that_the_benchmark_has(benchmark, kind, own):
    with pytest.raises(ConfigError) as caught:
        choose_parser(BENCHMARKS[benchmark], read_parser_choice(kind, None, None))
    assert caught.value.advice == (
        f"Omit --parser: the answers are then read by the benchmark's own parser, {own}."
    )


def test_a_run_entry_sets_the_parser_with_the_same_keys():
    entry = parse_run_entry("med_mcqa:model=a/b,parser=json,answer_field=answer_choice")
    choice = read_overrides(entry).parser
    assert choose_parser(CLOSED, choice) == AnswerParser("json", "answer_choice")
    assert read_overrides(parse_run_entry("med_mcqa:model=a/b")).parser == NO_CHOICE


def test_a_pattern_with_two_groups_is_refused():
    with pytest.raises(ConfigError, match="--answer-pattern has 2 groups, expected at most one"):
        read_parser_choice(None, None, "(Answer|Result): (.)")
    assert read_parser_choice(None, None, "(?:Answer|Result): (.)").kind == "pattern"
