"""Texts reduced to their words: what makes another value stays."""

import pytest

from agent.reading.words import plain_words, words_without_articles


@pytest.mark.parametrize(
    ("text", "plain", "without_articles"),
    [
        ("The dose is 1.5 mg.", "the dose is 1.5 mg", "dose is 1.5 mg"),
        ("1,500  mL", "1500 ml", "1500 ml"),
        ("5 %", "5%", "5%"),
        ("“5 mg.”", "5 mg", "5 mg"),
        ("O- or HER2+", "o- or her2+", "o- or her2+"),
        ("\u2212 5 is not \u22125", "5 is not -5", "5 is not -5"),
        ("A patient with an abscess", "a patient with an abscess", "patient with abscess"),
        ("Hepatitis A virus", "hepatitis a virus", "hepatitis a virus"),
    ],
)
def test_words_that_decide(text: str, plain: str, without_articles: str):
    assert (plain_words(text), words_without_articles(text)) == (plain, without_articles)
