"""What HELM's package calls its classes, benchmarks, metrics, models and settings: the list that redaction ships.

`python -m tests.parity.names_of_helm FOLDER_OF_THE_PACKAGE_HELM` writes it anew; test_redacted_folder compares.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from agent.exchange.helm.redaction.vouched import NAMES_OF_HELM

HEADER = """\
# Names that crfm-helm 0.5 (Apache-2.0) gives to its classes, benchmarks, metrics, models and settings.
# One a line: what it names, and the name. Written by tests/parity/names_of_helm.py.
"""
_OF_CLASSES = ("scenarios", "metrics", "annotation", "augmentations")
_NUMBERS = {"int", "float", "Optional[int]", "Optional[float]"}


def names_of(package: Path) -> list[str]:
    """Return the lines of the list, sorted."""
    found: set[str] = set()
    for folder in _OF_CLASSES:
        for path in (package / "benchmark" / folder).rglob("*.py"):
            if not path.name.startswith("test_"):
                found |= set(_of_module(path, package))
    for path in (package / "benchmark" / "run_specs").rglob("*.py"):
        found |= set(_of_run_specs(path))
    for path in (package / "benchmark" / "static").glob("schema_*.yaml"):
        schema = yaml.safe_load(path.read_text("utf-8"))
        for part in ("metrics", "perturbations", "metric_groups", "run_groups"):
            found |= {f"name {one['name']}" for one in schema.get(part) or () if one.get("name")}
    for file, part in (("model_deployments", "model_deployments"), ("model_metadata", "models")):
        content: dict[str, Any] = yaml.safe_load(
            (package / "config" / f"{file}.yaml").read_text("utf-8")
        )
        found |= {f"model {one['name']}" for one in content[part]}
    return sorted(found)


def _of_module(path: Path, package: Path) -> Iterator[str]:
    module = ".".join(path.relative_to(package.parent).with_suffix("").parts)
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ClassDef):
            yield f"class {module}.{node.name}"
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef) and inner.name == "__init__":
                    yield from _numbers(inner)
                if isinstance(inner, ast.Assign) and isinstance(inner.value, ast.Constant):
                    target = inner.targets[0]
                    value = inner.value.value
                    if (
                        isinstance(target, ast.Name)
                        and target.id == "name"
                        and isinstance(value, str)
                    ):
                        yield f"name {value}"
        elif (
            isinstance(node, ast.Call)
            and getattr(node.func, "id", "") == "MetricName"
            and node.args
        ):
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield f"name {first.value}"


def _of_run_specs(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.FunctionDef):
            continue
        for mark in node.decorator_list:
            if isinstance(mark, ast.Call) and getattr(mark.func, "id", "") == "run_spec_function":
                yield f"name {ast.literal_eval(mark.args[0])}"
                yield from _numbers(node)
                yield from (f"name {one.arg}" for one in node.args.args)


def _numbers(function: ast.FunctionDef) -> Iterator[str]:
    for one in (*function.args.args, *function.args.kwonlyargs):
        if one.annotation is not None and ast.unparse(one.annotation) in _NUMBERS:
            yield f"number {one.arg}"


if __name__ == "__main__":
    NAMES_OF_HELM.write_text(
        HEADER + "".join(f"{line}\n" for line in names_of(Path(sys.argv[1]))), "utf-8"
    )
