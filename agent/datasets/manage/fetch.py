"""Downloads a public dataset from its pinned address: only when asked, only there, and only the pinned bytes.

Proxy and certificate authorities come from the settings alone, never from the environment.
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
from urllib.parse import SplitResult, urljoin, urlsplit

from agent.catalog.benchmark import Benchmark
from agent.catalog.data_section import DataFile
from agent.errors import BenchmarkError, ConfigError, DeliveryError
from agent.io.tls import trusted

if TYPE_CHECKING:
    import httpx

_MOST_REDIRECTS = 3
_IDLE_S = 60.0  # seconds without a byte
_OK = 200

Progress = Callable[[str, int, int | None], None]
"""Called with a file's name, the bytes that have come, and how many there will be, if the server says."""


@dataclass(frozen=True)
class Way:
    """How the sources of datasets are reached.

    Attributes:
        proxy: URL of the outgoing proxy; None means none.
        ca_bundle: PEM file; None means the system's certificate authorities.
        connect_timeout_s: seconds to open a connection.
        total_timeout_s: seconds for one file.
        largest: bytes of one file.
    """

    proxy: str | None = None
    ca_bundle: Path | None = None
    connect_timeout_s: float = 10.0
    total_timeout_s: float = 3600.0
    largest: int = 8 * 2**30


def pinned_files(benchmark: Benchmark) -> tuple[DataFile, ...]:
    """Return the files that are fetched, after seeing that each may be and is pinned.

    Raises:
        ConfigError: the benchmark is not public, or a file it needs has no address or no digest.
    """
    by_hand = f"Get the files yourself, then run `intramural datasets add {benchmark.id} PATH`."
    if benchmark.access != "public":
        raise ConfigError(f"{benchmark.id}: its data is {benchmark.access} and is never fetched", by_hand)
    if benchmark.dataset_file is not None or not benchmark.files:
        raise ConfigError(f"{benchmark.id}: its definition names no files to fetch", by_hand)
    files = tuple(file for file in benchmark.files if file.url or not file.optional)
    for file in files:
        if not file.url or not file.sha256:
            lack = "public address" if not file.url else "pinned SHA-256"
            raise ConfigError(f"{benchmark.id}: {file.name} has no {lack}, so it is not fetched", by_hand)
        _checked(urlsplit(file.url), file.name)
    return files


def fetch_files(files: tuple[DataFile, ...], folder: Path, way: Way, progress: Progress) -> None:
    """Download every file into `folder` under its own name; nothing but the pinned bytes is kept.

    Raises:
        ConfigError: the CA bundle cannot be read.
        DeliveryError: a source cannot be reached, refuses, or sends elsewhere.
        BenchmarkError: what came is not the pinned file, or is too large.
    """
    import httpx

    with httpx.Client(
        trust_env=False,
        proxy=way.proxy,
        verify=trusted(way.ca_bundle),
        follow_redirects=False,
        timeout=httpx.Timeout(_IDLE_S, connect=way.connect_timeout_s),
        headers={"User-Agent": "intramural", "Accept-Encoding": "identity"},
    ) as client:
        for file in files:
            target = folder / file.name
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "wb") as out:
                _fetch(client, file, out, way, progress)
                out.flush()
                os.fsync(out.fileno())


def _fetch(client: "httpx.Client", file: DataFile, out: BinaryIO, way: Way, progress: Progress) -> None:
    import httpx

    host = urlsplit(file.url).hostname
    try:
        _download(client, file, out, way, progress)
    except httpx.TimeoutException:
        raise DeliveryError(f"{file.name}: {host} did not answer in time", _ADVICE) from None
    except httpx.ProxyError:
        raise DeliveryError(
            f"{file.name}: the proxy refused the connection to {host}",
            "Check `proxy` in site.yaml, and that the proxy lets this host and port through.",
        ) from None
    except httpx.ConnectError as why:
        if _is_tls(why):
            raise DeliveryError(
                f"{file.name}: the certificate of {host} was not accepted",
                "If a proxy inspects TLS here, name its authority with `ca_bundle` in site.yaml.",
            ) from None
        raise DeliveryError(f"{file.name}: {host} could not be reached", _ADVICE) from None
    except httpx.HTTPError as why:
        # Its message may quote what the server sent, so only its kind is told.
        raise DeliveryError(f"{file.name}: the connection to {host} broke ({type(why).__name__})", _ADVICE) from None


_ADVICE = "Nothing was added. Try again later, or get the file yourself and use `intramural datasets add`."


def _download(client: "httpx.Client", file: DataFile, out: BinaryIO, way: Way, progress: Progress) -> None:
    end = time.monotonic() + way.total_timeout_s
    url = file.url
    for _ in range(_MOST_REDIRECTS + 1):
        with client.stream("GET", url) as response:
            if response.is_redirect:
                url = _same_host(urljoin(url, response.headers.get("Location", "")), file)
                continue
            if response.status_code != _OK:
                raise DeliveryError(f"{file.name}: its source answered with status {response.status_code}", _ADVICE)
            _keep(response, file, out, way, progress, end)
            return
    raise DeliveryError(f"{file.name}: its source redirects more than {_MOST_REDIRECTS} times", _ADVICE)


def _keep(response: "httpx.Response", file: DataFile, out: BinaryIO, way: Way, progress: Progress, end: float) -> None:
    length = response.headers.get("Content-Length", "")
    total = int(length) if length.isascii() and length.isdigit() else None
    digest, count = hashlib.sha256(), 0
    for chunk in response.iter_raw():
        count += len(chunk)
        if count > way.largest or (total or 0) > way.largest:
            raise BenchmarkError(f"{file.name}: is larger than {way.largest} bytes", "Nothing was added.")
        if time.monotonic() > end:
            raise DeliveryError(f"{file.name}: took longer than {way.total_timeout_s:g} seconds", _ADVICE)
        digest.update(chunk)
        out.write(chunk)
        progress(file.name, count, total)
    if digest.hexdigest() != file.sha256:
        raise BenchmarkError(
            f"{file.name}: what came is not the pinned file ({count} bytes, SHA-256 {digest.hexdigest()[:16]}...)",
            "Nothing was added. Its source has changed, or a proxy answered in its place.",
        )


def _same_host(url: str, file: DataFile) -> str:
    pinned, there = urlsplit(file.url), urlsplit(url)
    if (there.scheme, there.netloc) != (pinned.scheme, pinned.netloc):
        raise DeliveryError(
            f"{file.name}: its source sends to another host, which is never followed",
            "Get the file yourself, then run `intramural datasets add`; or a proxy or login page is in between.",
        )
    return url


def _checked(parts: SplitResult, name: str) -> None:
    plain = parts.scheme == "http" and _is_loopback(parts.hostname or "")
    if (parts.scheme != "https" and not plain) or not parts.hostname or parts.username or parts.password:
        raise ConfigError(f"{name}: is fetched by https alone, and its definition gives another address")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_tls(error: BaseException) -> bool:
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return isinstance(error, ssl.SSLError)
