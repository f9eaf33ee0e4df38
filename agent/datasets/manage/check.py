"""Everything that is wrong with a benchmark and its data, at once, for its author."""

from collections.abc import Mapping
from pathlib import Path

from agent.catalog.benchmark import Benchmark, load_benchmark, survey_benchmarks
from agent.catalog.data_section import BY_ENDING
from agent.catalog.named_file import named_file
from agent.catalog.template import compile_template
from agent.datasets.folder import file_digest
from agent.datasets.load import locate_dataset
from agent.datasets.manage.examine import Examined, examine, required_choices
from agent.datasets.manage.register import holds_data, read_all
from agent.datasets.readers.files import Files
from agent.datasets.sources.formats import FORMATS
from agent.errors import AgentError, BenchmarkError
from agent.io.small_file import decode, read_bytes
from agent.io.strict_yaml import parse_yaml


def check(place: Path, site_data: Path, own: Path | None, *, keep: int) -> tuple[Benchmark, Examined]:
    """Read a definition and all of its data; the first `keep` instances are kept.

    Data of official files is taken from the site, else from the definition's sample. A definition in `own`, the site's
    folder of benchmarks, is read as runs read it: without absolute paths, and under a name that is free.

    Raises:
        BenchmarkError: lists what is wrong with the definition and with the data.
    """
    of_site = own is not None and place.resolve().is_relative_to(own.resolve())
    try:
        benchmark = load_benchmark(place, absolute_paths=not of_site)
        for definition in survey_benchmarks(own)[1] if of_site else ():
            if definition.path.resolve() in (place.resolve(), place.resolve().parent):
                raise definition.error
    except BenchmarkError as why:
        more = _data_problems(place / "benchmark.yaml" if place.is_dir() else place)
        # A file that is no YAML at all is no better the second time.
        raise BenchmarkError("\n".join(dict.fromkeys([*str(why).splitlines(), *more])), why.advice) from None
    return benchmark, read_data(benchmark, site_data, keep=keep)


def read_data(benchmark: Benchmark, site_data: Path, *, keep: int = 0) -> Examined:
    """Read all data of a benchmark: of the site, else the definition's own or its sample.

    Raises:
        BenchmarkError: lists what is wrong with it.
    """
    folder = site_data / benchmark.id
    if benchmark.dataset_file is None and holds_data(folder):
        return read_all(benchmark, folder, keep=keep)
    choices = required_choices(benchmark) if benchmark.dataset_file else [{}]  # a sample has arguments of its own
    return examine(benchmark, choices, lambda choice: locate_dataset(benchmark, None, choice), keep=keep)


def _data_problems(definition: Path) -> list[str]:
    """Return what can be said of prompt and data although the definition is wrong."""
    try:
        tree = parse_yaml(read_bytes(definition, BenchmarkError), definition, BenchmarkError)
        if not isinstance(tree, dict) or not isinstance(tree.get("dataset_file"), str):
            return []
        path = named_file(tree["dataset_file"], definition.parent, absolute=True)
        prompt = _prompt(tree, definition.parent)
        _read(path, prompt, tree)
    except AgentError as why:
        return str(why).splitlines()
    return []


def _prompt(tree: Mapping[str, object], folder: Path) -> str:
    name = tree.get("prompt_file")
    path = named_file(name, folder, absolute=True) if isinstance(name, str) else None
    return decode(read_bytes(path, BenchmarkError), path, BenchmarkError) if path and path.is_file() else ""


def _read(path: Path, prompt: str, tree: Mapping[str, object]) -> None:
    arguments = tree.get("arguments")
    known = {"options", *(arguments if isinstance(arguments, dict | list) else ())}
    loader = tree.get("loader")
    loader = loader if isinstance(loader, str) and loader in FORMATS else BY_ENDING.get(path.suffix.lower(), "csv")
    files = Files({path.name: path}, {path.name: file_digest(path, path.name)})
    for table, problems in FORMATS[loader](files):
        for problem in compile_template(prompt, {*table.columns, *known})[1]:
            problems.add("prompt", problem)
        for _ in table.rows:
            pass
        problems.check()
