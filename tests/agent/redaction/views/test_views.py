"""Every character of a reading knows its place, nothing drawn as one is split, and plain text has one reading."""

import unicodedata

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent.redaction.redacted import Withheld
from agent.redaction.spans.span import Span
from agent.redaction.views.folding import fold
from agent.redaction.views.views import View, build_views

PIECES = st.one_of(
    st.sampled_from(
        [
            "Holloway", " ", "\n", "J o h n", "S.m.i.t.h", "e\u0301", "\u200b", "\u202eyawolloH\u202c",
            "\U0001f1e6\U0001f1ef", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "484f4c4c4f", "\u0336",
            "\U0001d409", "\ufb01", "\u0430", "\u05d0", "6\ufe0f\u20e3", "&#74;", "%4A", "=4A=6F", "\\u004a", "\\n",
            "SG9sbG93YXk=", "four one two nine ", "<b>", "**", "JohnSmith", "john_smith", "J0hn", "[NAME-1]",
            "rot13: Ubyybjnl", "-\n", "\uac00\u11a8",
        ]
    ),
    st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=12),
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=14).map("".join)


def views(text: str) -> tuple[View, ...]:
    found = build_views(text)
    return () if isinstance(found, Withheld) else found


@settings(max_examples=300, deadline=None)
@given(TEXTS)
@example("J\u0336\u200b\u0301ohn")
@example("\U0001f1e6\U0001f1ef4 1 2")
def test_every_character_of_a_reading_has_a_place_that_splits_nothing_drawn_as_one(text: str):
    edges = {0, *(match.end() for match in regex.finditer(r"\X", text))}
    for view in views(text):
        for place in range(len(view.text)):
            start, end = view.locate(place, place + 1)
            assert 0 <= start <= end <= len(text)
            # What is drawn as one stays together, but for a line end of two characters and text without marks.
            assert start in edges or text[start].isascii() or unicodedata.category(text[start])[0] not in "MC"
            assert end in edges or unicodedata.category(text[end])[0] != "M"


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_the_plain_reading_keeps_the_order_and_leaves_out_only_what_shows_nothing(text: str):
    folded = fold(text)
    if folded.starts is None or folded.ends is None:
        assert len(folded.text) == len(text)
        return
    assert list(folded.starts) == sorted(folded.starts)
    assert list(folded.ends) == sorted(folded.ends)
    covered = {place for s, e in zip(folded.starts, folded.ends, strict=True) for place in range(s, e)}
    left = "".join(character for place, character in enumerate(text) if place not in covered)
    assert all(unicodedata.category(character)[0] in "CM" or fold(character).text == "" for character in left)


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_the_readings_together_are_no_longer_than_so_many_times_the_text(text: str):
    assert sum(len(view.text) for view in views(text)) <= 30 * (len(text) + 10)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("\uff2a\uff4f\uff48\uff4e", "John"),
        ("\U0001d409\U0001d428\U0001d421\U0001d427", "John"),
        ("J\u200bo\u2060h\u00adn", "John"),
        ("J\u0336o\u0336h\u0336n\u0336", "John"),
        ("\u0408ohn", "John"),
        ("\u0430\u0441\u0435", "ace"),
        ("\u1d0a\u1d0f\u029c\u0274", "john"),
        ("\u0660\u0661\u0662", "012"),
        ("12\u201334\u221256", "12-34-56"),
        ("\u2460\u2776", "11"),
        ("e\u0301", "é"),
        ("\ufb01", "fi"),
        ("a\\nb", "a \nb"),
        ("4\u20e38\u20e32\u20e3", "482"),  # keycaps without their variation selector
        ("\u24a3\u24aa\u24a7\u24a7\u24aa\u24b2", "hollow"),
        ("\U0001f117\U0001f11e", "HO"),
    ],
)
def test_characters_are_read_as_the_plain_ones_they_look_like(written: str, read: str):
    assert views(written)[0].text == read


@pytest.mark.parametrize("text", ["TNF-α 5 μg/L", "½ tablet, 37.2 °C, ±2 — “stable”", "β-blocker γ-GT", "niño señaló"])
def test_signs_of_the_trade_and_letters_with_accents_stay(text: str):
    (plain,) = views(text)
    assert [c for c in plain.text if c.isalnum()] == [c for c in text if c.isalnum()]
    assert plain.marked == ()


@pytest.mark.parametrize(
    "text",
    [
        "BP 120/80 mmHg, HbA1c 8.4%, eGFR 42 mL/min/1.73 m2, SpO2 97%, pT3aN1M0, IL-6 and A1AT.",
        "Options: A B C D. Grade 1 2 3 4. A. B. C. D. Rate it 1 2 3 4 5.",
        "He takes 1-2 tablets every 4-6 hours; reversed by naloxone, then p.r.n., q.i.d.",
        "Dr. Lee of St. Mary's with no SOB; s/p CABG x 3, 8 x 5 x 2.5 cm.",
        "One or two of the three had four episodes.",
        "EKG and follow-up; non-small-cell; x-ray at noon.",
    ],
)
def test_ordinary_clinical_text_has_no_second_reading(text: str):
    assert [view.text for view in views(text)[1:]] == []


def test_a_finding_in_an_excerpt_counts_only_where_the_text_reads_otherwise():
    plain, decoded, *_ = views("Seen by Anna Smith on rounds; then H\\u006flloway came.")
    start = decoded.text.index("Anna")
    assert not decoded.is_new(Span(start, start + 10, "ID"))
    start = decoded.text.index("Holloway")
    assert decoded.is_new(Span(start, start + 8, "ID"))
    assert plain.is_new(Span(0, 1, "ID"))


def test_a_name_backwards_comes_back_to_the_whole_of_it():
    text = "(reversed: yawolloH aibmurT)"
    decoded = next(view for view in views(text) if "Trumbia Holloway" in view.text)
    start = decoded.text.index("Trumbia")
    assert text[slice(*decoded.locate(start, start + 16))] == "yawolloH aibmurT"


def test_a_disguise_in_a_disguise_is_read():
    text = "id %55%6D%46%71%5A%58%4E%6F%49%46%42%68%64%47%56%73"  # base64 in URL escapes
    assert any("Rajesh Patel" in view.text for view in views(text))


@pytest.mark.parametrize(
    "text",
    [
        "患者は王小明です。昨日から熱があります",
        "Пациент Иван Петров поступил вчера вечером с болями в груди",
        "المريض أحمد حسن يعاني من ألم في الصدر منذ أمس",
        "Ο ασθενής Γιώργος Παπαδόπουλος εισήχθη χθες με πόνο στο στήθος",
    ],
)
def test_text_in_a_script_that_nobody_here_reads_is_withheld(text: str):
    assert build_views(text) is Withheld.LANGUAGE


@pytest.mark.parametrize(
    "text",
    [
        "Der Patient wurde am Montag mit Fieber und Husten in die Klinik aufgenommen. Er ist nicht allergisch und "
        "nimmt keine Medikamente. Nach der Behandlung mit einem Antibiotikum wurde er bei gutem Zustand ohne Fieber "
        "entlassen, die Wunde ist nicht gerötet und wird von der Tochter versorgt.",
        "Le patient a été admis dans le service avec une fièvre et une toux depuis trois jours. Il est traité par des "
        "antibiotiques et il ne présente pas de douleur. Les examens sont normaux et le patient est sorti avec une "
        "ordonnance pour la suite du traitement chez son médecin.",
        "O doente foi internado com febre e tosse, não tem alergias e foi medicado com um antibiótico. Os exames são "
        "normais e a ferida não está inflamada. Foi observado pelo médico da urgência e teve alta ao fim de uma semana "
        "com melhoria dos sintomas.",
    ],
)
def test_prose_in_a_language_that_no_policy_has_is_withheld(text: str):
    assert build_views(text) is Withheld.LANGUAGE


@pytest.mark.parametrize(
    "text",
    [
        "Pt is a 45 yo M w/ HTN, DM2, s/p CABG. BP 120/80, HR 72, RR 16. Plan: metoprolol 50 mg, lisinopril 10 mg. "
        * 3,
        "La paciente ingresa con fiebre y tos de tres días de evolución. No tiene alergias. Se pauta antibiótico. " * 3,
    ],
)
def test_prose_and_notes_in_ours_are_read(text: str):
    assert not isinstance(build_views(text), Withheld)


@pytest.mark.parametrize("name", ["王小明", "Иван Петров", "أحمد حسن", "Γιώργος", "김철수"])
def test_a_few_words_in_such_a_script_are_taken_for_identifiers(name: str):
    text = f"Seen today: {name}, with fever."
    marked = views(text)[0].marked
    assert [text[span.start : span.end] for span in marked] == [name]


@pytest.mark.parametrize("reference", ["&#1;", "&#11;", "&#x1F;", "&#xFDD0;"])
def test_a_reference_to_no_character_spoils_nothing(reference: str):
    assert isinstance(build_views(f"Vitals {reference} fine"), tuple)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("the patient is Sm9z6SBO+vFleg== today", "José Núñez"),
        ("data TWFy Z2Fy ZXQg SG9s bG93 YXk= seen", "Margaret Holloway"),
        ("id 48;6f;6c;6c;6f;77;61;79", "Holloway"),
        ("id 48.6f.6c.6c.6f.77.61.79", "Holloway"),
        ("id 72/111/108/108/111/119/97/121", "Holloway"),
        ("%u0048%u006f%u006c%u006c%u006f%u0077%u0061%u0079", "Holloway"),
        ('["H", "o","l","l","o","w","a","y"]', "Holloway"),
        (r"\N{LATIN CAPITAL LETTER H}olloway", "Holloway"),
        ("\u2813\u2815\u2807\u2807\u2815\u283a\u2801\u283d", "Holloway"),
        ("member number k t seven two eight five", "KT7285"),
        ("Ho[NAME-1]ll[ID-7]oway", "Holloway"),
    ],
)
def test_a_name_in_another_code_is_read(written: str, read: str):
    views = build_views(written)
    assert not isinstance(views, Withheld)
    assert any(read in view.text for view in views)


@pytest.mark.parametrize(
    "text", ["BP 120/80/72/60, then 98/64", "that have been seen with them", "pH 7.35.40, 10.20.30"]
)
def test_numbers_and_words_of_four_letters_are_no_code(text: str):
    views = build_views(text)
    assert not isinstance(views, Withheld)
    assert len(views) == 1
