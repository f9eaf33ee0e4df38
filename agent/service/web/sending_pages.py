"""Send what a steward approved, from the page of the outbox."""

from functools import partial

from starlette.responses import Response

from agent.disclosure.dispatch import list_unsent, send_chosen
from agent.errors import BusyError, DeliveryError
from agent.io.wording import format_count
from agent.service.web.approval_pages import record_event
from agent.service.web.call import Call
from agent.service.web.outbox_pages import list_outbox
from agent.service.web.service import Desk

_NOT_DELIVERED = 502
_BUSY = 503


def send_approved(desk: Desk, call: Call) -> Response:
    """Send everything that is approved, in the order of the chain, and verify the receipts.

    If the aggregator cannot be reached, the page says so and shows what is still waiting: nothing is lost by trying
    again.
    """
    try:
        chosen = list_unsent(desk.site)
        sent = 0
        if chosen:
            audit = partial(record_event, desk, call)
            sent = len(send_chosen(desk.site, chosen, desk.store.clock.today_day(), audit))
    except DeliveryError as error:
        return list_outbox(
            desk,
            call,
            status=_NOT_DELIVERED,
            problem=f"Not everything was sent: {error}. {error.advice}",
        )
    except BusyError as error:
        return list_outbox(desk, call, status=_BUSY, problem=f"{error}. {error.advice}")
    words = f"{format_count(sent, 'statement')} sent and answered." if sent else "Nothing waited."
    return desk.confirm(call, "/outbox", words)
