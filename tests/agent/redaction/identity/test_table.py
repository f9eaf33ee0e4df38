"""What is known of a record is found in its other texts, however they write it, and nothing else is."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.redaction.deadline import Deadline
from agent.redaction.identity.table import KnownValues, search_known_values
from agent.redaction.rules.en import everyday
from tests.agent.redaction.identity.typing_errors import mistype


def covered(text: str, *values: tuple[str, str]) -> str:
    """The text with every character that the identity table covers as a #."""
    deadline = Deadline()
    deadline.start(60)
    shown = list(text)
    for span in search_known_values(text, KnownValues(values, everyday()), deadline):
        assert 0 <= span.start < span.end <= len(text)
        shown[span.start : span.end] = "#" * (span.end - span.start)
    return "".join(shown)


MARGARET = ("NAME", "Margaret Ann Holloway")
PLAIN = [
    # a name as texts write it, and what must be covered of it
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
    ("MRN", "QX-7", "chart qx7 shows gout", "qx7"),
    ("MRN", "00451234", "MRN451234", "451234"),
    ("MRN", "451234", "number 000-451-234 is it", "000-451-234"),
    ("MRN", "MRN 0045-1234", "number 451234 is it", "451234"),
    ("SSN", "123-45-6789", "it is 123456789, yes", "123456789"),
    ("SSN", "123-45-6789", "it is 123 45 6789, yes", "123 45 6789"),
    ("SSN", "123-45-6789", "social ending in 6789, yes", "6789"),
    ("PHONE", "(617) 555-0143", "call 617.555.0143 now", "617.555.0143"),
    ("PHONE", "+1 617 555 0143", "call 6175550143 now", "6175550143"),
    ("PHONE", "617-555-0143", "call 555-0143 now", "555-0143"),
    ("PHONE", "+44 20 7946 0958", "call 020 7946 0958 now", "020 7946 0958"),
    ("DATE", "2022-03-14", "seen 14.03.2022 again", "14.03.2022"),
    ("DATE", "03/14/2022", "seen 20220314 again", "20220314"),
    ("DATE", "03/14/2022", "seen March 14th, 2022 again", "March 14th, 2022"),
    ("DATE", "March 14, 2022", "seen 3/14 again", "3/14"),
    ("DATE", "14 de marzo de 2022", "seen 14-Mar-22 again", "14-Mar-22"),
    ("DATE", "2022-03-14T00:00:00", "seen the 14th of March again", "14th of March"),
    ("ADDRESS", "12 Elm Street, Springfield, IL 62704", "at 12 Elm St now", "12 Elm St"),
    ("ADDRESS", "12 Elm Street, Springfield, IL 62704", "on Elm Street now", "Elm Street"),
    ("ADDRESS", "12 Elm Street, Springfield, IL 62704", "from Springfield now", "Springfield"),
    ("ADDRESS", "12 Elm Street, Springfield, IL 62704", "zip 62704 now", "62704"),
    ("ADDRESS", "Calle Mayor 12, 28013 Madrid", "en C/ Mayor 12 ahora", "Mayor 12"),
    ("ADDRESS", "Calle Mayor 12, 28013 Madrid", "de Madrid ahora", "Madrid"),
    ("FACILITY", "Mercy Vale Hospital", "at Mercy Vale now", "Mercy Vale"),
    ("FACILITY", "Mercy Vale Hospital", "at mercy vale hospital now", "mercy vale hospital"),
    ("EMAIL", "anna.kowalski@ward.example", "user anna.kowalski wrote", "anna.kowalski"),
    ("LOCATION", "Springfield", "from Springfield now", "Springfield"),
    ("ID", "9f8e7d6c-1111", "key 9F8E7D6C1111 is it", "9F8E7D6C1111"),
]  # fmt: skip


@pytest.mark.parametrize(("entity", "value", "text", "gone"), PLAIN, ids=[f"{row[1]}: {row[2]}" for row in PLAIN])
def test_a_value_is_found_however_another_text_writes_it(entity: str, value: str, text: str, gone: str):
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
    ("MRN", "QX-7", "qx 75 mg, aqx7b9"),
    ("MRN", "12345", "a score of 123/45 and 12,345 cells, 123.45"),
    ("PHONE", "617-555-0143", "0143 mg of 617"),
    ("DATE", "2022-03-04", "3/4 of a tablet, pain 3/10, grade 4/3, 2022, 4 of 3"),
    ("DATE", "2022-05-14", "she may take 14 mg"),
    ("ADDRESS", "12 Elm Street, Springfield, IL 62704", "12 tablets, elm bark, a street, il"),
    ("FACILITY", "General Hospital", "in general, a hospital"),
    ("LOCATION", "Turkey", "a turkey sandwich"),
    ("AGE", "94", "94 mg"),
    ("NAME", "MS", "every 5 ms"),
    ("NAME", "BPH", "bph"),
    ("NAME", "anticoagulant", "Anticoagulants, an anticoagulent"),
    ("FACILITY", "our clinic", "our clinic"),
    ("ID", "2024", "in 2024"),
    ("UNKNOWN_WORD", "Fever", "fever"),
]


@pytest.mark.parametrize(("entity", "value", "text"), HARMLESS, ids=[f"{row[1]}: {row[2]}" for row in HARMLESS])
def test_what_only_resembles_a_known_value_stays(entity: str, value: str, text: str):
    assert covered(text, (entity, value)) == text


@given(
    st.sampled_from(
        ["Margaret Ann Holloway", "Jan van der Westhuizen", "Anna-Maria O'Donoghue", "Xochitl Wrzesniewski"]
    ),
    st.integers(0, 30),
    st.sampled_from("aeiourstn"),
    st.sampled_from(["more", "less", "other", "exchanged"]),
)
def test_a_family_name_with_any_one_typing_error_is_gone(name: str, place: int, letter: str, kind: str):
    family = max(name.replace("'", " ").replace("-", " ").split(), key=len)
    wrong = mistype(family, place % len(family), letter, kind)
    assert covered(f"so {wrong} has gout", ("NAME", name)) == f"so {'#' * len(wrong)} has gout"


@given(st.text(max_size=60), st.lists(st.text(min_size=1, max_size=20), max_size=4))
def test_any_text_can_be_searched_for_any_value(text: str, values: list[str]):
    kinds = ("NAME", "MRN", "PHONE", "DATE", "ADDRESS", "FACILITY", "EMAIL", "LOCATION")
    covered(text + " ".join(values), *((kind, value) for kind in kinds for value in values))


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Smith " * 20_000, [("NAME", f"{a}{b}a Smith") for a in "BCDFGHJKLMNPQRSTVWXZ" for b in "aeiou"]),
        ("smiht " * 20_000, [("NAME", f"Smit{a}{b}") for a in "bcdfgh" for b in "aeiou"]),
        ("1 " * 30_000, [("MRN", "1" * 40), ("PHONE", "1" * 12)]),
        ("0-" * 30_000, [("MRN", "0" * 30 + "12345")]),
        ("the " * 20_000, [("FACILITY", "the " * n + "Vale") for n in range(2, 15)]),
        ("J. " * 20_000, [("NAME", "Jan Jansen Jonker")]),
        ("may 1 " * 10_000, [("DATE", "May 2, 1951")]),
        ("1/1/" * 20_000, [("DATE", "May 2, 1951")]),
    ],
    ids=["many-of-a-family", "mistyped", "digits", "zeros", "phrases", "initials", "months", "slashes"],
)  # fmt: skip
def test_hostile_text_takes_a_time_that_grows_with_it(text: str, values: list[tuple[str, str]]):
    deadline = Deadline()
    deadline.start(60)
    known = KnownValues(values, everyday())
    began = time.process_time()
    for _ in search_known_values(text, known, deadline):
        pass
    assert time.process_time() - began < 3.0
