"""Names that the dataset knows are found as texts write them, and by one typing error; other words stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.redaction.identity.known_names import differs_by_one_error
from tests.agent.redaction.identity.covered_texts import covered
from tests.agent.redaction.identity.typing_errors import mistype

WORDS = st.text("abc", min_size=1, max_size=6)


@given(
    WORDS,
    st.integers(0, 5),
    st.sampled_from("abc"),
    st.sampled_from(["more", "less", "other", "exchanged"]),
)
def test_one_typing_error_is_one_letter_or_two_exchanged(
    word: str, place: int, letter: str, kind: str
):
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


PLAIN = [
    # a value as its dataset says it, how a text writes it, and what must be covered of it
    ("NAME", "Margaret Ann Holloway", "margaret has gout", "margaret"),
    ("NAME", "Margaret Ann Holloway", "HOLLOWAY, MARGARET A. was seen", "HOLLOWAY, MARGARET A."),
    ("NAME", "Margaret Ann Holloway", "M. Holloway was seen", "M. Holloway"),
    ("NAME", "Margaret Ann Holloway", "M. A. Holloway was seen", "M. A. Holloway"),
    ("NAME", "Margaret Ann Holloway", "seen: Holloway, M.", "Holloway, M."),
    ("NAME", "Margaret Ann Holloway", "Margaret A Holloway-Kowalski was seen", "Margaret A Holloway-Kowalski"),
    ("NAME", "Margaret Ann Holloway", "the Holloways were told", "Holloways"),
    ("NAME", "Margaret Ann Holloway", "Holloway's knee", "Holloway"),
    ("NAME", "Margaret Ann Holloway", "log in as mholloway now", "mholloway"),
    ("NAME", "Margaret Ann Holloway", "log in as margaretholloway now", "margaretholloway"),
    ("NAME", "Margaret Ann Holloway", "file holloway_margaret.pdf", "holloway_margaret"),
    ("NAME", "Margaret Ann Holloway", "Margret was seen", "Margret"),
    ("NAME", "Margaret Ann Holloway", "Mrs. Hollowya was seen", "Hollowya"),
    ("NAME", "Margaret Ann Holloway", "Mrs. Holoway was seen", "Holoway"),
    ("NAME", "Margaret Ann Holloway", "ask hollloway about it", "hollloway"),
    ("NAME", "Margaret Ann Holloway", "pt MH has gout", "MH"),
    ("NAME", "Margaret Ann Holloway", "M.A.H. has gout", "M.A.H."),
    ("NAME", "Margaret Ann Holloway", "Mrs. H. has gout", "H"),
    ("NAME", "Holloway, Margaret", "log in as mholloway now", "mholloway"),
    ("NAME", "Holloway, Margaret", "pt MH has gout", "MH"),
    ("NAME", "Jürgen Müller", "now Jurgen Muller has gout", "Jurgen Muller"),
    ("NAME", "Ján Novák", "but everyone says Ján to him", "Ján"),
    ("NAME", "Siobhán O'Brien", "obrien has gout", "obrien"),
    ("NAME", "Siobhan O'Brien", "O'Brien has gout", "O'Brien"),
    ("NAME", "Siobhan O'Brien", "o'brien has gout", "o'brien"),
    ("NAME", "Siobhan OBrien", "O'Brien has gout", "O'Brien"),
    ("NAME", "Anna-Maria Kowalski", "Annamaria has gout", "Annamaria"),
    ("NAME", "Annamaria Kowalski", "anna-maria has gout", "anna-maria"),
    ("NAME", "Anna-Maria Kowalski", "Anna Maria has gout", "Anna Maria"),
    ("NAME", "Jan van der Berg", "Van der Berg has gout", "Van der Berg"),
    ("NAME", "Jan van der Berg", "vanderberg has gout", "vanderberg"),
    ("NAME", "Maria de la Cruz", "de la Cruz, Maria has gout", "de la Cruz, Maria"),
    ("NAME", "Will Rose", "Rose, Will was seen", "Rose, Will"),
    ("NAME", "Will Rose", "so Will should rest", "Will"),
    ("NAME", "Will Rose", "Mr. Rose should rest", "Rose"),
    ("NAME", "Li Wu", "Mr. Li should rest", "Li"),
    ("NAME", "Li Wu", "Wu Li should rest", "Wu Li"),
    ("NAME", "王小明", "患者王小明来院", "王小明"),
    ("NAME", "Dr. Anna Kowalski, MD", "kowalski said so", "kowalski"),
    ("NAME", "LEE", "so Lee has gout", "Lee"),
    ("NAME", "xochitl", "so Xochitl has gout", "Xochitl"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("entity", "value", "text", "gone"), PLAIN, ids=[f"{row[1]}: {row[2]}" for row in PLAIN]
)
def test_a_name_is_found_however_another_text_writes_it(
    entity: str, value: str, text: str, gone: str
):
    assert covered(text, (entity, value)) == text.replace(gone, "#" * len(gone))


HARMLESS = [
    ("NAME", "Will Rose", "She will return. The dose rose at will."),
    ("NAME", "Will Rose", "Will she return? Plan: Will Return Monday."),
    ("NAME", "Margaret Holloway", "a hollow way, a margarita, marginal zone"),
    ("NAME", "May Chen", "She may be chilled."),
    ("NAME", "Rose Graves", "Graves disease with a rose spot"),
    ("NAME", "Li Wu", "Li 0.8 mmol/L, NG tube"),
    ("NAME", "Margaret Holloway", "MH: none. M. H"),
    ("NAME", "Alfred Burns", "the wound was dressed, it burned"),
    ("NAME", "MS", "every 5 ms"),
    ("NAME", "BPH", "bph"),
    ("NAME", "anticoagulant", "Anticoagulants, an anticoagulent"),
]


@pytest.mark.parametrize(
    ("entity", "value", "text"), HARMLESS, ids=[f"{row[1]}: {row[2]}" for row in HARMLESS]
)
def test_what_only_resembles_a_known_name_stays(entity: str, value: str, text: str):
    assert covered(text, (entity, value)) == text


@given(
    st.sampled_from(
        [
            "Margaret Ann Holloway",
            "Jan van der Westhuizen",
            "Anna-Maria O'Donoghue",
            "Xochitl Wrzesniewski",
        ]
    ),
    st.integers(0, 30),
    st.sampled_from("aeiourstn"),
    st.sampled_from(["more", "less", "other", "exchanged"]),
)
def test_a_family_name_with_any_one_typing_error_is_gone(
    name: str, place: int, letter: str, kind: str
):
    family = max(name.replace("'", " ").replace("-", " ").split(), key=len)
    wrong = mistype(family, place % len(family), letter, kind)
    assert covered(f"so {wrong} has gout", ("NAME", name)) == f"so {'#' * len(wrong)} has gout"
