"""A detection grows over the words that can be nothing but its other parts."""

import pytest

from agent.redaction.spans.growth import grow_spans
from agent.redaction.spans.span import Span


def grow(text: str, *found: tuple[str, str]) -> list[str]:
    spans = [
        Span(text.index(value), text.index(value) + len(value), entity) for entity, value in found
    ]
    return [text[span.start : span.end] for span in grow_spans(spans, text)]


@pytest.mark.parametrize(
    ("text", "entity", "found", "grown"),
    [
        ("missed sat 5/25 bc", "DATE", "5/25", "sat 5/25"),
        ("on Weds 16 Oct, 0730", "DATE", "16 Oct", "Weds 16 Oct"),
        ("doubled mid-January by", "DATE", "January", "mid-January"),
        ("line ext. 60012", "PHONE", "60012", "ext. 60012"),
        ("maeve x 3325, out", "PHONE", "3325", "x 3325"),
        ("no 24/DC/5510 arrived", "ID", "DC/5510", "24/DC/5510"),
        ("hosp no kt 40 17 26, seen", "MRN", "40 17 26", "kt 40 17 26"),
        ("tracking GX 318 440 752", "ENCOUNTER", "318 440 752", "GX 318 440 752"),
        ("exam #TLCB 203 77 expires", "ID", "203 77", "TLCB 203 77"),
        ("hosp no MRN 4017264", "MRN", "4017264", "4017264"),
        ("chart says INR 4017264", "MRN", "4017264", "4017264"),
        ("Bed 1  Adeyemi-Cole, F  78M", "NAME", "Adeyemi-Cole", "Adeyemi-Cole, F"),
        ("Pt AMADI-COLLINS,PRECIOUS  309", "NAME", "AMADI-COLLINS", "AMADI-COLLINS,PRECIOUS"),
        ("Pt  TUHIWAI, Mere A    NHI", "NAME", "TUHIWAI", "TUHIWAI, Mere A"),
        ("HOLLOWAY, Type B aortic", "NAME", "HOLLOWAY", "HOLLOWAY"),
        ("husband (Ibrahim Steps) came", "NAME", "Ibrahim", "Ibrahim Steps"),
        ("outside Coldwater Gap and", "LOCATION", "Coldwater", "Coldwater Gap"),
        ("at casa verde linens and", "NAME", "casa verde", "casa verde linens"),
    ],
)
def test_it_takes_the_rest_of_an_identifier(text: str, entity: str, found: str, grown: str):
    assert grow(text, (entity, found)) == [grown]


@pytest.mark.parametrize(
    ("text", "entity", "found"),
    [
        ("jorge rest and fluids", "NAME", "jorge"),
        ("Boston for the summer", "LOCATION", "Boston"),
        ("seen 5/25 and well", "DATE", "5/25"),
        ("sats 96 4471 later", "ID", "4471"),
    ],
)
def test_it_leaves_the_words_of_the_sentence(text: str, entity: str, found: str):
    assert grow(text, (entity, found)) == [found]


def test_it_never_grows_into_its_neighbour():
    text = "Thursday October 10 Coldwater Gap"
    grown = grow(text, ("DATE", "October 10"), ("LOCATION", "Coldwater"))
    assert grown == ["Thursday October 10", "Coldwater Gap"]
