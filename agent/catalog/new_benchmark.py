"""Create a new benchmark or metric for a site from a working template in `agent/catalog/templates/<kind>/`."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from agent.errors import ConfigError
from agent.own_metrics.declaration import NAME, NAME_RULE

_TEMPLATES = Path(__file__).parent / "templates"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_PLACE = "NEW_BENCHMARK"

KINDS = ("multiple-choice", "yes-no", "free-text", "jury", "json-answer", "chat")
PYTHON_METRIC = "python-metric"
_METRIC_PLACE = "NEW_METRIC"


@dataclass(frozen=True, slots=True)
class NewMetric:
    """The file of a new metric in Python, and its digest."""

    path: Path
    sha256: str


def write_new_metric(name: str, path: Path) -> NewMetric:
    """Write an example of a metric in Python to a new file.

    Raises:
        ConfigError: `name` cannot be a metric's name, or the file already exists or cannot be written.
    """
    if not NAME.fullmatch(name):
        raise ConfigError(f"{name!r} cannot be a metric's name", f"Use {NAME_RULE}.")
    template = _TEMPLATES / PYTHON_METRIC / "metric.py.txt"
    content = template.read_text("utf-8").replace(_METRIC_PLACE, name).encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(content)
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written ({error.strerror})", "Choose another name or file."
        ) from None
    return NewMetric(path, hashlib.sha256(content).hexdigest())


def write_new_benchmark(name: str, kind: str, folder: Path) -> tuple[Path, ...]:
    """Create `folder`, write the template's files into it, and return their paths.

    Raises:
        ConfigError: `name` cannot be a benchmark's id, or `folder` already exists or cannot be written.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"{name!r} cannot be a benchmark's name",
            "Use 1 to 64 letters, digits, dots, dashes or underscores, and begin with a letter or digit.",
        )
    written: list[Path] = []
    try:
        folder.mkdir(parents=True)
        for source in sorted((_TEMPLATES / kind).iterdir()):
            text = source.read_text("utf-8")
            if source.name == "benchmark.yaml":
                text = text.replace(_PLACE, name) + (_TEMPLATES / "common.yaml").read_text("utf-8")
            written.append(folder / source.name)
            written[-1].write_text(text, "utf-8")
    except FileExistsError:
        raise ConfigError(f"{folder} already exists", "Choose another folder with --out.") from None
    except OSError as why:
        raise ConfigError(
            f"{folder} cannot be written ({why.strerror})", "Choose another folder with --out."
        ) from None
    return tuple(written)
