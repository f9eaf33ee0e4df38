"""Search the redacted texts of a run, and list its instances by score.

The words come as a form, because addresses are kept in histories and logs; bounds of scores tell nothing about a text.
"""

import re
import time
from typing import Final

from starlette.responses import Response

from agent.errors import ConfigError
from agent.exchange.shown_names import ShownNames
from agent.service.instance_lists import ScoreRange
from agent.service.instance_views import ALL, search_instances
from agent.service.web.call import Call
from agent.service.web.numbers import read_whole_number
from agent.service.web.run_pages import find_run
from agent.service.web.service import Desk, redirect

_WITHIN_S: Final = 4.0
_MOST_CHARACTERS: Final = 200
_MOST_INSTANCES: Final = 10**9
_NUMBER: Final = re.compile(r"-?\d{1,9}(\.\d{1,6})?", re.ASCII)


def list_by_score(desk: Desk, call: Call) -> Response:
    """Lead to the list of a run's instances whose scores are in a range; bounds that are left out do not limit."""
    run = find_run(desk, call)
    chosen = ScoreRange(
        _read_bound(call, "min", "the lowest score"), _read_bound(call, "max", "the highest score")
    )
    if chosen.low is not None and chosen.high is not None and chosen.low > chosen.high:
        raise ConfigError(
            "the lowest score is above the highest one", "Go back and exchange the two."
        )
    return redirect(f"/results/runs/{run.run_id}/{chosen.stem}-1.html")


def _read_bound(call: Call, name: str, label: str) -> float | None:
    text = call.get(name).strip().replace(",", ".")
    if not text:
        return None
    if not _NUMBER.fullmatch(text):
        raise ConfigError(f"{label} must be a number, such as 0.5", "Go back and correct it.")
    return float(text)


def search(desk: Desk, call: Call) -> Response:
    """Show the instances in whose redacted texts the words stand, as far as a few seconds suffice."""
    run = find_run(desk, call)
    words = call.require("words", "What to search for")
    if len(words) > _MOST_CHARACTERS:
        raise ConfigError(
            f"more than {_MOST_CHARACTERS} characters cannot be searched for", "Choose fewer words."
        )
    start = read_whole_number(call.get("start", "0"), "the beginning", 0, _MOST_INSTANCES)
    until = time.monotonic() + _WITHIN_S
    view = search_instances(
        desk.store,
        run,
        words,
        call.get("list", ALL),
        start,
        desk.service.texts.open_clearer(),
        ShownNames(desk.store, reveal=True),
        lambda: time.monotonic() < until,
    )
    if view is None:
        raise ConfigError("there is no such list of instances", "Go back to the run's instances.")
    return desk.draw("search.html", call, view=view, words=words, here=f"/search/{run.run_id}")
