"""The page of the audit log."""

from datetime import UTC, datetime

from starlette.responses import Response

from agent.service.web.call import Call
from agent.service.web.job_pages import name_accounts
from agent.service.web.service import Desk

_SHOWN = 200


def show_audit(desk: Desk, call: Call) -> Response:
    """Show the newest events, after checking that none was changed, moved or removed."""
    events = desk.store.audit.read_events()
    head = desk.store.audit.read_head()
    newest = [
        (event.number, datetime.fromtimestamp(event.at, UTC), event.event, event.detail)
        for event in reversed(events[-_SHOWN:])
    ]
    names = name_accounts(desk)
    return desk.draw("audit.html", call, events=newest, count=len(events), head=head, names=names)
