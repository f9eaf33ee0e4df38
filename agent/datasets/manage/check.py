"""Check a benchmark's definition and data, and report all problems at once."""

from collections.abc import Mapping
from pathlib import Path

from agent.catalog.benchmark import Benchmark, load_benchmark, survey_benchmarks
from agent.catalog.data_section import loader_by_ending
from agent.catalog.named_file import find_named_file
from agent.catalog.template import compile_template
from agent.datasets.folder import hash_file
from agent.datasets.formats import FORMATS
from agent.datasets.load import locate_dataset
from agent.datasets.manage.examine import DatasetContents, examine, required_choices
from agent.datasets.manage.register import holds_data, read_all
from agent.datasets.readers.files import Files
from agent.errors import AgentError, BenchmarkError
from agent.io.small_file import decode_text, read_bytes
from agent.io.strict_yaml import parse_yaml


def check_benchmark(
    definition: Path, site_data: Path, site_benchmarks: Path | None, *, keep: int
) -> tuple[Benchmark, DatasetContents]:
    """Read a definition and all of its data, and keep the first `keep` instances.

    If the definition names no data file of its own, the site's data is read or, if there is none, the sample.
    A definition in the folder `site_benchmarks` is checked as in a run: it must not contain absolute paths, and
    its name must not be in use.

    Raises:
        BenchmarkError: the definition or the data has problems, all of which are listed.
    """
    try:
        benchmark = _read_definition(definition, site_benchmarks)
    except BenchmarkError as why:
        messages = str(why).splitlines()
        messages += _find_data_problems(
            definition / "benchmark.yaml" if definition.is_dir() else definition
        )
        # Remove duplicates: a file that is not YAML is read twice, with the same problem both times.
        raise BenchmarkError("\n".join(dict.fromkeys(messages)), why.advice) from None
    return benchmark, read_data(benchmark, site_data, keep=keep)


def _read_definition(definition: Path, site_benchmarks: Path | None) -> Benchmark:
    path = definition.resolve()
    if site_benchmarks is None or not path.is_relative_to(site_benchmarks.resolve()):
        return load_benchmark(definition, absolute_paths=True)
    benchmark = load_benchmark(definition)
    _, broken_definitions = survey_benchmarks(site_benchmarks)
    for broken in broken_definitions:
        if broken.path.resolve() in (path, path.parent):
            raise broken.error
    return benchmark


def read_data(benchmark: Benchmark, site_data: Path, *, keep: int = 0) -> DatasetContents:
    """Read all data of a benchmark: the definition's own file or, without one, the site's data or the sample.

    Raises:
        BenchmarkError: the data has problems, all of which are listed.
    """
    folder = site_data / benchmark.id
    if benchmark.dataset_file is None and holds_data(folder):
        return read_all(benchmark, folder, keep=keep)
    # A sample has its own arguments.
    choices = required_choices(benchmark) if benchmark.dataset_file else [{}]
    return examine(
        benchmark, choices, lambda choice: locate_dataset(benchmark, None, choice), keep=keep
    )


def _find_data_problems(definition: Path) -> list[str]:
    """Return the problems in the prompt and data that can be found although the definition is invalid."""
    try:
        tree = parse_yaml(read_bytes(definition, BenchmarkError), definition, BenchmarkError)
        if not isinstance(tree, dict) or not isinstance(tree.get("dataset_file"), str):
            return []
        path = find_named_file(tree["dataset_file"], definition.parent, absolute=True)
        prompt = _read_prompt(tree, definition.parent)
        _check_rows(path, prompt, tree)
    except AgentError as why:
        return str(why).splitlines()
    return []


def _read_prompt(tree: Mapping[str, object], folder: Path) -> str:
    name = tree.get("prompt_file")
    if not isinstance(name, str):
        return ""
    path = find_named_file(name, folder, absolute=True)
    if not path.is_file():
        return ""
    return decode_text(read_bytes(path, BenchmarkError), path, BenchmarkError)


def _check_rows(path: Path, prompt: str, tree: Mapping[str, object]) -> None:
    arguments = tree.get("arguments")
    placeholders = {"options"}
    if isinstance(arguments, dict | list):
        placeholders.update(arguments)
    loader = tree.get("loader")
    if not isinstance(loader, str) or loader not in FORMATS:
        loader = loader_by_ending(path)
    files = Files({path.name: path}, {path.name: hash_file(path, path.name)})
    for table, problems in FORMATS[loader](files):
        _, prompt_problems = compile_template(prompt, placeholders.union(table.columns))
        for problem in prompt_problems:
            problems.add("prompt", problem)
        for _ in table.rows:  # reading a row records its problems
            pass
        problems.check()
