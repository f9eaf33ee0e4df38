"""The checks of `intramural doctor` on accounts and on how people sign in to the service."""

from collections.abc import Iterator

from agent.cli.checks import Check, run_check
from agent.cli.output import with_site
from agent.errors import AgentError
from agent.site.directory import Site


def check_access(site: Site) -> Iterator[Check]:
    """Check the accounts, the OpenID provider and the trusted proxy, as far as the site has them."""
    if _count_accounts(site):
        yield run_check("accounts", lambda: _check_accounts(site))
    if site.settings.oidc_issuer is not None:
        yield run_check("OpenID provider", lambda: _check_provider(site))
    if site.settings.trusted_proxy is not None:
        yield run_check("trusted proxy", lambda: _check_trusted_proxy(site))


def _count_accounts(site: Site) -> int:
    try:
        with site.store() as store:
            return len(store.accounts.read_all())
    except AgentError:
        return 0  # the check of the store says what is wrong


def _check_accounts(site: Site) -> Check:
    from agent.access.accounts import has_administrator

    with site.store() as store:
        accounts = store.accounts.read_all()
        is_managed = has_administrator(store)
    if not is_managed:
        return Check(
            "accounts",
            "warning",
            "no administrator can sign in",
            with_site("Add one: `intramural accounts add NAME --role administrator`."),
        )
    locked = sum(account.locked for account in accounts)
    revealing = sum(account.may_reveal and not account.locked for account in accounts)
    return Check(
        "accounts",
        "ok",
        f"{len(accounts)}, of which {locked} locked; {revealing} may see original texts",
    )


def _check_provider(site: Site) -> Check:
    from agent.access.oidc import check_provider, read_oidc_config

    config = read_oidc_config(site.settings)
    keys = 0 if config is None else check_provider(config)
    return Check("OpenID provider", "ok", f"answers; keys for signatures: {keys}")


def _check_trusted_proxy(site: Site) -> Check:
    from agent.access.proxy import read_trusted_proxy

    proxy = read_trusted_proxy(site.settings)
    proof = "its address and a secret" if proxy and proxy.secret else "its address"
    return Check("trusted proxy", "ok", f"recognised by {proof}")
