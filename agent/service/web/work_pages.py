"""The page of slow work, which waits for its outcome; see `slow_work`."""

from starlette.responses import Response

from agent.service.web.call import Call
from agent.service.web.refusals import NoPageError
from agent.service.web.service import Desk


def show_work(desk: Desk, call: Call) -> Response:
    """Show the outcome of slow work or, while it goes on, that it does."""
    session = call.signed_in.session
    slow_work = desk.service.slow_work
    work = None if session is None else slow_work.find(call.path["work_id"], session.session_id)
    if work is None:
        raise NoPageError(
            "This task is not known any more: its outcome was shown, or it ended more than ten minutes ago."
        )
    response = slow_work.fetch(work)
    if response is not None:
        return response
    return desk.draw("work.html", call, seconds=f"{slow_work.measure(work):.0f}")
