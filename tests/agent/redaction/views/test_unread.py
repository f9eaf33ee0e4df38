"""Text that no policy reads is withheld, a few words of it are identifiers, and reversed text is read."""

import pytest

from agent.redaction.redacted import Withheld
from agent.redaction.views.views import build_views
from tests.agent.redaction.views.disguised_texts import list_views


def test_a_name_backwards_comes_back_to_the_whole_of_it():
    text = "(reversed: yawolloH aibmurT)"
    decoded = next(view for view in list_views(text) if "Trumbia Holloway" in view.text)
    start = decoded.text.index("Trumbia")
    assert text[slice(*decoded.locate(start, start + 16))] == "yawolloH aibmurT"


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
        "La paciente ingresa con fiebre y tos de tres días de evolución. No tiene alergias. Se pauta antibiótico. "
        * 3,
    ],
)
def test_prose_and_notes_in_ours_are_read(text: str):
    assert not isinstance(build_views(text), Withheld)


@pytest.mark.parametrize("name", ["王小明", "Иван Петров", "أحمد حسن", "Γιώργος", "김철수"])
def test_a_few_words_in_such_a_script_are_taken_for_identifiers(name: str):
    text = f"Seen today: {name}, with fever."
    marked = list_views(text)[0].marked
    assert [text[span.start : span.end] for span in marked] == [name]
