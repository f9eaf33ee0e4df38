"""Words stand where the text has them, whatever their letters, and are compared without capitals and accents."""

from hypothesis import given
from hypothesis import strategies as st

from agent.redaction.identity.words import TextWords, plain_words, split_words, to_plain


@given(st.text(st.sampled_from("aÄßéZ09 -'ﬁİ\u0301\n王"), max_size=30))
def test_words_lie_in_the_text_in_order_and_are_its_plain_forms(text: str):
    last = 0
    for word in split_words(text):
        assert last <= word.start < word.end <= len(text)
        assert word.length == word.end - word.start
        assert word.key == to_plain(text[word.start : word.end])
        last = word.end


def test_letters_and_digits_are_words_of_their_own_and_accents_do_not_count():
    assert plain_words("O'Brien-Müller, MRN0045") == ("o", "brien", "muller", "mrn", "0045")
    assert plain_words("Straße Łódź") == ("strasse", "lodz")


def test_what_stands_around_a_word_is_that_of_the_text():
    text = "Anna  lee"
    words = TextWords(text, split_words(text))
    assert (words.has_capital(0), words.has_capital(1), words.read_gap(0)) == (True, False, "  ")
    assert (words.key_before(0), words.key_before(1)) == ("", "anna")
