"""The pages about the site itself: its health, and its settings."""

import time
from typing import Final

from starlette.responses import Response

from agent.access.roles import Action
from agent.errors import AgentError
from agent.io.disk_room import find_room, is_nearly_full
from agent.io.wording import format_count, format_size
from agent.service.web.call import Call
from agent.service.web.model_lines import describe_age, list_file_faults
from agent.service.web.service import Desk
from agent.service.web.setting_words import group_settings
from agent.site.change_settings import change_setting, read_given
from agent.site.settings import read_settings

HEALTH: Final = "/health"
SETTINGS: Final = "/settings"


def show_health(desk: Desk, call: Call) -> Response:
    """Show what can be seen at once, and the newest outcome of all checks."""
    checks = desk.service.health
    report = checks.report
    began_at = checks.began_at
    room = find_room(desk.site.directory)
    jobs = desk.store.jobs.list_open()
    return desk.draw(
        "health.html",
        call,
        disk=f"{format_size(room.free)} of {format_size(room.total)} are free",
        is_nearly_full=is_nearly_full(room),
        store_size=format_size(_measure_store(desk)),
        queue=f"{format_count(len(jobs), 'job')} running or waiting" if jobs else "empty",
        report=report,
        age="" if report is None else describe_age(time.time() - report.checked_at),
        going_on=None if began_at is None else f"{time.time() - began_at:.0f}",
        can_change=call.signed_in.can_enter(Action.CHANGE_SETTINGS),
    )


def check_health(desk: Desk, call: Call) -> Response:
    """Begin all checks of `intramural doctor`."""
    desk.store.audit.record("health checked", "", by=call.signed_in.account.account_id)
    desk.service.health.begin()
    return desk.confirm(call, HEALTH, "The checks are under way.")


def show_settings(desk: Desk, call: Call) -> Response:
    """Show all settings."""
    return _draw_settings(desk, call)


def change(desk: Desk, call: Call) -> Response:
    """Change one setting in site.yaml."""
    name, text = call.get("name"), call.get("value")
    try:
        with desk.service.changing.begin("site.yaml"):
            change_setting(desk.site.directory / "site.yaml", name, text)
            account = call.signed_in.account.account_id
            desk.store.audit.record(
                "setting changed", f"setting={name} value={text.strip() or 'default'}", by=account
            )
    except AgentError as error:
        faults = " ".join(list_file_faults(desk, error))
        return _draw_settings(desk, call, 400, f"{faults}. {error.advice}", name)
    desk.service.reload()
    words = f"{name} is changed to {text.strip()}." if text.strip() else f"{name} has its default."
    return desk.confirm(call, f"{SETTINGS}#{name}", words)


def _draw_settings(
    desk: Desk, call: Call, status: int = 200, problem: str = "", wrong: str = ""
) -> Response:
    path = desk.site.directory / "site.yaml"
    return desk.draw(
        "settings.html",
        call,
        status,
        groups=list(group_settings(read_settings(path), read_given(path))),
        problem=problem,
        wrong=wrong,
        entered=call.get("value"),
    )


def _measure_store(desk: Desk) -> int:
    folder = desk.site.directory / "store"
    return sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
