"""The data of the shipped public benchmarks, which is published and known by its digests."""

from pathlib import Path

from agent.redaction.digest_list import read_digests

_DIGESTS = Path(__file__).with_name("published_data.txt")


def is_published(source: str) -> bool:
    """Return whether an instance's source is the official file or the shipped sample of a public benchmark.

    Args:
        source: digest of a definition and its data, see `agent.vocabulary.Instance.source`.
    """
    return source in read_digests(_DIGESTS)
