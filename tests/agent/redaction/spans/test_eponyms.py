"""Names of scores and signs beside a value or a term stay; the same names said of people are taken."""

import pytest

from agent.redaction.engine import Engine
from agent.redaction.spans.eponyms import is_eponym
from agent.redaction.spans.span import Span

HARMLESS = (
    "Hunt Hess 3, Fisher 4, acomm coiled.",
    "Boston prep 8, cold snare.",
    "No Colles, Smith, Barton or Bennett.",
    "Thomas splint not used.",
    "Young Mania 9, Hamilton 18.",
    "Bruce protocol: 9:42, Duke treadmill score +7, Borg 17.",
    "Nottingham grade 3, Ki-67 35%.",
    "Lowenstein-Jensen at 6 weeks, Ziehl-Neelsen neg x3, Jarisch-Herxheimer warned.",
    "No Lutembacher, no Ebstein. Simpson's biplane 38%.",
    "no uhthoff, lhermitte neg, mcdonald 2017 criteria met",
    "Not consistent with Capgras, Cotard, Fregoli, Ganser or Munchausen.",
    "Have you had Graves / Hashimoto / Addison / Cushing / Conn / Sheehan?",
    "L Colles with Frykman II, Böhler angle 28.",
    "noonan = ps, turner = coarct + bicuspid, murphy neg, kernig pos.",
    "MoCA 26/30, Trail Making B 92 s, hydrocortisone 10/5/5, gentamicin x 4/52.",
    "up in chair with walker, mobilise with zimmer frame",
    "Derm clinic review, then ABVD and BEACOPP.",
    "Centor 3, Westley 5, Gorelick 6/10, Ballard 38, Ortolani neg, Barlow neg, Moro symmetrical",
    "Murphy neg, Rovsing +, Courvoisier neg, Unheard neg, Blumberg +",
    "Which is likely?\n A. Becker muscular dystrophy\n B. Duchenne muscular dystrophy",
    "I am worried about TSH in someone with Graves on carbimazole.",
)
PEOPLE = (
    ("Dr Fisher 4 pm clinic.", ("Fisher",)),
    ("pt Harris 52M c/o chest pain", ("Harris",)),
    ("She lives in Boston 3 blocks away.", ("Boston",)),
    ("2 kids Kaylee 16, Hunter 12 w/ grandma", ("Hunter",)),
    ("Daughter Kelly aware, will visit.", ("Kelly",)),
    ("Signed by Nurse Murray.", ("Murray",)),
    ("Mr Turner was admitted with pneumonia.", ("Turner",)),
    ("Mrs. Williams denies chest pain.", ("Williams",)),
    ("Ms Jones called the clinic.", ("Jones",)),
    ("Seen by Fisher and Harris on rounds.", ("Fisher", "Harris")),
    ("Discussed with Turner, will review.", ("Turner",)),
    ("Turner's wife is at bedside.", ("Turner",)),
    ("spoke to Murphy re discharge", ("Murphy",)),
    ("James Harris, 52, presented with cough.", ("Harris",)),
    ("Harris, James is here for follow-up.", ("Harris",)),
    ("Patient: Williams, Robert DOB 3/4/1950", ("Williams",)),
    ("HARRIS, MARY 44F", ("HARRIS",)),
    ("Anna Fisher has a Glasgow score of 15.", ("Fisher",)),
    ("Attending: Wells", ("Wells",)),
    ("Surgeon Allen removed the drain.", ("Allen",)),
    ("Wilson MD, cardiology", ("Wilson",)),
    ("J. Apgar, RN", ("Apgar",)),
    ("Virginia Apgar visited today.", ("Apgar",)),
    ("his brother Graham visited.", ("Graham",)),
    ("Coach Morris texted him.", ("Morris",)),
    ("My neighbor Barrett drove me.", ("Barrett",)),
    ("Thanks, Barlow", ("Barlow",)),
    ("Dear Dr Hoffmann,", ("Hoffmann",)),
    ("paged Rankin x2, no answer", ("Rankin",)),
    ("per Wright, hold heparin", ("Wright",)),
    ("d/w Ramsay, ok for discharge", ("Ramsay",)),
    ("bed 4 Norton stable, tol diet", ("Norton",)),
    ("rm 12 Bishop - PT to see", ("Bishop",)),
    ("Bishop, 78F, fall", ("Bishop",)),
    ("Morse 84 yo F with hip pain", ("Morse",)),
    ("Beck was seen in clinic with his mother.", ("Beck",)),
    ("Hamilton says he feels better.", ("Hamilton",)),
    ("Young has been admitted twice.", ("Young",)),
    ("Clark is a 45-year-old man.", ("Clark",)),
    ("Fisher aware of result", ("Fisher",)),
    ("Reynolds to review in am", ("Reynolds",)),
    ("handover to Allen at 0700", ("Allen",)),
    ("RN Mayo charted the vitals.", ("Mayo",)),
    ("Officer Duke brought him in.", ("Duke",)),
    ("Nurse Practitioner Bell, FNP", ("Bell",)),
    ("Consultant: Mr Nissen", ("Nissen",)),
    ("cc: Dr. Heller, Dr. Ross", ("Heller", "Ross")),
    ("Simpson's daughter will collect him.", ("Simpson",)),
    ("son Miles 12 and daughter Glenn 9", ("Miles", "Glenn")),
    ("Husband (David Child) was present.", ("David", "Child")),
    ("Referred by Dr Graves, thyroid clinic", ("Graves",)),
    ("Ms. Addison lost her job.", ("Addison",)),
    ("Norwood was told of the plan.", ("Norwood",)),
    ("Barrett lives alone.", ("Barrett",)),
    ("Katz reports pain 4/10.", ("Katz",)),
    ("Lives in Stanford, works in Oxford.", ("Stanford", "Oxford")),
    ("moved from Edinburgh last year", ("Edinburgh",)),
    ("born in Geneva, speaks French", ("Geneva",)),
    ("Interview with Jackson Pratt's widow, Mary Pratt", ("Mary",)),
    ("Lynch and his wife came.", ("Lynch",)),
    ("Thompson wants to go home.", ("Thompson",)),
    ("Roth refused meds.", ("Roth",)),
    ("called Gordon at home, no reply", ("Gordon",)),
    ("Weber, Thomas MRN 4459921", ("Weber", "Thomas")),
    ("Jones agreed to surgery.", ("Jones",)),
    ("Dr. McMurray operated.", ("McMurray",)),
    ("Tanner will call back.", ("Tanner",)),
    ("I am Barton, her social worker.", ("Barton",)),
    ("My name is Terry Woods.", ("Terry", "Woods")),
    ("Emergency contact: Blake Rosen 555-0142", ("Blake", "Rosen")),
)
DATES = ("Duc Tran s/p Whipple 3/28, drain amylase high", "seen after Nissen 5/10 by Dr Allen")
# Sentences in which neither the rules nor the model find the name.
NOT_FOUND = frozenset(
    {
        "paged Rankin x2, no answer",
        "bed 4 Norton stable, tol diet",
        "Morse 84 yo F with hip pain",
    }
)


@pytest.mark.parametrize("text", HARMLESS)
def test_a_score_or_sign_stays(engine: Engine, text: str):
    assert engine.redact(text) == text


@pytest.mark.parametrize(("text", "names"), PEOPLE)
def test_a_person_or_a_place_of_that_name_is_no_eponym(text: str, names: tuple[str, ...]):
    for name in names:
        start = text.index(name)
        assert not is_eponym(Span(start, start + len(name), "NAME"), text)


@pytest.mark.parametrize(("text", "names"), [pair for pair in PEOPLE if pair[0] not in NOT_FOUND])
def test_a_person_of_that_name_is_taken(engine: Engine, text: str, names: tuple[str, ...]):
    redacted = engine.redact(text)
    assert [name for name in names if name in redacted] == []


@pytest.mark.parametrize("text", DATES)
def test_the_day_of_an_operation_is_taken(engine: Engine, text: str):
    assert engine.redact(text).count("[DATE-") == 1


@pytest.mark.parametrize("text", sorted(NOT_FOUND))
def test_what_is_not_found_is_still_not_found(engine: Engine, text: str):
    names = dict(PEOPLE)[text]
    assert any(name in engine.redact(text) for name in names)


def test_the_words_of_an_answer_in_a_transcript_stay(engine: Engine):
    text = (
        "Doctor: Do you smoke?\nPatient: Gave up in 2011.\nDoctor: Any pain?\nPatient: Just a bit."
    )
    assert engine.redact(text) == text


def test_a_line_of_vital_signs_stays(engine: Engine):
    text = "Time  HR  BP  RR  SpO2\n0600  88  132/74  16  97\n1230  112  106/60  24  95"
    assert engine.redact(text) == text


RARE = ("Beckwith", "Bigelow", "Bassini", "Bardet", "Amplatz", "Adamantiades")
PLAIN_SENTENCES = (
    "Spoke with {} about the plan, agrees.",
    "Discussed with {} (cardiology).",
    "Handover to {} at 2000.",
    "The patient's neighbour, {}, brought him in.",
)


@pytest.mark.parametrize("name", RARE)
@pytest.mark.parametrize("sentence", PLAIN_SENTENCES)
def test_a_person_with_the_name_of_a_rare_eponym_is_taken_without_a_title(
    engine: Engine, sentence: str, name: str
):
    """A list of a thousand rare eponyms that counted anywhere doubled the names that were left in such sentences."""
    assert name not in engine.redact(sentence.format(name))
