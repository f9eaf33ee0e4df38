"""Institutions by a word such as "Centre", ages in headers, and names, wards and employers in shorthand."""

import pytest

from agent.redaction.deadline import Deadline
from agent.redaction.rules.en.institutions import find_institutions
from tests.agent.redaction.rules.en.examples import RULES, SAFE_HARBOR, find_leaked


@pytest.mark.parametrize(
    "example",
    [
        "«GANGOTRI INSTITUTE OF NEUROSCIENCES»\n4th Main, Mysuru\nDISCHARGE SUMMARY",
        "«Silverbrook Pathology Associates», P.C.\nSURGICAL PATHOLOGY REPORT",
        "«VELLANKI SCANS & DIAGNOSTIC CENTRE»\nUSG ABDOMEN",
        "«Marrowdale Renal Unit»\nDialysis sheet",
        "«Wattleford Medical Imaging»\nCT head",
        "Worker: T. Mupfumi, «Herefordshire Adult Social Care»\nVisit",
        "code known to the «Bluebell Homecare» team",
        "in a direct provision centre, the «Old Creamery Centre», Ballybofey",
        "carers from «Larkrise Care» four times a day",
        "seen by «Cotswold Recovery Services» in May",
        "moved to «Foxglove House» in spring",
        "under «Ravensmoor Physicians Group», no record",
        "bloods at «Tallowridge Labs» pending",
        "«SHRI KRISHNA NURSING HOME»\nBED 4",
    ],
)
def test_an_institution_is_found_whole(example: str):
    assert find_leaked(example, SAFE_HARBOR) == ""


@pytest.mark.parametrize(
    "text",
    [
        "SURGICAL PATHOLOGY CONSULTATION\nSpecimen: skin",
        "MEDICAL INTENSIVE CARE UNIT\nNursing note",
        "Medical Social Work Department",
        "Day Surgery Unit, Acute Stroke Unit",
        "Referred to Palliative Care Services and Home Care.",
        "Cardiac Rehabilitation Group on Mondays",
        "Adult Social Care and Primary Care Partners agreed.",
        "the Emergency Department, an Eye Centre, a Health Centre",
        "Discharge to Nursing Home.",
        "CONSENT FOR BLOOD PRODUCTS\nLABORATORY RESULTS\n",
        "Blood Transfusion Laboratory Practice",
        "Unit Practice Group, Patient Safety Team",
        "Sleep Centre, Breast Centre, Burns Unit",
        "Palliative Services",
        "Self-care Agency, Dependent Self-care Agency",
    ],
)
def test_units_and_services_of_any_hospital_stay(text: str):
    deadline = Deadline()
    deadline.start(10)
    assert list(find_institutions(text, deadline)) == []


@pytest.mark.parametrize(
    "example",
    [
        "DOB/Age: 10/10/1933 / «90»\nSex F",
        "Age/Sex: «93»/F",
        "AGE : «95» Y  SEX : M",
        "D.O.B/Age «4.5.1931 / 92»",
        "Sex/Age: F / «91»",
        "DOB «02/03/1930» (Age «94»)",
        "Age at visit: «97»",
        "DOB: 1.1.1932   Age: «91» yrs",
        "Date of birth/age   11-Nov-1929 / «94»",
        "Pt age «92»",
    ],
)
def test_an_age_over_89_in_a_header_is_found(example: str):
    assert find_leaked(example, ["AGE", "DATE"]).replace("/", "").strip() == ""


@pytest.mark.parametrize(
    "text",
    [
        "Age/Sex: 63/F",
        "DOB/Age: 10/10/1973 / 50",
        "SpO2 93 / F",
        "Pulse 95, Age: 44",
        "stage 90/91",
        "Sex F / weight 92",
        "age 9/12, weight 95 centile",
        "Average: 95",
        "dosage 92 mg",
        "Age group 65 to 90",
    ],
)
def test_other_ages_and_values_in_a_header_stay(text: str):
    assert RULES.analyze(text, ["AGE"]) == []


@pytest.mark.parametrize(
    "example",
    [
        "adm under mr «ong».",
        "ref to dr «wu», opd",
        "d/w ms «li»\n",
        "seen by dr «ng» on round",
        "worse since cousin «jj» drowned",
        "brother «dj» at bedside",
        "mate «tj» drove him",
        "sister «cj» has keys",
        "from «Hobart TAS 7000»",
        "posted to «Bendigo VIC 3550».",
        "lives in «Dubbo, NSW 2830»",
        "ute towed, rego «482 XQB», not his",
        "car rego «1AB 2CD»",
        "rego «XYZ-123» noted",
        "sutures out «8/1».",
        "staples out «14/6», pls",
        "r/v «9/3»",
        "pac review «17/2»",
        "ros «6/5»",
    ],
)
def test_short_names_places_plates_and_days_are_found(example: str):
    assert find_leaked(example, SAFE_HARBOR) == ""


@pytest.mark.parametrize(
    "example",
    [
        "hand lac from cutter at work («northgate pallet co»), happened at 14",
        "i work at «foothill tile» till 4",
        "works nights at «redwood packaging» so sleeps days",
        "job at «ironbark roofing», fell from ladder",
        "23/12 0240 «kurrajong base ed»\ntyson 22m",
        "96 yo, «banksia wing». came back",
        "tx to «wattle ward» 0300",
        "back from «bottlebrush unit» at 2",
        "employed by «sandpiper cleaning» since may",
        "from «mallee district hospital» by road",
        "Loc «Renal Unit 2A»\nRequesting",
        "4. «Lachlan's» repeat semen analysis",
        "2) «Siobhan's» inhaler",
    ],
)
def test_employers_wards_and_names_in_shorthand_are_found(example: str):
    assert find_leaked(example, SAFE_HARBOR) in ("", "'s", "s")


@pytest.mark.parametrize(
    "text",
    [
        "back to work (light duties) monday",
        "i work at home, she works at night",
        "works at a bakery, job at the school",
        "work on balance, works for pain",
        "wound on stump, maple syrup urine",
        "to ward, from ed, off unit",
        "Stroke Unit beds, Renal Unit nurse",
        "the pain there is worse if u press",
        "4. Patient's repeat bloods",
        "2) Women's health",
    ],
)
def test_shorthand_without_names_stays(text: str):
    assert RULES.analyze(text, SAFE_HARBOR) == []


@pytest.mark.parametrize(
    "text",
    [
        "mild mr on echo",
        "mr angio of the brain, mr spine",
        "dr to see, dr on call",
        "ms for ten years, on dmt",
        "cousin has dm and brother is ok",
        "sister ok, mother dm",
        "ml 8/10 pain",
        "drain out 150, urine out 80/h",
        "SA 1200 mL, NT 2000",
        "act 250, vic 3",
        "rego pending",
        "power 4/5, review of systems 9/10 negative",
    ],
)
def test_words_and_values_that_look_like_them_stay(text: str):
    assert RULES.analyze(text, SAFE_HARBOR) == []


@pytest.mark.parametrize(
    "example",
    [
        "she is in her «93rd year» and well",
        "Mrs C is in her «ninety-seventh year»",
        "she'll be «95» in May",
        "he will be «101» next week",
        "a spry «96», walks daily",
        "a frail «92» from hospital",
        "«94 F» from NH",
        "«91 m» with falls",
        "d/c'd «6th», readmit «9th»",
        "admitted «3rd» inst",
        "OP No. «4471/23»",
        "IPD No: «20418»",
        "bill no «0441»",
        "incident form «20713» done",
        "valuables bag «0661» in safe",
        "ref «4412/23»",
    ],
)
def test_ages_days_and_numbers_in_notes_of_many_countries_are_found(example: str):
    assert find_leaked(example, SAFE_HARBOR) == ""


@pytest.mark.parametrize(
    "text",
    [
        "in his 63rd year, in the 93rd percentile",
        "sats will be 95, he will be 60 in spring",
        "a frail 82, a fit 91 kg man",
        "34 F with pain, chills 98",
        "4th metatarsal, readmit 3rd time, op 2nd toe",
        "fill in form 12, form 3",
        "IV bag 1000 mL, bag 2 of 3",
        "OP No. 3, file no 7",
        "ref 4, ref range 3.5 to 5",
        "case no 2 of the series",
    ],
)
def test_other_years_temperatures_and_bags_stay(text: str):
    assert RULES.analyze(text, SAFE_HARBOR) == []
