"""The checks of `intramural doctor` on the way to servers: certificate authorities, proxies and clocks."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

from agent.catalog.deployments import Deployment
from agent.cli.checks import Check
from agent.errors import ConfigError
from agent.inference.endpoint import Endpoint, describe_address, list_addresses
from agent.inference.limits import HttpLimits
from agent.inference.proxy_check import accepts_connections
from agent.inference.server_clock import read_server_time
from agent.io.tls import load_trust
from agent.site.directory import Site

# Receipts and registries are refused minutes or days apart, and a Date header is up to a second old.
_MAX_CLOCK_DIFFERENCE_S = 60.0


def check_site_network(site: Site) -> Iterator[Check]:
    """Check the certificate authorities and the proxy in site.yaml, if they are set."""
    settings = site.settings
    if settings.ca_bundle is not None:
        yield _check_ca_bundle("ca_bundle", settings.ca_bundle, "ca_bundle in site.yaml")
    if settings.proxy is not None:
        yield _check_proxy("proxy", settings.proxy, "proxy in site.yaml")


def check_deployment_files(subject: str, deployment: Deployment) -> Iterator[Check]:
    """Check the certificate authorities and the proxy that a deployment names itself."""
    place = f"of {deployment.name} in model_deployments.yaml"
    if deployment.ca_bundle is not None:
        yield _check_ca_bundle(f"{subject}, ca_bundle", deployment.ca_bundle, f"ca_bundle {place}")
    if deployment.proxy is not None:
        yield _check_proxy(f"{subject}, proxy", deployment.proxy, f"proxy {place}")


def _check_ca_bundle(subject: str, path: Path, setting: str) -> Check:
    if not path.is_file():
        return Check(
            subject,
            "failed",
            f"{path} does not exist",
            f"Correct {setting}, or put your certificate authority there.",
            ConfigError.exit_code,
        )
    try:
        load_trust(path)
    except ConfigError:
        return Check(
            subject,
            "failed",
            f"{path} is not a readable PEM file of certificate authorities",
            f"Correct {setting}. The file begins with -----BEGIN CERTIFICATE-----.",
            ConfigError.exit_code,
        )
    return Check(subject, "ok", f"{path} contains certificate authorities")


def _check_proxy(subject: str, url: str, setting: str) -> Check:
    address = describe_address(url)
    if not url.startswith(("http://", "https://")):
        return Check(
            subject,
            "failed",
            "not a URL that begins with http:// or https://",
            f"Write http://HOST:PORT as {setting}.",
            ConfigError.exit_code,
        )
    if not accepts_connections(url):
        return Check(
            subject,
            "failed",
            f"{address} does not accept connections",
            f"Start the proxy, or correct {setting}.",
            ConfigError.exit_code,
        )
    return Check(subject, "ok", f"{address} accepts connections")


def check_clock(subject: str, endpoint: Endpoint, limits: HttpLimits) -> Iterator[Check]:
    """Compare this computer's clock with the `Date` of each server's reply, if it has one."""
    for url in list_addresses(endpoint):
        server_time = asyncio.run(read_server_time(endpoint, url, limits))
        if server_time is None:
            continue
        ahead_s = time.time() - server_time
        if abs(ahead_s) <= _MAX_CLOCK_DIFFERENCE_S:
            continue
        direction = "ahead of" if ahead_s > 0 else "behind"
        yield Check(
            f"{subject}, clock",
            "warning",
            f"this computer's clock is {abs(ahead_s):,.0f} s {direction} that of {describe_address(url)}",
            "Set both clocks (NTP). Plans, receipts and registries have dates, and a wrong clock makes them invalid.",
        )
