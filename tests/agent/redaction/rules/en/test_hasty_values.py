"""Numbers, streets, ages and dates in the shapes of hasty notes, between « and », and what looks like them."""

import pytest

from tests.agent.redaction.rules.en.examples import RULES

FOUND = {
    "ID": (
        "chair sn «pm-20-66719» , joystick",
        "crossmatch smp «bb88120-2» hemolyzed",
        "old file no «kt/20817»",
        "our ref «GH/rk/50118-B» here",
        "pod lot «PH1K0822 41» alarming",
        "spec «L2207 9941» taken",
        "pump serial no «ax44712b»",
        "badge no «q7712»",
        "kit «zz-2201-b» opened",
        "sample «hq/22190» lost",
        "ems run «22-10443» unit",
        "health id «zq 7781 220»",
        "device id «kl90021-x»",
    ),
    "ADDRESS": (
        "«2290 County Rd 14» behind",
        "«41 state hwy 9»",
        "«flat 3c, 90 harbour parade»",
        "«apt 2, 14 mill mews»",
        "«90 harbour parade»",
        "«806 1/2 e. main», upstairs",
        "«2208 e. juniper»",
        "on «w 9th & tulip»",
        "at «9th nr alder»",
        "near «n 12th and cedar»",
    ),
    "AGE": (
        "mac aka MacGillivray, «93», delirious",
        "husband Anselmo («94»!) drives",
        "granny Odile who is «94» picked",
        "Tuohy, «97», frail and falls",
        "Mr Brandt («99») on ward",
        "her aunt who's «101» and well",
        "who is «92», lives alone",
        "Szymanski («90»)",
        "neighbour Odile («96»!) called",
        "Haverstock, «103», falls",
    ),
    "DATE": (
        "«8.ix.21» rehab",
        "«27 / 12 / 22» time",
        "fell sat «8.3». on",
        "NIGHT    «06.11».",
        "seen «09.02».",
        "mon «12.5». and",
        "«3 / 4 / 2021» again",
        "«14.iii.2020»",
        "thu «7.12».",
        "«1.xi.19»",
    ),
}
OTHERS = {
    "ID": (
        "no b12 deficiency, no covid19",
        "lot of 20mg tabs, file closed",
        "device c5 to t1 level",
        "ref range 3.5-5.0, sample 2 ml",
        "kit of 4 x 250ml",
        "sample 24h/48h/72h",
        "no h1n1",
        "unit no 2",
        "lot better, badge lost",
        "device in situ 24h",
    ),
    "ADDRESS": (
        "2 county hospitals",
        "1/2 e. coli",
        "flat 3 cm lesion",
        "unit 2 of 4",
        "2 quay",
        "apt to fall, 2 times a day close",
        "3 old roads, 5 old highway",
        "205 e. coli",
        "on 5th and 6th ribs",
        "at 2nd and 3rd digits",
    ),
    "AGE": (
        "Sats, 93, on air",
        "Pulse (94), BP",
        "score, 95, 96",
        "who is 90% sure",
        "Grade (93) x",
        "Room (94)",
        "spo2 94, rr 20",
        "Sat (92)",
        "who is 92% on air",
        "March, 93",
    ),
    "DATE": (
        "Hb 12.10. Plan",
        "ratio 1 / 2 / 3",
        "level 9.3. sat 98.",
        "no 20/20 vision",
        "inr 2.1. next",
        "k 4.10. na",
        "version 8.12.1",
        "i.v. fluids",
        "7 / 10 / 12",
        "tsh 1.12. ok",
    ),
}
# Labels often make an identifier of a more particular kind.
KINDS = {"ID": ["ID", "MRN", "DEVICE", "LICENSE", "ENCOUNTER"]}


def find(text: str, kind: str) -> list[str]:
    results = RULES.analyze(text, KINDS.get(kind, [kind]))
    return [text[result.start : result.end] for result in results]


@pytest.mark.parametrize(
    ("kind", "text"), [(k, text) for k, texts in FOUND.items() for text in texts]
)
def test_an_identifier_is_found(kind: str, text: str):
    value = text.split("«")[1].split("»", maxsplit=1)[0]
    plain = text.replace("«", "").replace("»", "")
    assert any(value in found for found in find(plain, kind))


@pytest.mark.parametrize(
    ("kind", "text"), [(k, text) for k, texts in OTHERS.items() for text in texts]
)
def test_values_stay(kind: str, text: str):
    assert find(text, kind) == []
