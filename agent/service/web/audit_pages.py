"""The pages of the audit log: its events, a comparison with kept heads, and results computed again from the store."""

from dataclasses import dataclass
from datetime import UTC, datetime

from starlette.responses import Response

from agent.disclosure.audit_report import (
    check_heads,
    check_log,
    check_results,
    parse_audit_head,
)
from agent.disclosure.record_check import RecordCheck
from agent.service.web.approval_pages import record_event
from agent.service.web.call import Call
from agent.service.web.job_pages import name_accounts
from agent.service.web.service import Desk

_SHOWN = 200


@dataclass(frozen=True, slots=True)
class EventLine:
    """One event as it is shown."""

    number: int
    at: datetime
    event: str
    detail: str


def show_audit(desk: Desk, call: Call) -> Response:
    """Show the newest events, or those before a number, after checking that none was changed, moved or removed."""
    events = desk.read_events()
    before = _read_number(call.get("before"), len(events) + 1)
    shown = [event for event in events if event.number < before][-_SHOWN:]
    lines: list[EventLine] = []
    for event in reversed(shown):
        at = datetime.fromtimestamp(event.at, UTC)
        lines.append(EventLine(event.number, at, event.event, event.detail))
    given = call.get("head").strip()
    head = parse_audit_head(given)
    return desk.draw(
        "audit.html",
        call,
        lines=lines,
        count=len(events),
        head=desk.store.audit.read_head(),
        older=shown[0].number if shown and shown[0].number > 1 else None,
        is_newest=bool(events) and bool(shown) and shown[-1].number == events[-1].number,
        names=name_accounts(desk),
        given=given,
        is_no_head=bool(given) and head is None,
        compared=check_heads(desk.store, [head])[0] if head else None,
    )


def verify(desk: Desk, call: Call) -> Response:
    """Compute every approved result again from the store, and compare it with what was signed."""
    checks: list[RecordCheck] = [check_log(desk.store)]
    checks += check_results(desk.site, desk.store, None, desk.store.clock.today_day())
    differing = sum(check.outcome != "match" for check in checks)
    record_event(desk, call, "results verified", f"checks={len(checks)} differing={differing}")
    return desk.draw("audit_verified.html", call, checks=checks, differing=differing)


def _read_number(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else default
