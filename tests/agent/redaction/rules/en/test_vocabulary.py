"""The closed vocabulary of shorthand: words of any note are in it, and names of many countries are not."""

import pytest

from agent.redaction.rules.en.names import words
from agent.redaction.rules.en.vocabulary import is_unlisted


@pytest.mark.parametrize(
    "word",
    [
        "couldnt",
        "reintubated",
        "nonfocal",
        "azithro",
        "bilat",
        "recieved",
        "critiera",
        "inflamation",
        "haemolysed",
        "débridements",
        "txfr",
        "comorbidities",
        "voclosporin",
        "orchiopexy",
        "cyclobutyl",
    ],
)
def test_a_word_cut_short_misspelt_or_composed_is_in_the_vocabulary(word: str):
    assert not is_unlisted(word.lower())


@pytest.mark.parametrize(
    "name",
    [
        "tiwalola",
        "jorge",
        "nowak",
        "szczepanik",
        "siobhan",
        "thunderchild",
        "wanjiru",
        "fathima",
        "xochitl",
    ],
)
def test_a_name_that_is_no_word_is_unlisted(name: str):
    assert is_unlisted(name)


def test_common_names_stay_unlisted_unless_they_are_words_too():
    names = words("given_names") | words("surnames")
    also_words = [name for name in names if name.isascii() and not is_unlisted(name)]
    assert len(also_words) < 0.3 * len(names)


@pytest.mark.parametrize("ending", ["", "s", "ed", "ly"])
def test_a_listed_name_is_not_taken_for_a_word_cut_short(ending: str):
    assert is_unlisted("tobias" + ending)
