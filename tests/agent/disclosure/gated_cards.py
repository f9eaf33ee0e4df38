"""Benchmarks and scorecards that the tests of the gate ask about."""

from dataclasses import replace

from tests.agent.disclosure.ward import (
    CARD,
)

EXAM, WARD, ROUGE = "exam/exact_match", "ward/exact_match", "ward/rouge_l"
ROUGE_CARD = replace(CARD, cells=tuple(cell for cell in CARD.cells if cell.key in {EXAM, ROUGE}))
