"""Start a cluster on this machine, or join one that the hospital runs."""

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer
from typing import Any, Final, Literal

from agent.cluster.security import GUIDE, check_encryption, check_token, is_loopback, parse_address
from agent.errors import ConfigError
from agent.io.install_hint import describe_install

OWN: Final = "cluster"
"""In place of an address: a cluster that is started on this machine, and ends with the command."""

_STORE_BYTES: Final = (
    80 * 2**20
)  # of shared memory: close to Ray's minimum, since no text passes through it
_STARTS: Final = 2
_QUIET: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_RECORD_ACTOR_TASK_LOGGING": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
# With usage statistics switched off, the head tells Ray's makers just that, and asks the metadata services of clouds
# where it runs. Nothing listens at this proxy.
NO_CALLS_HOME: Final = {
    "http_proxy": "http://127.0.0.1:9",
    "https_proxy": "http://127.0.0.1:9",
    "no_proxy": "127.0.0.1,localhost",
}
_PROBE: Final = """
import sys
from ray._raylet import GcsClient
GcsClient(address=sys.argv[1]).internal_kv_keys(b"", timeout=5)
print("answered", file=sys.stderr)
"""
_PROBE_S: Final = 30.0
_REFUSED: Final = ("Unauthenticated", "AuthenticationError")


@contextmanager
def open_cluster(on: str, engines: int) -> Iterator[Any]:
    """Connect to a cluster for the `with` block, and yield the module `ray`.

    Args:
        on: `cluster` to start one on this machine, or the address of a head.
        engines: how many processors the started cluster offers; without effect on another one.

    Raises:
        ConfigError: Ray is not installed, or the cluster cannot be started or joined, or is not safe.
    """
    os.environ.update(_QUIET)
    if on == OWN:
        with _start(engines) as ray:
            yield ray
        return
    host, _ = parse_address(on)
    check_token(os.environ, Path.home())
    check_encryption(host, os.environ)
    with _join(on, host) as ray:
        yield ray


@contextmanager
def _start(engines: int) -> Iterator[Any]:
    """Start a cluster with a token of its own. Its session lies in a folder that nobody else can enter."""
    from agent.io.private_umask import private_umask

    # Ray makes the folder that it is given open to all, so it gets one inside. Names of sockets must be short.
    folder = Path(tempfile.mkdtemp(prefix="intramural-"))
    os.environ.update(NO_CALLS_HOME)
    os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))
    try:
        ray = _import_ray()
        with private_umask():
            _init_own(ray, engines, folder)
        try:
            yield ray
        finally:
            ray.shutdown()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _init_own(ray: Any, engines: int, folder: Path) -> None:
    """Start Ray. It gives up after 30 seconds, which a busy machine may need, so it is asked twice.

    Raises:
        ConfigError: it cannot be started.
    """
    for attempt in range(_STARTS):
        try:
            ray.init(
                num_cpus=engines,
                num_gpus=0,
                include_dashboard=False,
                object_store_memory=_STORE_BYTES,
                log_to_driver=False,
                logging_level="ERROR",
                _node_ip_address="127.0.0.1",
                _temp_dir=str(folder / f"ray{attempt}"),
                _system_config={"automatic_object_spilling_enabled": False},
            )
        except Exception as error:  # noqa: BLE001 - Ray raises errors of many classes
            ray.shutdown()  # some of its processes may run
            if attempt + 1 == _STARTS:
                raise ConfigError(
                    f"Ray cannot be started on this machine ({type(error).__name__})",
                    "Check that there is room in the temporary folder and in memory, or use --workers.",
                ) from None
        else:
            return


@contextmanager
def _join(address: str, host: str) -> Iterator[Any]:
    ray = _import_ray()
    if _probe(address, {"RAY_AUTH_MODE": "disabled"}) == "answered":
        raise ConfigError(
            f"the cluster at {address} answers programs that have no token",
            f"Its administrator must start it anew with RAY_AUTH_MODE=token on every node. {GUIDE}",
        )
    if _probe(address, {}) == "refused":
        raise _explain_refused_token(address)
    try:
        ray.init(
            address=address,
            log_to_driver=False,
            logging_level="ERROR",
            **({"_node_ip_address": host} if is_loopback(host) and host != "localhost" else {}),
        )
    except Exception as error:  # noqa: BLE001 - Ray raises errors of many classes
        raise _explain_failed_join(ray, address, error) from None
    try:
        yield ray
    finally:
        with suppress(Exception):
            ray.shutdown()


def _explain_failed_join(ray: Any, address: str, error: Exception) -> ConfigError:
    """Return the error for a cluster that could not be joined. Ray's own words tell of no record."""
    words = str(error)
    if isinstance(error, ray.exceptions.AuthenticationError):
        return _explain_refused_token(address)
    if "ersion mismatch" in words:
        return ConfigError(
            f"the cluster at {address} has another version of Ray or Python",
            "Install Intramural from the same lock on every node and here.",
        )
    if "No node info found" in words:
        return ConfigError(
            f"this machine is not a node of the cluster at {address}",
            f"Make it one that computes nothing: ray start --address={address} --num-cpus=0. {GUIDE}",
        )
    return ConfigError(
        f"the cluster at {address} cannot be joined ({type(error).__name__})",
        f"Check the address, the firewall, the token and the certificates. {GUIDE}",
    )


def _explain_refused_token(address: str) -> ConfigError:
    return ConfigError(
        f"the cluster at {address} refused the token",
        "Ask its administrator for the file with the current token, and name it in RAY_AUTH_TOKEN_PATH.",
    )


def _probe(address: str, changes: Mapping[str, str]) -> Literal["answered", "refused", "silent"]:
    """Ask the head of a cluster for nothing, in a process of its own: Ray itself would repeat its question for long.

    Args:
        address: of the head.
        changes: of the environment; one that switches authentication off also removes the token.
    """
    environment = {**os.environ, **changes}
    if changes:
        for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
            environment.pop(name, None)
    answer: Literal["answered", "refused", "silent"] = "silent"
    with subprocess.Popen(
        [sys.executable, "-P", "-c", _PROBE, address],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    ) as process:
        assert process.stderr is not None
        deadline = Timer(_PROBE_S, process.kill)
        deadline.start()
        for line in process.stderr:
            if line.startswith("answered"):
                answer = "answered"
            elif any(word in line for word in _REFUSED):
                answer = "refused"
            else:
                continue
            break
        deadline.cancel()
        process.kill()
    return answer


def _import_ray() -> Any:
    try:
        import ray
    except ImportError:
        raise ConfigError(
            "--on needs Ray, which is not installed", describe_install("ray")
        ) from None
    return ray
