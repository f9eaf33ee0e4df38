"""Two engines on the same texts: McNemar's exact test against published and independent values."""

import pytest
from statsmodels.stats.contingency_tables import mcnemar

from agent.redaction.measuring.comparison import EngineComparison, compare_clean_texts
from agent.redaction.measuring.measures import ComparedText, compare_text


def read(*, clean: bool) -> ComparedText:
    return compare_text("Anna", [(0, 4, "NAME")], [(0, 4, "NAME")] if clean else [])


def compare(both: int, only_a: int, only_b: int, neither: int) -> EngineComparison:
    pairs = (
        [(True, True)] * both
        + [(True, False)] * only_a
        + [(False, True)] * only_b
        + [(False, False)] * neither
    )
    return compare_clean_texts([read(clean=a) for a, _ in pairs], [read(clean=b) for _, b in pairs])


def test_the_exact_test_is_that_of_a_published_table():
    # Bentur et al. in Fagerland, Lydersen and Laake 2013, table 1: airway hyper-responsiveness of 21 children. Their
    # exact conditional p is 0.070.
    compared = compare(both=1, only_a=1, only_b=7, neither=12)
    assert (compared.both, compared.only_a, compared.only_b, compared.neither) == (1, 1, 7, 12)
    assert round(compared.p or 0, 4) == 0.0703
    assert round(compared.difference or 0, 3) == -0.286
    assert compared.low is not None
    assert compared.high is not None
    assert compared.low < -0.286 < compared.high


@pytest.mark.parametrize(
    ("both", "only_a", "only_b", "neither"),
    [(10, 0, 0, 2), (0, 3, 0, 0), (40, 2, 11, 5), (5, 25, 9, 1), (90, 4, 4, 2)],
)
def test_the_exact_test_is_that_of_statsmodels(both: int, only_a: int, only_b: int, neither: int):
    compared = compare(both, only_a, only_b, neither)
    table = [[both, only_a], [only_b, neither]]
    assert compared.p == pytest.approx(mcnemar(table, exact=True).pvalue)
    assert compared.texts == both + only_a + only_b + neither


def test_texts_without_identifiers_are_not_compared():
    harmless = compare_text("gout", [], [(0, 4, "NAME")])
    compared = compare_clean_texts([harmless, read(clean=True)], [harmless, read(clean=False)])
    assert (compared.texts, compared.only_a, compared.p) == (1, 1, 1.0)
    assert compare_clean_texts([harmless], [harmless]).p is None
