"""A rule is tried wherever it can begin and nowhere for long, and leaves what only looks like an identifier."""

import time

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.redaction.entities import PRECEDENCE
from agent.redaction.rules import en as english
from agent.redaction.rules.rulebook import ANYWHERE, CODE, LONG, Rule, compile_pattern
from tests.agent.redaction.rules.en.examples import FOUND, RULES, SAFE_HARBOR, covered

UNTOUCHED = (
    "Strength 4/5 and 5/5 in both arms; cultures drawn 3/4 positive; biopsy 3/12 cores.",
    "Level of trauma 1 week ago; died at 94 hours of age; wires tail 12 cm.",
    "2110 via PIV",
    "Which IP address belongs to whom?",
    "the clinic, the hospital and an outside pharmacy",
    "BP 128/76, HR 64, RR 16, T 98.6 F, SpO2 97 % on room air.",
    "Strength 5/5, reflexes 2+, murmur 2/6, GCS 15/15, pain 7/10.",
    "Visual acuity 20/40.",
    "Na 138, K 4.2, Cl 101, HCO3 24, BUN 18, Cr 1.4, glucose 112 mg/dL.",
    "WBC 11.2, Hgb 13.1, Hct 39.4, platelets 250,000.",
    "metoprolol 50 mg bid, insulin glargine 20 units qhs, 1-2 tablets every 4-6 hours",
    "In 2019 the trial enrolled 1,204 patients aged 40-85 years.",
    "Patients over 90 years were excluded; those younger than 95 years were not.",
    "She may march in place; the second of three doses was given.",
    "A mass of 3.2 x 2.1 x 1.8 cm in segment 4 of the liver; image 12 of series 4.",
    "The patient had 90 days of therapy, 95 % adherence and 100 years of research behind it.",
    "ICD-10 code E11.9, CPT 99213, SNOMED and LOINC are code systems.",
    "HLA-B27, CD4 350, CD10 CD19 CD20 positive, BRAF V600E, CYP2D6, TP53, IL-6.",
    "CPR for 30 minutes, ROSC after 12 min.",
    "Use the CHA2DS2-VASc score of 4 and HAS-BLED of 2; LVEF 35-40%.",
    "Take 1000-2000 IU of vitamin D; add 1500 mL of fluids.",
    "NCT01234567 was registered; see PMID 12345 for methods.",
    "Lot of pain, plan 3 visits, order 2 units, model of care, record of falls.",
    "Type 2 diabetes, stage IIIB, grade 3, NYHA class II, Child-Pugh B.",
    "e.g. aspirin, i.e. an antiplatelet drug.No fever.",
    "Ph.D. level statistics, p < 0.001, OR 1.45 (95% CI 1.12-1.88), n = 312.",
    "Christmas disease is haemophilia B.",
    "Hospital day 3, postoperative day 2, ICU level of care.",
    "Ratio 3:1, at 08:15 and 20:30, q12h, 24/7.",
    "The unit of 500 mL ran for 4 hours; the implant of 450 cc was intact.",
    "Emergency Department, Intensive Care Unit, Operating Room and Pharmacy were told.",
    "Tell her: the member of the team will call 2 times.",
    "Follow-up in 6 weeks; return if worse.",
    "It is seen in Systemic Sclerosis and in Asherman syndrome; the patient came to the OPD with DIC.",
    "Prolong the period by 5-8 minutes; around 4-6 weeks of antibiotics, 1/2 to 1 hour each.",
    "Girls of the same age was 135 cm; age 8 - 90 years; 1 of 8 persons living in 168 neighbourhoods.",
    "Blood groups: Both AB. A mean hospital stay of 19 days; routine clinic protocols; page no 168, 170.",
    "The urine showed 3100000 colonies; fibre (+0.46 g/1000 kcal); follow-up reached 136 (28.2 %).",
    "HLA-DR Dendritic cells; Airway, breathing; the KT-1000 arthrometer; chi = 10.1; see ClinicalTrials.gov.",
    "His Glasgow coma scale was 3 and the QT interval 453 ms. Furthermore, the Foley catheter was in position.",
    "New York Heart Association class II, Montreal Cognitive Assessment 22, Rome IV criteria.",
    "The Philadelphia chromosome was found.",
    "The Boston bowel preparation scale, Chicago classification and Tokyo guidelines apply.",
    "Her temperature is 98 F (36.7 C); it was 102 F at noon.",
    "Lactate (reference: 0.5-2.2), platelets (normal range 140,000-400,000), IgG 720 mg/dL (576-1782 mg/dL).",
    "A G3P1010 woman with prothrombin 20210A was diagnosed with Alzheimer's dementia.",
    "White blood cell count is 21160, pH was 7.35 (7.35-7.45), add + 12.096316 * age.",
    "2 During her visit she slept.3 After this she ate; 40 degrees; the sternocleidomastoid was tender.",
)


@pytest.mark.parametrize("text", UNTOUCHED)
def test_what_only_looks_like_an_identifier_is_left(text: str):
    found = covered(text, SAFE_HARBOR)
    assert "".join(c for c, hit in zip(text, found, strict=True) if hit) == ""


# Pieces that, repeated, offer a pattern many ways to begin or to go on.
HOSTILE = (
    "1-",
    "1 ",
    "1.",
    "a.",
    "A ",
    "A.",
    "@a",
    "a@",
    "1/2/",
    "Jan 1 ",
    "(1) ",
    "#1",
    "x-1",
    "St. ",
    "A1 ",
    ":a",
    "a:",
    "\n1",
    "12 A ",
    "call 1 ",
    "of the ",
    "MRN ",
    "at ",
    "Dr. ",
    "O'",
    "-1",
    "0 ",
    "+1 ",
    "99 years ",
    "1234 ",
    "A-1-",
)


@pytest.mark.sample(10)
@pytest.mark.parametrize("piece", HOSTILE)
def test_no_text_makes_a_rule_try_for_long(piece: str):
    seconds = []
    for length in (2_000, 20_000):
        begun = time.process_time()
        RULES.analyze(piece * (length // len(piece)), SAFE_HARBOR)
        seconds.append(time.process_time() - begun)
    assert seconds[1] < 30 * seconds[0] + 0.2  # ten times the text


# But for those that leave it to their words what they begin with.
WORDED = [
    rule
    for rule in english.RULES
    if isinstance(rule.begins, str)
    and rule.begins not in (ANYWHERE, LONG, CODE)
    and rule.entity in SAFE_HARBOR
    and not rule.pattern.startswith((r"\p{L}", r"(?i)\p{L}", "(?!"))
]
ALL_TEXTS = " ; ".join(
    regex.sub("[«»]", "", example) for examples in FOUND.values() for example in examples
)


@pytest.mark.parametrize("rule", WORDED)
def test_a_rule_is_tried_at_every_word_that_it_can_begin_with(rule: Rule):
    anywhere = compile_pattern(r"(?<!\p{L})(?:" + rule.pattern + ")", "en")
    found = {(r.start, r.end) for r in RULES.analyze(ALL_TEXTS, [rule.entity])}
    missed = [
        ALL_TEXTS[match.start() - 20 : match.end()]
        for match in anywhere.finditer(ALL_TEXTS)
        if match.group()
        and not any(start <= match.start() and match.end() <= end for start, end in found)
    ]
    assert missed == []


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("aA1é.-/@# \n:'()MRNDrxJan+"), max_size=60))
def test_findings_lie_in_the_text_and_are_not_empty(text: str):
    for result in RULES.analyze(text, list(PRECEDENCE)):
        assert 0 <= result.start < result.end <= len(text)
