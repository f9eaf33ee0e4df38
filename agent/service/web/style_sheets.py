"""The style sheets and the icon of the service, which anybody may read: the page for signing in needs them."""

from importlib.resources import files

from starlette.responses import Response

from agent.service.web.call import Call
from agent.service.web.service import Desk

_CSS = "text/css; charset=utf-8"
# A browser may keep these for an hour: they hold nothing about the site.
_KEPT = {"Cache-Control": "public, max-age=3600"}


def show_style(desk: Desk, call: Call) -> Response:
    """Answer with the style sheet of all pages."""
    del call
    return Response(desk.service.renderer.stylesheet(), headers=_KEPT, media_type=_CSS)


def show_service_style(desk: Desk, call: Call) -> Response:
    """Answer with the style sheet of the pages that only the service has."""
    del desk, call
    sheet = (files("agent.service") / "templates" / "service.css").read_bytes()
    return Response(sheet, headers=_KEPT, media_type=_CSS)


def show_icon(desk: Desk, call: Call) -> Response:
    """Answer with the icon that browsers ask for by themselves, at an address of their choice."""
    del desk, call
    icon = (files("agent.service") / "templates" / "favicon.ico").read_bytes()
    return Response(icon, headers=_KEPT, media_type="image/x-icon")


def show_drawn_icon(desk: Desk, call: Call) -> Response:
    """Answer with the icon as a drawing, which stays sharp in every size."""
    del desk, call
    drawing = (files("agent.service") / "templates" / "icon.svg").read_bytes()
    return Response(drawing, headers=_KEPT, media_type="image/svg+xml")
