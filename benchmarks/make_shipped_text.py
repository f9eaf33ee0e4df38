"""Write the digests of the fixed text in the shipped benchmarks' prompts: `python -m benchmarks.make_shipped_text`.

Redaction shows these texts as they are (see agent.redaction.gateway.cells). Run this after changing a prompt.
"""

from collections.abc import Iterator
from pathlib import Path

from agent.catalog.benchmark import Benchmark, load_benchmark
from agent.datasets.load import Instructions, iter_instances, locate_dataset
from agent.redaction.gateway.cells import list_fixed_lines
from agent.redaction.gateway.shipped_text import digest_text
from agent.vocabulary import Instance

HERE = Path(__file__).parent
TARGET = HERE.parent / "agent/redaction/gateway/shipped_text.txt"
HEAD = """\
# SHA-256 (first 32 digits) of each line of fixed text in the shipped benchmarks' prompts, cut at the cells, and of the
# table schema that EHRSQL shows with every question. Written by `python -m benchmarks.make_shipped_text`.
"""
_INSTRUCTIONS: tuple[Instructions | None, ...] = (None, "none", "expert")
# Cells that hold the same published text in every row.
_PUBLISHED_COLUMNS = {"ehr_sql": "schema"}


def list_digests() -> list[str]:
    """Return the digests in order."""
    digests: set[str] = set()
    for definition in sorted(HERE.glob("*/benchmark.yaml")):
        benchmark = load_benchmark(definition.parent)
        for text in _list_texts(benchmark):
            if any(map(str.isalnum, text)):
                digests.add(digest_text(text))
    return sorted(digests)


def _list_texts(benchmark: Benchmark) -> Iterator[str]:
    published_column = _PUBLISHED_COLUMNS.get(benchmark.id)
    for instructions in _INSTRUCTIONS:
        dataset = locate_dataset(benchmark, None, {})
        for instance in iter_instances(benchmark, dataset, instructions=instructions):
            yield from _list_fixed_texts(instance)
            for cell in instance.cells or ():
                if cell.column == published_column:
                    yield instance.messages[cell.message].content[cell.start : cell.end]


def _list_fixed_texts(instance: Instance) -> Iterator[str]:
    for number in range(len(instance.messages)):
        for pieces in list_fixed_lines(instance, number):
            yield from pieces


if __name__ == "__main__":
    TARGET.write_text(HEAD + "\n".join(list_digests()) + "\n", "ascii")
