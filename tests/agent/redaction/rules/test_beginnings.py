"""The words that a pattern can begin with, read from the pattern."""

import pytest

from agent.redaction.rules import en, es
from agent.redaction.rules.beginnings import OpenBeginningError, read_first_words
from agent.redaction.rules.es.patterns import RULES as SPANISH
from agent.redaction.rules.rulebook import WORDS
from agent.redaction.rules.word_lists import write_lists


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"(?i)(?:MRN|chart) \d+", {"mrn", "chart"}),
        (r"member(?:ship)? no", {"member", "membership"}),
        (r"f[ée]vrier\b", {"février", "fevrier"}),
        (r"(?<=\b(?:in|of) )(?!May I)(?:May|June) \d", {"may", "june"}),
        (r"(?:New York|St\. Ives|Bath)\b", {"new", "st", "bath"}),
        (r"pin ?code", {"pin", "pincode"}),
        (r"(?:bank )?account(?!\p{L})s?", {"bank", "account"}),
        (r"(?:\d{1,2} )?days? ago", {"day", "days"}),
        (r"n\.?h\.?c", {"n", "nh", "nhc"}),
        (r"X{3}-\K\d{4}", {"xxx"}),
        (r"\d+ Street", set()),
    ],
)
def test_words_are_those_that_a_match_can_begin_with(pattern: str, words: set[str]) -> None:
    assert read_first_words(pattern) == words


@pytest.mark.parametrize(
    "pattern", [r"\p{L}{3,20} Hospital", r"\w+", r"tra[a-z]{0,3}\b", r"(?:the )?[^\d]"]
)
def test_pattern_that_begins_with_any_word_is_refused(pattern: str) -> None:
    with pytest.raises(OpenBeginningError):
        read_first_words(pattern)


def test_every_rule_that_leaves_its_words_to_its_pattern_has_some() -> None:
    for language, rules in (("en", en.RULES), ("es", (*SPANISH, *es.latin_america.RULES))):
        left = [rule for rule in rules if rule.begins == WORDS]
        assert len(left) > 50
        assert [
            rule.pattern
            for rule in left
            if not read_first_words(write_lists(rule.pattern, language))
        ] == []
