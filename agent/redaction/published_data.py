"""The data of the shipped public benchmarks, which is published and known by its digests."""

from functools import cache
from pathlib import Path

_DIGESTS = Path(__file__).with_name("published_data.txt")


def is_published(source: str) -> bool:
    """Return whether an instance's source is the official file or the shipped sample of a public benchmark.

    Args:
        source: digest of a definition and its data, see `agent.vocabulary.Instance.source`.
    """
    return source in _read_digests()


@cache
def _read_digests() -> frozenset[str]:
    lines = _DIGESTS.read_text("ascii").splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))
