"""Read lists of judges, from a separate file or a benchmark's definition."""

from dataclasses import dataclass
from pathlib import Path

from agent.errors import ConfigError
from agent.io.wording import format_count
from agent.io.yaml_map import YamlMap, read_yaml
from agent.metrics import Judge

_MAX_SEATS = 99
# Servers read a seed as 32 or 64 bits, with or without a sign. This range means the same to all of them; llama.cpp
# takes -1 and 4,294,967,295 for "any seed".
_MAX_SEED = 2**31 - 1
MAX_TEMPERATURE = 2.0  # servers refuse higher ones


@dataclass(frozen=True, slots=True)
class Jury:
    """The seats of a jury. `quorum` is the number that must give a valid verdict; if None, more than half."""

    judges: tuple[Judge, ...]
    quorum: int | None = None


def read_jury(path: Path) -> Jury:
    """Read MedHELM's judges.yaml: `judges` with `name`, `model` and `model_deployment`.

    Our own keys are `quorum`, and `seed` and `temperature` of a judge. Judges may also have the keys used in
    definitions, `name` (the deployment) and `model_name`. Two judges with the same deployment are two seats.

    Raises:
        ConfigError: the file has problems, all of which are listed by key.
    """
    section = read_yaml(path, ConfigError)
    judges = read_judges(section)
    if not judges and not section.problems:
        section.note(
            "judges", "expected a list of judges, each with `name`, `model` and `model_deployment`"
        )
    quorum = read_quorum(section, judges)
    section.finish()
    if section.problems:
        raise ConfigError(
            f"{path}: " + "; ".join(section.problems),
            "Correct this file; no judge was asked.",
        )
    return Jury(judges, quorum)


def read_judges(section: YamlMap) -> tuple[Judge, ...]:
    """Read the optional key `judges`, with MedHELM's keys or with those used in definitions."""
    judges: list[Judge] = []
    for inner in section.maps("judges"):
        seed = inner.integer("seed", None, low=0, high=_MAX_SEED)
        temperature = inner.number("temperature", 0.0, low=0, high=MAX_TEMPERATURE)
        if inner.has("model_deployment"):
            judges.append(
                Judge(
                    inner.name("model_deployment"),
                    _read_model(inner),
                    inner.name("name", ""),
                    seed=seed,
                    temperature=temperature,
                )
            )
        elif inner.has("model"):
            inner.note(
                "model_deployment",
                "is required with `model`: the deployment's name in model_deployments.yaml",
            )
            inner.skip("model")
            inner.skip("name")
        else:
            judges.append(
                Judge(
                    inner.name("name"),
                    inner.name("model_name"),
                    seed=seed,
                    temperature=temperature,
                )
            )
        inner.finish()
    if len(judges) > _MAX_SEATS:
        section.note("judges", f"lists {len(judges)} judges; expected at most {_MAX_SEATS}")
    names = [judge.name for judge in judges if judge.name]
    for name in sorted({name for name in names if names.count(name) > 1}):
        section.note("judges", f"the name {name!r} is given twice; names must be unique")
    return tuple(judges)


def _read_model(section: YamlMap) -> str:
    key = "model_name" if section.has("model_name") and not section.has("model") else "model"
    return section.name(key)


def read_quorum(section: YamlMap, judges: tuple[Judge, ...]) -> int | None:
    """Read the optional key `quorum`, which must be a majority of the seats if there are judges."""
    quorum = section.integer("quorum", None, high=_MAX_SEATS)
    seats = len(judges)
    if quorum is not None and judges and quorum > seats:
        section.note("quorum", f"{quorum} exceeds the jury's {format_count(seats, 'seat')}")
    elif quorum is not None and judges and 2 * quorum <= seats:
        section.note(
            "quorum",
            f"{quorum} of {seats} seats is not a majority; give at least {seats // 2 + 1}, or omit it",
        )
    return quorum
