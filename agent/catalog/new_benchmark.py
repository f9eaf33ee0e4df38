"""A new benchmark of a site's own, from a template that works as it is: `agent/catalog/templates/<kind>/`."""

import re
from pathlib import Path

from agent.errors import ConfigError

_TEMPLATES = Path(__file__).parent / "templates"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_PLACE = "NEW_BENCHMARK"

KINDS = ("multiple-choice", "yes-no", "free-text", "jury", "json-answer", "chat")


def write_new_benchmark(name: str, kind: str, folder: Path) -> tuple[Path, ...]:
    """Write the template's files into `folder`, which is made; return them.

    Raises:
        ConfigError: `name` cannot be a benchmark's id, or `folder` is there already or cannot be written.
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
        raise ConfigError(f"{folder} is there already", "Name another folder with --out.") from None
    except OSError as why:
        raise ConfigError(
            f"{folder} cannot be written ({why.strerror})", "Name another folder with --out."
        ) from None
    return tuple(written)
