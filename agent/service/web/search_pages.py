"""Search the redacted texts of a run. The words come as a form, because addresses are kept in histories and logs."""

import time
from typing import Final

from starlette.responses import Response

from agent.errors import ConfigError
from agent.exchange.shown_names import ShownNames
from agent.service.instance_views import ALL, search_instances
from agent.service.web.call import Call
from agent.service.web.numbers import read_whole_number
from agent.service.web.run_pages import find_run
from agent.service.web.service import Desk

_WITHIN_S: Final = 4.0
_MOST_CHARACTERS: Final = 200
_MOST_INSTANCES: Final = 10**9


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
