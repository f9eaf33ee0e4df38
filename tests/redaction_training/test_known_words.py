"""The further words of the closed vocabulary: which get in."""

from benchmarks.redaction_training.known_words import (
    count_small_words,
    list_known_words,
    list_long_words,
)


def test_a_word_that_stands_twice_in_small_letters_is_known():
    counts = count_small_words(["zorbing helps. zorbing twice", "quarving once"])
    assert "zorbing" in list_known_words([], counts)
    assert "quarving" not in list_known_words([], counts)


def test_a_name_is_not_known_though_it_stands_in_small_letters():
    counts = count_small_words(["siobhan and tadeusz, siobhan and tadeusz"])
    assert {"siobhan", "tadeusz"}.isdisjoint(list_known_words(["Siobhan", "tadeusz"], counts))


def test_a_word_that_stands_more_often_with_a_capital_is_not_known():
    counts = count_small_words(["Zorbing Zorbing Zorbing zorbing zorbing"])
    assert list_known_words([], counts) == []


def test_only_frequent_long_words_may_be_cut_short():
    counts = count_small_words(["zorbification " * 5 + "zorb " * 9])
    assert list_long_words(counts) == ["zorbification"]
