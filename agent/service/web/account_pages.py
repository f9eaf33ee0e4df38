"""The pages of accounts: everybody's for the administrator, and one's own."""

from starlette.responses import Response

from agent.service.web.call import Call
from agent.service.web.service import Desk


def list_accounts(desk: Desk, call: Call) -> Response:
    """Show all accounts with their roles."""
    return desk.draw("accounts.html", call, accounts=desk.store.accounts.read_all())


def show_own(desk: Desk, call: Call) -> Response:
    """Show one's own account with its sessions and API tokens."""
    account_id = call.signed_in.account.account_id
    return desk.draw(
        "account.html",
        call,
        account=call.signed_in.account,
        sessions=[row for row in desk.store.sessions.read_all() if row.account_id == account_id],
        tokens=[row for row in desk.store.api_tokens.read_all() if row.account_id == account_id],
        present=call.signed_in.session,
    )
