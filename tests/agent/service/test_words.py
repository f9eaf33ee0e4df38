"""One word for each code, on every page: no code reaches a reader as it is written in files."""

import re
from collections.abc import Iterable
from typing import get_args

import pytest

from agent.access.roles import Action
from agent.catalog.benchmark import survey_benchmarks
from agent.disclosure.record_check import AuditOutcome
from agent.inference.capabilities import FeatureName, State
from agent.jury.verdict import Fault
from agent.keys import KeyRole
from agent.metrics import METRICS
from agent.redaction.entities import Entity
from agent.results.summarize import Note
from agent.service.capability_words import name_feature
from agent.service.reasons import REASONS
from agent.service.short_notes import SHORT_NOTES
from agent.service.words import WORDS, find_word, list_words, name_figure, name_metric
from agent.store import JobState, Origin, Role
from agent.vocabulary import AnswerMode, ParserKind, Reason, Response, ScoringChoice
from protocol.predicates import ABANDON_REASONS, WITHDRAW_REASONS

CODE = re.compile(r"[a-z]+_[a-z_]+|[A-Z]{2,}_[A-Z_]+")
CODES: dict[str, Iterable[str]] = {
    "abandoned": ABANDON_REASONS,
    "action": Action,
    "asking": get_args(AnswerMode),
    "ending": get_args(Response.__annotations__["finish_reason"]),
    "entity": get_args(Entity),
    "feature": get_args(State),
    "job": JobState,
    "key": KeyRole,
    "origin": Origin,
    "outcome": AuditOutcome,
    "parser": get_args(ParserKind),
    "reason": Reason,
    "role": Role,
    "scoring": get_args(ScoringChoice),
    "statement": ("result", "dataset", "plan", "abandon", "withdraw", "rotate", "reset", "clock", "release"),
    "verdict": (*Reason, *Fault),
    "withdrawn": WITHDRAW_REASONS,
}  # fmt: skip


@pytest.mark.parametrize("kind", sorted(WORDS))
def test_every_code_has_a_word_of_its_own(kind: str):
    codes = {str(code) for code in CODES[kind]}
    assert set(WORDS[kind]) == codes
    words = [find_word(code, kind) for code in sorted(codes)]
    assert [word for word in words if CODE.search(word) or not word.strip()] == []
    if kind != "verdict":  # there, a reply that was cut off is one, whoever gave it
        assert len(set(words)) == len(words)


def test_every_kind_of_code_is_tried():
    assert set(CODES) == set(WORDS)


def test_a_code_of_a_later_version_is_spelled_out():
    assert find_word("some_new_reason", "reason") == "some new reason"
    assert list_words(["viewer", "data_scientist"], "role") == "data scientist, viewer"


def test_every_reason_has_a_sentence_and_every_note_has_short_words():
    assert set(REASONS) == set(Reason)
    assert set(SHORT_NOTES) == set(Note)
    assert [note for note in Note if CODE.search(note) or CODE.search(SHORT_NOTES[note])] == []


def test_every_metric_and_feature_has_a_title():
    titles = {name: name_metric(name) for name in METRICS}
    assert len(titles) > 10
    assert [name for name, title in titles.items() if CODE.search(title) or not title] == []
    assert len(set(titles.values())) == len(titles)
    assert name_metric("exact_match@helm") == "Exact match by HELM’s rules"
    assert name_metric("own/dose_error") == "dose error"
    assert name_figure("pubmed_qa, exact_match, sex.F", {"pubmed_qa": "PubMedQA"}.__getitem__) == (
        "PubMedQA, Exact match, sex.F"
    )
    features = [name_feature(name) for name in get_args(FeatureName)]
    assert [title for title in features if re.fullmatch(CODE, title)] == []
    assert len(set(features)) == len(features)


def test_every_benchmark_has_a_title(tmp_path):
    benchmarks, broken = survey_benchmarks(tmp_path)
    assert broken == []
    names = [benchmark.display_name for benchmark in benchmarks.values()]
    assert [name for name in names if CODE.search(name)] == []
