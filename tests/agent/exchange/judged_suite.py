"""A suite with a jury's seats, and files of an export read back."""

import json
from pathlib import Path
from typing import Any

from agent.vocabulary import Reason
from tests.agent.service.filled_site import FilledSite, case, failed
from tests.agent.service.judged import add_judged, verdict


def read_json(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def add_judged_suite(filled: FilledSite) -> None:
    """Three instances: one with a full jury, one with one seat of three, one that no judge was asked about."""
    add_judged(
        filled,
        [case(0, answer="yes"), case(1), failed(2)],
        {
            0: [[verdict(4.5, "Right.")], ["Hm.", verdict(3, "Nearly.")], ["no", "no"]],
            1: [[verdict(9), verdict(9)], Reason.TIMEOUT, [verdict(1, "Wrong.")]],
        },
    )
