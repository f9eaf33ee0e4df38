"""A text that was searched is not searched again, and nothing else changes: neither detections nor withheld fields."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from presidio_analyzer.nlp_engine import NlpArtifacts

from agent.redaction import Withheld
from agent.redaction.detection_cache import DetectionCache
from agent.redaction.engine import Engine, open_engine
from agent.redaction.models.tokenizer import TokenizerEngine
from agent.redaction.policy.policy import load_policy
from agent.redaction.rules_digest import rules_digest
from agent.redaction.spans.span import Span

tokenizer = TokenizerEngine(["en"])
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


def test_a_prompt_that_several_models_were_asked_is_searched_once(engine: Engine, searches: list[str]):
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


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=80))
def test_tokens_made_on_demand_are_those_that_presidio_would_make_at_once(text: str):
    late = tokenizer.process_text(text, "en")
    tokens = tokenizer.tokenised(text, "en")
    at_once = NlpArtifacts([], tokens, [t.idx for t in tokens], [t.lower_ for t in tokens], tokenizer, "en")
    assert [token.text for token in late.tokens] == [token.text for token in at_once.tokens]
    assert late.tokens_indices == at_once.tokens_indices
    assert late.lemmas == at_once.lemmas
    assert late.keywords == at_once.keywords


@given(
    st.lists(
        st.sampled_from(
            [
                *[
                    "a.b",
                    "(c)",
                    "Dr.",
                    "don't",
                    "12/03/2024",
                    "37°C",
                    "5mg/dl.",
                    "e.g.,",
                    "o'Shea-Li",
                    "A&B",
                    "http://a.b/c",
                    "90y/o",
                    "\n",
                    "\t",
                ],
                " ",
                "  ",
                "\n\n",
                " \n",
                "\u00a0",
            ]
        ),
        max_size=30,
    ).map("".join)
)
def test_words_are_split_as_the_models_were_trained_to_read_them(text: str):
    words = tokenizer.words(text, "en")
    tokens = tokenizer.tokenised(text, "en")
    assert list(words.texts) == [token.text for token in tokens]
    assert list(words.starts) == [token.idx for token in tokens]


def test_words_touching_a_place_are_those_with_a_character_in_it():
    words = tokenizer.words("Anna  saw Lee.", "en")
    assert list(words.texts) == ["Anna", " ", "saw", "Lee", "."]
    assert [list(words.touching(*place)) for place in ((0, 4), (3, 7), (4, 5), (6, 7), (13, 14))] == [
        [0], [0, 1, 2], [], [2], [4],
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["SSN 123456789 on file", "my passport, ssn or social security: 123 45 6789"])
def test_a_finding_in_doubt_still_gets_its_context(engine: Engine, text: str):
    assert "6789" not in engine.redact(text)


class MemoryStore(dict[bytes, bytes]):
    """A store in memory."""

    def find(self, name: bytes) -> bytes | None:
        return self.get(name)

    def keep(self, findings: Mapping[bytes, bytes]) -> None:
        self.update(findings)


def test_the_next_export_takes_detections_from_the_store_unless_a_rule_has_changed():
    store, detections = MemoryStore(), ((Span(0, 3, "NAME"),),)
    first = DetectionCache(store=store, rules=b"rules 1")
    first.put("Ann", detections)
    first.flush()
    assert b"Ann" not in b"".join([*store.keys(), *store.values()])
    assert DetectionCache(store=store, rules=b"rules 1").get("Ann") == detections
    assert DetectionCache(store=store, rules=b"rules 2").get("Ann") is None


def test_another_policy_is_another_set_of_rules():
    policy = load_policy("hipaa_safe_harbor")
    assert rules_digest(policy) == rules_digest(policy)
    assert rules_digest(policy) != rules_digest(policy.model_copy(update={"threshold": 0.9}))


def test_the_self_test_never_reads_the_store():
    class Poisoned(MemoryStore):
        def find(self, name: bytes) -> bytes | None:
            raise AssertionError("the self-test read the store")

    open_engine("hipaa_safe_harbor", store=Poisoned())
