"""Starts real language-model servers on loopback, offline, with the tiny model, and stops them again."""

import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

ROOT = Path(__file__).parents[2]
_OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
    "CUDA_VISIBLE_DEVICES": "",
}
_START_S = 240.0


class NotInstalledError(Exception):
    """The server is not there; the text says what would bring it."""


def servers_environment() -> Path | None:
    """Return the environment that `make test-servers` made, or None in any other run."""
    named = os.environ.get("INTRAMURAL_TEST_SERVERS")
    return (ROOT / named).absolute() if named else None


class RealServer:
    """A server process; `url` ends in /v1, `model` is its name for the tiny model."""

    name: ClassVar[str]

    def __init__(self, environment: Path, scratch: Path) -> None:
        self.environment = environment
        self.scratch = scratch
        self.folder = scratch / "tiny"
        self.model = "tiny"
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.port = listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self._process: subprocess.Popen[bytes] | None = None

    def command(self) -> list[str]:
        """Return the command that serves; make the model's file first.

        Raises:
            NotInstalledError: it cannot.
        """
        raise NotImplementedError

    def version(self) -> str:
        raise NotImplementedError

    def python(self, *arguments: str) -> str:
        """Run the servers' own Python; return what it prints."""
        return subprocess.run(
            [str(self.environment / "bin/python"), *arguments],
            env={**os.environ, **_OFFLINE},
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    def version_of(self, package: str) -> str | None:
        """Return the installed version of a package, or None."""
        script = f"from importlib.metadata import version; print(version({package!r}))"
        try:
            return f"{package} {self.python('-c', script)}"
        except subprocess.CalledProcessError:
            return None

    def make_model(self, *options: str) -> None:
        self.python(str(Path(__file__).with_name("make_tiny_model.py")), str(self.folder), *options)

    def __enter__(self) -> Self:
        command = self.command()
        log = self.scratch / "server.log"
        with log.open("wb") as out:
            self._process = subprocess.Popen(
                command,
                stdout=out,
                stderr=out,
                cwd=self.scratch,
                env={**os.environ, **_OFFLINE},
                start_new_session=True,
            )
        until = time.monotonic() + _START_S
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > until:
                self._stop()
                raise AssertionError(
                    f"{self.name} did not start:\n{log.read_text('utf-8', 'replace')[-4000:]}"
                )
            time.sleep(0.2)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/models", timeout=5):
                return True
        except urllib.error.HTTPError as error:
            error.close()
            return True  # it serves, though it cannot list its models
        except OSError:
            return False

    def _stop(self) -> None:
        if self._process is not None:
            try:
                os.killpg(self._process.pid, signal.SIGTERM)
                self._process.wait(20)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                self._process.kill()
                self._process.wait(20)


class TransformersServe(RealServer):
    """Hugging Face's own server; always there in the servers' environment."""

    name = "transformers"

    def command(self) -> list[str]:
        self.make_model()
        self.model = str(self.folder)
        serve = [str(self.environment / "bin/transformers"), "serve", self.model]
        return [
            *serve,
            "--host",
            "127.0.0.1",
            "--port",
            str(self.port),
            "--device",
            "cpu",
            "--dtype",
            "float32",
        ]

    def version(self) -> str:
        return self.version_of("transformers") or "of unknown version"


class Vllm(RealServer):
    """vLLM, from the servers' environment or the path."""

    name = "vllm"

    def command(self) -> list[str]:
        inside = self.environment / "bin/vllm"
        found = str(inside) if inside.exists() else shutil.which("vllm")
        if found is None:
            raise NotInstalledError("vLLM is not installed here")
        self.make_model()
        serve = [found, "serve", str(self.folder), "--served-model-name", self.model]
        sizes = [
            "--dtype",
            "float32",
            "--max-model-len",
            "2048",
            "--max-num-seqs",
            "32",
            "--enforce-eager",
        ]
        return [*serve, "--host", "127.0.0.1", "--port", str(self.port), *sizes]

    def version(self) -> str:
        return self.version_of("vllm") or "from the path"


class LlamaCppPython(RealServer):
    """llama.cpp's Python server."""

    name = "llama-cpp-python"

    def command(self) -> list[str]:
        if self.version_of("llama-cpp-python") is None or self.version_of("gguf") is None:
            raise NotInstalledError("llama-cpp-python[server] and gguf are not installed here")
        file = self.scratch / "tiny.gguf"
        self.make_model("--gguf", str(file))
        serve = [
            str(self.environment / "bin/python"),
            "-m",
            "llama_cpp.server",
            "--model",
            str(file),
        ]
        sizes = ["--model_alias", self.model, "--n_ctx", "2048", "--n_threads", "2"]
        return [*serve, "--host", "127.0.0.1", "--port", str(self.port), *sizes]

    def version(self) -> str:
        return self.version_of("llama-cpp-python") or "of unknown version"


class LlamaServer(RealServer):
    """llama.cpp's own server, from the path."""

    name = "llama-server"

    def command(self) -> list[str]:
        found = shutil.which("llama-server")
        if found is None or self.version_of("gguf") is None:
            raise NotInstalledError(
                "llama-server is not on the path, or gguf is not installed here"
            )
        file = self.scratch / "tiny.gguf"
        self.make_model("--gguf", str(file))
        serve = [
            found,
            "--model",
            str(file),
            "--alias",
            self.model,
            "--ctx-size",
            "2048",
            "--threads",
            "2",
        ]
        return [*serve, "--host", "127.0.0.1", "--port", str(self.port)]

    def version(self) -> str:
        return "from the path"


SERVERS = {kind.name: kind for kind in (TransformersServe, Vllm, LlamaCppPython, LlamaServer)}
