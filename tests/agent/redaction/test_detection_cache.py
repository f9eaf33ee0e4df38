"""A text that was searched is not searched again, and nothing else changes: neither detections nor withheld fields."""

import pytest

from agent.redaction import Withheld
from agent.redaction.detection_cache import DetectionCache
from agent.redaction.engine import Engine, open_engine
from agent.redaction.spans.span import Span
from tests.agent.redaction.stored_detections import MemoryStore

NOTE = "Patient name: Xochitl Wrzesniewski, MRN: 00451234, was seen on 03/14/2022."


@pytest.fixture
def searches(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every text that the recognisers are given from now on."""
    seen: list[str] = []
    analyze = engine._analyzer.analyze

    def counting(text: str, *rest: object, **more: object) -> object:
        seen.append(text)
        return analyze(text, *rest, **more)

    monkeypatch.setattr(engine._analyzer, "analyze", counting)
    monkeypatch.setattr(engine, "_cache", DetectionCache())
    return seen


def test_a_prompt_that_several_models_were_asked_is_searched_once(
    engine: Engine, searches: list[str]
):
    first = engine.redact_record([NOTE, "I think Wrzesniewski has gout."])
    second = engine.redact_record([NOTE, "wrzesniewski has asthma, and so has Dr. Szczepanik."])
    assert searches.count(NOTE) == 1
    assert first == [
        "Patient name: [NAME-1], MRN: [MRN-1], was seen on [DATE-1].",
        "I think [NAME-1] has gout.",
    ]
    assert second == [first[0], "[NAME-1] has asthma, and so has [NAME-2]."]


def test_texts_that_differ_by_a_letter_are_both_searched(engine: Engine, searches: list[str]):
    engine.redact(NOTE)
    engine.redact(NOTE.replace("4", "5"))
    assert len(searches) == 2


def test_a_text_withheld_for_want_of_time_is_tried_again():
    engine = open_engine("hipaa_safe_harbor")
    long = "SMITH, Anna of 12 Oak Street saw Dr. Lee. " * 4000
    engine._policy = engine._policy.model_copy(
        update={"limits": engine._policy.limits.model_copy(update={"field_seconds": 0.05})}
    )
    assert engine.redact(long) == "[WITHHELD: time limit]"
    assert engine.redact(long) == "[WITHHELD: time limit]"
    assert engine.withheld == {Withheld.TIME_LIMIT: 2}


def test_the_cache_holds_no_text_and_stays_small():
    cache = DetectionCache(most=10)
    for number in range(50):
        cache.put(f"Margaret Holloway {number}", ((Span(0, 8, "NAME"), Span(9, 17, "NAME")),))
    cached = [number for number in range(50) if cache.get(f"Margaret Holloway {number}")]
    assert cached == [45, 46, 47, 48, 49]
    assert "Holloway" not in repr(vars(cache))


def test_texts_asked_for_lately_leave_the_cache_last():
    cache = DetectionCache(most=2)
    cache.put("a", ())
    cache.put("b", ())
    assert cache.get("a") == ()
    cache.put("c", ())
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == ((), None, ())


def test_a_text_with_more_detections_than_fit_is_not_cached():
    cache = DetectionCache(most=2)
    cache.put("a", ((Span(0, 1, "ID"),) * 3,))
    assert cache.get("a") is None
    cache.put("b", ())
    assert cache.get("b") == ()


def test_the_next_export_takes_detections_from_the_store_unless_a_rule_has_changed():
    store, detections = MemoryStore(), ((Span(0, 3, "NAME"),),)
    first = DetectionCache(store=store, rules=b"rules 1")
    first.put("Ann", detections)
    first.flush()
    assert b"Ann" not in b"".join([*store.keys(), *store.values()])
    assert DetectionCache(store=store, rules=b"rules 1").get("Ann") == detections
    assert DetectionCache(store=store, rules=b"rules 2").get("Ann") is None
