"""Dates as Latin America writes them: the month as a word between slashes or hyphens."""

import pytest

from agent.redaction.engine import Engine
from agent.redaction.rules.word_lists import read_words


@pytest.mark.parametrize("separator", ["/", "-"])
@pytest.mark.parametrize("month", [*sorted(read_words("es", "months")), "sept", "set", "ene"])
def test_nothing_is_left_of_a_date_with_any_month_between_day_and_year(
    spanish: Engine, month: str, separator: str
) -> None:
    date = separator.join(["19", month, "2023"])
    redacted = spanish.redact(f"Visto el {date}.")
    assert redacted.startswith(
        "Visto el ["
    )  # the model may take it for an address: its kind is not promised
    assert not {"19", month, "2023"} & set(
        redacted.replace(separator, " ").replace(".", " ").split()
    )
