"""Send what a steward approved, from the page of the outbox."""

from functools import partial

from starlette.responses import Response

from agent.disclosure.dispatch import list_unsent, send_chosen
from agent.errors import BusyError, DeliveryError
from agent.service.web.approval_pages import record_event
from agent.service.web.call import Call
from agent.service.web.outbox_pages import list_outbox
from agent.service.web.service import Desk, redirect

_NOT_DELIVERED = 502
_BUSY = 503


def send_approved(desk: Desk, call: Call) -> Response:
    """Send everything that is approved, in the order of the chain, and verify the receipts.

    If the aggregator cannot be reached, the page says so and shows what is still waiting: nothing is lost by trying
    again.
    """
    try:
        chosen = list_unsent(desk.site)
        if chosen:
            send_chosen(
                desk.site, chosen, desk.store.clock.today_day(), partial(record_event, desk, call)
            )
    except DeliveryError as error:
        return list_outbox(
            desk,
            call,
            status=_NOT_DELIVERED,
            problem=f"Not everything was sent: {error}. {error.advice}",
        )
    except BusyError as error:
        return list_outbox(desk, call, status=_BUSY, problem=f"{error}. {error.advice}")
    return redirect("/outbox")
