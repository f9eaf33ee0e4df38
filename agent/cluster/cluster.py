"""Start a cluster on this machine, or join one that the hospital runs."""

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from agent.cluster.security import GUIDE, check_encryption, check_token, is_loopback, parse_address
from agent.errors import ConfigError
from agent.io.install_hint import describe_install

OWN: Final = "cluster"
"""In place of an address: a cluster that is started on this machine, and ends with the command."""

_STORE_BYTES: Final = (
    80 * 2**20
)  # of shared memory: close to Ray's minimum, since no text passes through it
_QUIET: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_RECORD_ACTOR_TASK_LOGGING": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
_PROBE: Final = """
import sys
from ray._raylet import GcsClient
try:
    GcsClient(address=sys.argv[1]).internal_kv_keys(b"", timeout=5)
except Exception:
    sys.exit(1)
"""
_PROBE_S: Final = 60.0


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
    os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))
    try:
        ray = _import_ray()
        with private_umask():
            try:
                ray.init(
                    num_cpus=engines,
                    num_gpus=0,
                    include_dashboard=False,
                    object_store_memory=_STORE_BYTES,
                    log_to_driver=False,
                    logging_level="ERROR",
                    _node_ip_address="127.0.0.1",
                    _temp_dir=str(folder / "ray"),
                    _system_config={"automatic_object_spilling_enabled": False},
                )
            except Exception as error:  # noqa: BLE001 - Ray raises errors of many classes
                raise ConfigError(
                    f"Ray cannot be started on this machine ({type(error).__name__})",
                    "Check that there is room in the temporary folder and in memory, or use --workers.",
                ) from None
        try:
            yield ray
        finally:
            ray.shutdown()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _join(address: str, host: str) -> Iterator[Any]:
    ray = _import_ray()
    if _answers_without_token(address):
        raise ConfigError(
            f"the cluster at {address} answers programs that have no token",
            f"Its administrator must start it anew with RAY_AUTH_MODE=token on every node. {GUIDE}",
        )
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
    if isinstance(error, ray.exceptions.AuthenticationError) or "auth" in words.lower():
        return ConfigError(
            f"the cluster at {address} refused the token",
            "Ask its administrator for the file with the current token, and name it in RAY_AUTH_TOKEN_PATH.",
        )
    if "ersion mismatch" in words:
        return ConfigError(
            f"the cluster at {address} has another version of Ray or Python",
            "Install Intramural from the same lock on every node and here.",
        )
    if "No node info found" in words or "node" in words.lower():
        return ConfigError(
            f"this machine is not a node of the cluster at {address}",
            f"Make it one that computes nothing: ray start --address={address} --num-cpus=0. {GUIDE}",
        )
    return ConfigError(
        f"the cluster at {address} cannot be joined ({type(error).__name__})",
        f"Check the address, the firewall, the token and the certificates. {GUIDE}",
    )


def _answers_without_token(address: str) -> bool:
    """Return whether the head of a cluster answers a program that has no token."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH")
    }
    with suppress(subprocess.TimeoutExpired):
        done = subprocess.run(
            [sys.executable, "-P", "-c", _PROBE, address],
            env={**environment, "RAY_AUTH_MODE": "disabled"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_PROBE_S,
            check=False,
        )
        return done.returncode == 0
    return False


def _import_ray() -> Any:
    try:
        import ray
    except ImportError:
        raise ConfigError(
            "--on needs Ray, which is not installed", describe_install("ray")
        ) from None
    return ray
