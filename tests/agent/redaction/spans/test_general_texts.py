"""Names in a text about medicine in general stay in lists of eponyms; whoever is planted in it is taken."""

import pytest

from agent.redaction.engine import Engine

TEACHING = (
    "Signs of the mitral and aortic valves are easily confused. Austin Flint's rumble is heard at "
    "the apex, Graham Steell's "
    "murmur at the left edge, and Carvallo's sign tells tricuspid from mitral regurgitation. Repair may follow "
    "Carpentier or Alfieri techniques, and the Ross, David or Bentall operations replace the root. "
    "Doppler gives the sums.",
    "Stains for the viva. Ziehl-Neelsen, Kinyoun and Auramine for mycobacteria; Giemsa, Leishman and "
    "Field for malaria; "
    "Grocott and PAS for fungi; Perls for iron; von Kossa for calcium; Masson, van Gieson and Movat for collagen. "
    "Congo red for amyloid. Warthin-Starry for spirochaetes; Gram and Twort for bacteria in tissue sections.",
    "Epilepsy by age. West and Ohtahara syndromes begin in infancy, Dravet with fever, "
    "Lennox-Gastaut and Landau-Kleffner "
    "later, Panayiotopoulos and Gastaut as occipital forms, Janz in teenagers. Keppra and Lamictal "
    "are usual; Epilim is not "
    "for those who may become pregnant. Rasmussen encephalitis may need surgery, and so may Sturge-Weber.",
    "Reversal of anticoagulants. Andexanet (Ondexxya) for apixaban and rivaroxaban, idarucizumab "
    "(Praxbind) for Pradaxa, "
    "Beriplex or Octaplex if neither is there. "
    "HAS-BLED and ORBIT should not "
    "be used to withhold treatment. Restart after GI bleeding within two weeks, after intracranial "
    "bleeding within eight.",
    "Machines on the unit: Prismaflex for filtration with citrate, Hamilton-C6 and Dräger Evita for "
    "ventilation, Servo-u as a "
    "spare, PiCCO and FloTrac for output, Bair Hugger for warming. Scores to chart: APACHE, SOFA, "
    "Murray 2.5 or more for "
    "severe injury, RASS and CPOT. Shiley and Portex tubes are on the trolley with Guedel airways.",
)
PEOPLE = (
    ("Holloway asked for this list.", "Holloway"),
    ("Discussed with Brzezicki.", "Brzezicki"),
    ("Okonjo, 54, has this too.", "Okonjo"),
    ("Ask Lindqvist about it.", "Lindqvist"),
    ("For Dr Marchetti's round.", "Marchetti"),
    ("Thandeka lives alone.", "Thandeka"),
    ("Mrs Haugland has this.", "Haugland"),
    ("My daughter Saoirse takes it.", "Saoirse"),
    ("Kevin Turner was told.", "Kevin Turner"),
    ("Thanks, Priyanka", "Priyanka"),
    ("Note by Whitcombe.", "Whitcombe"),
    ("Told by Castellanos.", "Castellanos"),
)


@pytest.mark.parametrize("text", TEACHING)
def test_a_teaching_text_stays(engine: Engine, text: str):
    assert engine.redact(text) == text


@pytest.mark.parametrize("text", TEACHING)
@pytest.mark.parametrize(("sentence", "name"), PEOPLE)
def test_a_person_in_a_teaching_text_is_taken(engine: Engine, text: str, sentence: str, name: str):
    first, _, rest = text.partition(". ")
    assert name not in engine.redact(f"{first}. {sentence} {rest}")
    assert name not in engine.redact(f"{sentence} {text}")


def test_a_date_in_the_text_ends_the_benefit_of_doubt(engine: Engine):
    text = TEACHING[3] + " Clinic of 14/03/2022: Quarrington, Praxbind given."
    assert "Quarrington" not in engine.redact(text)
