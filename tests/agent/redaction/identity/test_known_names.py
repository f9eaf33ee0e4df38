"""Two words differ by one typing error, or they are two words."""

from hypothesis import given
from hypothesis import strategies as st

from agent.redaction.identity.known_names import differs_by_one_error
from tests.agent.redaction.identity.typing_errors import mistype

WORDS = st.text("abc", min_size=1, max_size=6)


@given(WORDS, st.integers(0, 5), st.sampled_from("abc"), st.sampled_from(["more", "less", "other", "exchanged"]))
def test_one_typing_error_is_one_letter_or_two_exchanged(word: str, place: int, letter: str, kind: str):
    other = mistype(word, min(place, len(word) - 1), letter, kind)
    assert differs_by_one_error(other, word) == differs_by_one_error(word, other) == (other != word)


@given(WORDS, WORDS)
def test_two_words_further_apart_are_two_words(word: str, other: str):
    reachable = {
        mistype(word, place, letter, kind)
        for place in range(len(word) + 1)
        for letter in "abc"
        for kind in ("more", "less", "other", "exchanged")
    }
    assert differs_by_one_error(word, other) == (other in reachable - {word})
