"""The two small scripts of the pages, which work without them, too."""

from importlib.resources import files

from starlette.responses import Response

from agent.service.web.call import Call
from agent.service.web.service import Desk


def show_progress_script(desk: Desk, call: Call) -> Response:
    """Answer with the script that updates the progress on the page of a job."""
    del desk, call
    return _read("progress.js")


def show_selection_script(desk: Desk, call: Call) -> Response:
    """Answer with the script that takes selected words over into a field."""
    del desk, call
    return _read("redaction.js")


def _read(name: str) -> Response:
    script = (files("agent.service") / "templates" / name).read_bytes()
    return Response(script, media_type="text/javascript; charset=utf-8")
