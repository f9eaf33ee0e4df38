"""The page of schedules: command lines that are queued again and again."""

import time
from dataclasses import dataclass

from starlette.responses import Response

from agent.access.roles import Action
from agent.errors import ConfigError
from agent.jobs.cron import describe_times, find_next_time
from agent.service.web.call import Call
from agent.service.web.job_pages import check_may_queue, find_readable_job, name_accounts
from agent.service.web.queueing import schedule_for_caller
from agent.service.web.service import Desk
from agent.service.web.shown_jobs import veil_schedule
from agent.store import Schedule

SCHEDULES = "/jobs/schedules"
SCHEDULE_ADDED = "The schedule is added."


@dataclass(frozen=True, slots=True)
class ScheduleLine:
    """One schedule as it is shown.

    Attributes:
        schedule: the schedule.
        times: its times in words.
        next_at: its next time, in seconds since 1970.
        can_end: whether the caller may end it.
    """

    schedule: Schedule
    times: str
    next_at: float
    can_end: bool


def list_schedules(desk: Desk, call: Call) -> Response:
    """Show all schedules with their next times."""
    caller = call.signed_in
    now = time.time()
    lines: list[ScheduleLine] = []
    for schedule in desk.store.jobs.list_schedules():
        can_end = caller.may(Action.CHANGE_JOBS, schedule.command.account)
        next_at = find_next_time(schedule.cron, now)
        times = describe_times(schedule.cron)
        lines.append(ScheduleLine(veil_schedule(desk, schedule), times, next_at, can_end))
    return desk.draw(
        "schedules.html",
        call,
        lines=lines,
        names=name_accounts(desk),
        can_queue=caller.can_enter(Action.QUEUE_JOBS),
    )


def repeat_job(desk: Desk, call: Call) -> Response:
    """Have the command line of a job queued again and again, in the name of who asks."""
    job = find_readable_job(desk, call.path["job_id"])
    check_may_queue(call)
    schedule_for_caller(desk, call, call.require("cron", "The time"), job.arguments, job.title)
    return desk.confirm(call, SCHEDULES, SCHEDULE_ADDED)


def end_schedule(desk: Desk, call: Call) -> Response:
    """End a schedule. Its jobs stay."""
    schedule_id = call.path["schedule_id"]
    if not desk.store.jobs.remove_schedule(schedule_id):
        raise ConfigError("there is no such schedule", "It may have been ended already.")
    account = call.signed_in.account.account_id
    desk.store.audit.record("schedule ended", f"schedule={schedule_id} account={account}")
    return desk.confirm(call, SCHEDULES, "The schedule is ended. Jobs that it queued stay.")


def find_owner(desk: Desk, call: Call) -> str | None:
    """Return the account that made the schedule of a route."""
    for schedule in desk.store.jobs.list_schedules():
        if schedule.schedule_id == call.path["schedule_id"]:
            return schedule.command.account
    return None
