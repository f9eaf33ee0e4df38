"""Download public datasets, only on request, only from their pinned addresses, and only with the pinned digests.

The proxy and the certificate authorities come from the settings, never from the environment.
"""

import hashlib
import ipaddress
import os
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import urljoin, urlsplit

from agent.catalog.benchmark import Benchmark
from agent.catalog.data_section import DataFile
from agent.errors import BenchmarkError, ConfigError, DeliveryError
from agent.io.outgoing_faults import explain_certificate, explain_proxy, find_certificate_error
from agent.io.tls import load_trust

if TYPE_CHECKING:
    import httpx

_MAX_REDIRECTS = 3
_IDLE_S = 60.0  # timeout in seconds while no data arrives
_OK = 200
_ADVICE = "Nothing was added. Try again later, or get the file yourself and use `intramural datasets add`."

Progress = Callable[[str, int, int | None], None]
"""A function called with a file's name, the number of bytes received, and its size if the server reports it."""


@dataclass(frozen=True)
class FetchSettings:
    """Network settings and limits for downloading datasets.

    Attributes:
        proxy: the URL of the outgoing proxy, or None for a direct connection.
        ca_bundle: a PEM file, or None for the system's certificate authorities.
        connect_timeout_s: the maximum time to open a connection, in seconds.
        total_timeout_s: the maximum time to download one file, in seconds.
        largest: the maximum size of one file, in bytes.
    """

    proxy: str | None = None
    ca_bundle: Path | None = None
    connect_timeout_s: float = 10.0
    total_timeout_s: float = 3600.0
    largest: int = 8 * 2**30


def select_pinned_files(benchmark: Benchmark) -> tuple[DataFile, ...]:
    """Return the files to download, all of which are public and pinned.

    Raises:
        ConfigError: the benchmark is not public, or a required file lacks an address or digest.
    """
    by_hand = (
        f"Download the files yourself, then run `intramural datasets add {benchmark.id} PATH`."
    )
    if benchmark.access != "public":
        raise ConfigError(
            f"{benchmark.id}: its data is {benchmark.access} and is never fetched", by_hand
        )
    if benchmark.dataset_file is not None or not benchmark.files:
        raise ConfigError(f"{benchmark.id}: its definition names no files to fetch", by_hand)
    files = tuple(file for file in benchmark.files if file.url or not file.optional)
    for file in files:
        if not file.url or not file.sha256:
            lack = "public address" if not file.url else "pinned SHA-256"
            raise ConfigError(
                f"{benchmark.id}: {file.name} lacks a {lack}, so it cannot be fetched", by_hand
            )
        _check_address(file)
    return files


def fetch_files(
    files: tuple[DataFile, ...], folder: Path, settings: FetchSettings, progress: Progress
) -> None:
    """Download every file into `folder` under its own name, and check it against its pinned digest.

    Raises:
        ConfigError: the CA bundle cannot be read.
        DeliveryError: a server cannot be reached, refuses the request or redirects to another host.
        BenchmarkError: a file does not have the pinned digest, or is too large.
    """
    import httpx

    with httpx.Client(
        trust_env=False,
        proxy=settings.proxy,
        verify=load_trust(settings.ca_bundle),
        follow_redirects=False,
        timeout=httpx.Timeout(_IDLE_S, connect=settings.connect_timeout_s),
        headers={"User-Agent": "intramural", "Accept-Encoding": "identity"},
    ) as client:
        for file in files:
            target = folder / file.name
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "wb") as out:
                _Download(file, out, settings, progress).run(client)
                out.flush()
                os.fsync(out.fileno())


@dataclass(slots=True)
class _Download:
    """The download of one file."""

    file: DataFile
    out: BinaryIO
    settings: FetchSettings
    progress: Progress

    def run(self, client: "httpx.Client") -> None:
        """Download the file, and report network errors by their type.

        Raises:
            DeliveryError, BenchmarkError: see `fetch_files`.
        """
        import httpx

        name = self.file.name
        host = urlsplit(self.file.url).hostname
        try:
            self._follow(client)
        except httpx.TimeoutException:
            raise DeliveryError(f"{name}: {host} did not answer in time", _ADVICE) from None
        except httpx.ProxyError as why:
            proxy = explain_proxy(why, self.settings.proxy, "this host and port")
            raise DeliveryError(
                f"{name}: {host} could not be reached: the proxy {proxy.problem}", proxy.advice
            ) from None
        except httpx.ConnectError as why:
            refused = find_certificate_error(why)
            if refused is not None:
                certificate = explain_certificate(refused)
                raise DeliveryError(
                    f"{name}: the certificate of {host} was not accepted: {certificate.problem}",
                    certificate.advice,
                ) from None
            if _is_tls(why):
                raise DeliveryError(
                    f"{name}: no secure connection to {host} could be negotiated", _ADVICE
                ) from None
            raise DeliveryError(f"{name}: {host} could not be reached", _ADVICE) from None
        except httpx.HTTPError as why:
            # The message may quote the server's reply, so only the type of the error is reported.
            raise DeliveryError(
                f"{name}: the connection to {host} broke ({type(why).__name__})", _ADVICE
            ) from None

    def _follow(self, client: "httpx.Client") -> None:
        """Request the file, and follow redirects that stay on its host."""
        name = self.file.name
        deadline = time.monotonic() + self.settings.total_timeout_s
        url = self.file.url
        for _ in range(_MAX_REDIRECTS + 1):
            with client.stream("GET", url) as response:
                if response.is_redirect:
                    url = self._resolve_redirect(urljoin(url, response.headers.get("Location", "")))
                    continue
                if response.status_code != _OK:
                    raise DeliveryError(
                        f"{name}: the server responded with status {response.status_code}", _ADVICE
                    )
                self._save(response, deadline)
                return
        raise DeliveryError(
            f"{name}: the server redirected more than {_MAX_REDIRECTS} times", _ADVICE
        )

    def _resolve_redirect(self, url: str) -> str:
        pinned = urlsplit(self.file.url)
        target = urlsplit(url)
        if (target.scheme, target.netloc) != (pinned.scheme, pinned.netloc):
            raise DeliveryError(
                f"{self.file.name}: the server redirects to another host, and such redirects are never followed",
                "Check whether a proxy or login page intercepts the request. Otherwise download the file yourself, "
                "then run `intramural datasets add`.",
            )
        return url

    def _save(self, response: "httpx.Response", deadline: float) -> None:
        """Write the received bytes, and compare them with the pinned digest."""
        name = self.file.name
        largest = self.settings.largest
        size = _read_size(response)
        digest = hashlib.sha256()
        count = 0
        for chunk in response.iter_raw():
            count += len(chunk)
            if count > largest or (size or 0) > largest:
                raise BenchmarkError(
                    f"{name}: is larger than {largest} bytes", "Nothing was added."
                )
            if time.monotonic() > deadline:
                raise DeliveryError(
                    f"{name}: took longer than {self.settings.total_timeout_s:g} seconds", _ADVICE
                )
            digest.update(chunk)
            self.out.write(chunk)
            self.progress(name, count, size)
        if digest.hexdigest() != self.file.sha256:
            raise BenchmarkError(
                f"{name}: the received data is not the pinned file ({count} bytes, SHA-256 "
                f"{digest.hexdigest()[:16]}...)",
                "Nothing was added. Either the published file has changed, or a proxy sent something else.",
            )


def _read_size(response: "httpx.Response") -> int | None:
    """Return the file's size, or None if the server does not report it."""
    length = response.headers.get("Content-Length", "")
    return int(length) if length.isascii() and length.isdigit() else None


def _check_address(file: DataFile) -> None:
    url = urlsplit(file.url)
    is_local = url.scheme == "http" and _is_loopback(url.hostname or "")
    if (url.scheme != "https" and not is_local) or not url.hostname or url.username or url.password:
        raise ConfigError(
            f"{file.name}: files are only fetched over https, but the address in the definition does not begin with https://"
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_tls(error: BaseException) -> bool:
    # httpx wraps the socket error several times.
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return isinstance(error, ssl.SSLError)
