"""Dates as Latin America writes them: the month as a word between slashes or hyphens."""

import pytest

from agent.redaction.engine import Engine
from agent.redaction.rules.word_lists import read_words


@pytest.mark.parametrize("separator", ["/", "-"])
@pytest.mark.parametrize("month", [*sorted(read_words("es", "months")), "sept", "set", "ene"])
def test_every_month_between_a_day_and_a_year_is_a_date(spanish: Engine, month: str, separator: str) -> None:
    date = separator.join(["19", month, "2023"])
    assert spanish.redact(f"Visto el {date}.") == "Visto el [DATE-1]."
