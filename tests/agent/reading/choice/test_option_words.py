"""Options are found by words that only they have; words of a second option, or that contradict one, find nothing."""

import pytest

from agent.reading.choice import extract_option
from agent.reading.choice.option_words import find_stem

DIURETICS = ("Potassium sparing diuretic", "Osmotic diuretic", "Thiazide diuretic", "Loop diuretic")
THERAPIES = (
    "Administration of lithium",
    "Interpersonal therapy",
    "Psychodynamic psychotherapy",
    "Cognitive behavioral therapy",
)
RHYTHMS = (
    "Atrial fibrillation",
    "Multifocal atrial tachycardia",
    "AV nodal re-entrant tachycardia",
    "Monomorphic VT",
)
TUMOURS = ("Neurogenic", "Thymoma", "Lymphoma", "Metastatic tumor")
SPACES = (
    "Widening of the PDL space",
    "Narrowing of PDL space",
    "Increased density",
    "Sclerotic change",
)
ARTERIES = (
    "Anterior cerebral artery",
    "Middle meningeal artery",
    "Basilar trunk",
    "Vertebral artery",
)
TEETH = (
    "Mandibular 1st molar",
    "Maxillary 1st molar",
    "Mandibular 2nd molar",
    "Maxillary 2nd molar",
)
COUNTS = ("3.", "two.", "5.", "Four.")
SHARES = ("100%", "0%", "10%", "50%")
CHANCES = ("0,25.", "0.75.", "1.00", "0.50.")
DOSES = ("15 mg", "20 mg", "5 mg", "15 g")
CLASSES = ("Class I", "Class II only", "Class III", "Class IV only")
NAMES = (
    "Legionella pneumophila infection",
    "Blastomyces dermatitidis infection",
    "Candida albicans",
)
ACIDS = ("Methyl-malonic acidemia", "Tyrosinemia", "Alcaptonuria", "Sulphuric acid")
SAMPLES = ("400", "900", "1800", "3600")
CATECHOLAMINES = ("Epinephrine", "Norepinephrine", "Dopamine", "Albuterol")
RISKS = ("Placental rupture", "Uterine hyper stimulation", "Fetal distress", "Infection")
CROSS_TESTS = ("When the cross test is positive", "When the cross test is negative")
IMAGES = (
    "Anterior-posterior and lateral radiographs of the neck",
    "Abdominal radiographs",
    "Bone scan",
)
SUMMARY = ("Linoleic acid", "Linolenic acid", "Both of the above", "None of the above")


@pytest.mark.parametrize(
    ("answer", "options", "letter"),
    [
        ("A thiazide.", DIURETICS, "C"),
        ("thiazides", DIURETICS, "C"),
        ("Thiazides, because they keep calcium.", DIURETICS, "C"),
        ("A thiazide rather than a loop diuretic.", DIURETICS, "C"),
        ("CBT", THERAPIES, "D"),
        ("IPT (interpersonal psychotherapy)", ("Psychoanalysis", "Interpersonal therapy"), "B"),
        ("Cognitive-behavioural therapy", THERAPIES, "D"),
        ("MAT.", RHYTHMS, "B"),
        ("Lymphomma", TUMOURS, "C"),
        ("Lymphomas", TUMOURS, "C"),
        ("In other words, the film shows a narrowed periodontal ligament space.", SPACES, "B"),
        ("4", COUNTS, "D"),
        ("5 pairs (13, 14, 15, 21 and 22)", COUNTS, "C"),
        ("Three.", COUNTS, "A"),
        ("Zero percent.", SHARES, "B"),
        ("So the chance is 50%.", CHANCES, "D"),
        ("15 grams? No, 15 mg.", DOSES, "A"),
        ("It is 20 mg.", DOSES, "B"),
        ("Class four", CLASSES, "D"),
        ("Class II", CLASSES, "B"),
        ("B. dermatitidis", NAMES, "B"),
        ("L. pneumophila", NAMES, "A"),
        ("Lack of B12 gives methylmalonic acidemia.", ACIDS, "A"),
        ("Sulfuric acid", ACIDS, "D"),
        ("The mandibular first molar", TEETH, "A"),
        ("Eighteen hundred.", SAMPLES, "C"),
        ("Three thousand six hundred", SAMPLES, "D"),
        ("Adrenaline", CATECHOLAMINES, "A"),
        ("Salbutamol.", CATECHOLAMINES, "D"),
        ("hyperstimulation of the uterus", RISKS, "B"),
        ("neg. cross test", CROSS_TESTS, "B"),
        ("The gyri of the temporal lobe", ("Temporal gyrus", "Frontal horn", "Pons"), "A"),
        ("yelow", ("Red", "Yellow", "Blue", "Black"), "B"),
        ("I would choose a neck film.", IMAGES, "A"),
    ],
)
def test_an_answer_with_words_of_one_option(answer, options, letter):
    option = extract_option(answer, options)
    assert (None if option is None else "ABCD"[option]) == letter


@pytest.mark.parametrize(
    ("answer", "options"),
    [
        ("A diuretic.", DIURETICS),
        ("A thiazide or an osmotic one.", DIURETICS),
        ("A thiazide and an osmotic one.", DIURETICS),
        ("Not a thiazide.", DIURETICS),
        ("A thiazide?", DIURETICS),
        ("It could be a thiazide.", DIURETICS),
        ("If she had stones, a thiazide.", DIURETICS),
        ("Avoid thiazides.", DIURETICS),
        ("Thiazides:", DIURETICS),
        ("Although a thiazide is common, she needs something else.", DIURETICS),
        ("Thiazide is common, but here mannitol is osmotic.", DIURETICS),
        ("A thiazide. Wait, no.", DIURETICS),
        ("I cannot recommend a thiazide.", DIURETICS),
        ("I do not know whether thiazides help.", DIURETICS),
        ("B. thiazide", DIURETICS),
        ("VT", TUMOURS),
        ("AT", RHYTHMS),
        ("Posterior cerebral artery", ARTERIES),
        ("Decreased density", SPACES),
        ("15", DOSES),
        ("15 ml", DOSES),
        ("3 or 4", COUNTS),
        ("3 and 4", COUNTS),
        ("7", COUNTS),
        ("1", ("Hopping on one leg", "Drawing a square", "Feeding", "Catching a ball")),
        ("1. It is rare.\n2. It is mild.\n3. It is treated.", ("1mm", "2mm", "3mm", "4mm")),
        ("5%", ("5", "10", "15", "20")),
        ("Vitamin D", ("Vitamin C tablets", "Folic acid", "Iron", "Zinc")),
        ("Vitamin D tablets", ("Vitamin C tablets", "Folic acid", "Iron", "Zinc")),
        ("Cystine", ("Cysteine", "Glycine", "Serine", "Lysine")),
        ("Hypokalemic", ("Hyperkalemic crisis", "Shock", "Sepsis", "Stroke")),
        ("The options A and B are derived from linoleic acid.", SUMMARY),
        (
            "Biopsies were taken of all lesions.",
            ("Biopsy of the mass", "Pap smear", "Drainage", "Test"),
        ),
        ("", DIURETICS),
        ("The first molar", TEETH),
        ("Eighteen hundred or nine hundred", SAMPLES),
        ("Nine hundred would be too few", SAMPLES),
        ("Not adrenaline", CATECHOLAMINES),
        ("Adrenaline and noradrenaline", CATECHOLAMINES),
        ("pos. or neg. cross test", CROSS_TESTS),
        ("I would choose neither the neck film nor the abdominal one.", IMAGES),
        ("I would stop adrenaline.", CATECHOLAMINES),
        ("Not the mandibular first molar", TEETH),
    ],
)
def test_an_answer_whose_words_are_not_enough(answer, options):
    assert extract_option(answer, options) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("narrowed", "narrowing"),
        ("arteries", "artery"),
        ("moving", "movement"),
        ("tumour", "tumors"),
        ("haemorrhage", "hemorrhages"),
        ("behavioural", "behavioral"),
    ],
)
def test_forms_of_one_word_have_one_stem(one, other):
    assert find_stem(one) == find_stem(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("nephritic", "nephrotic"), ("thyroid", "thyroiditis"), ("gastrin", "gastritis")],
)
def test_different_words_have_different_stems(one, other):
    assert find_stem(one) != find_stem(other)


def test_a_unit_that_is_written_out_is_that_of_the_option():
    doses = ("200 mcg", "400 mcg", "600 mcg", "1000 mcg")
    assert extract_option("Six hundred micrograms.", doses) == 2
    assert extract_option("Six hundred milligrams.", doses) is None


def test_a_letter_that_is_a_roman_numeral_of_one_option_names_it():
    types = ("Type I collagen", "Type VI collagen", "Type V collagen", "Type IV collagen")
    assert extract_option("V", types) == 2
    assert extract_option("X", types) is None
    assert extract_option("V", ("Vitamin A", "Type V collagen")) is None


def test_a_temperature_names_no_option_by_its_degrees():
    assert extract_option("I'd go with 55 °C here, the usual limit.", ("65", "35", "45", "55")) == 3


@pytest.mark.parametrize("word", ["nitrite", "macrocytic", "prosodin"])
def test_a_vowel_that_makes_another_word_is_no_slip(word):
    options = ("Nitrate", "Microcytic", "Prazosin", "Nadolol")
    assert extract_option(word, options) is None
