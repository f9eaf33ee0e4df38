"""The checks of `intramural doctor` on accounts and on how people sign in to the service."""

from collections.abc import Iterator

from agent.cli.checks import Check, run_check
from agent.errors import AgentError
from agent.site.directory import Site


def check_access(site: Site) -> Iterator[Check]:
    """Check the service's address, accounts, OpenID provider and trusted proxy, as far as the site has them."""
    if _has_service_address(site):
        yield run_check("service", lambda: _check_service(site))
    if _count_accounts(site):
        yield run_check("accounts", lambda: _check_accounts(site))
    if site.settings.oidc_issuer is not None:
        yield run_check("OpenID provider", lambda: _check_provider(site))
    if site.settings.trusted_proxy is not None:
        yield run_check("trusted proxy", lambda: _check_trusted_proxy(site))


def _has_service_address(site: Site) -> bool:
    settings = site.settings
    names = ("service_host", "service_origin", "service_tls_certificate", "service_tls_key")
    return any(name in settings.model_fields_set for name in names)


def _check_service(site: Site) -> Check:
    from agent.service.web.address import check_tls_files, read_address

    address = read_address(site, None)
    check_tls_files(address)
    way = "with its certificate" if address.certificate else "without a certificate of its own"
    origin = address.origin or f"{address.host}:{address.port}"
    return Check("service", "ok", f"opened at {origin}, {way}")


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
            "Add one: `intramural accounts add NAME --role administrator`.",
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
