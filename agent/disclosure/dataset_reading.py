"""Read a version of a dataset: digests of the records of each unit, and a commitment to all records."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from agent.catalog.benchmark import Benchmark
from agent.datasets.identity import UNIT
from agent.datasets.load import Dataset, Known, iter_instances
from agent.datasets.manage.examine import Choice, required_choices
from agent.disclosure.collect import NAME_UNITS
from agent.disclosure.ledger import Ledger
from agent.disclosure.sketches import Shingled, Shingler, merge_shingled
from agent.errors import DisclosureError
from agent.keys import derive_key
from agent.runs.definition import choose_lineage
from agent.runs.instances import Instances
from agent.store import Store
from agent.vocabulary import Instance
from protocol.canonical import canonical
from protocol.merkle import record_salt, salted_root

# Minimum length of an identifier that is removed from texts; shorter ones could be ordinary words or numbers.
_MIN_NAME_LENGTH: Final = 4


@dataclass(frozen=True, slots=True)
class ReadUnit:
    """One unit of a dataset as it was read. Only its fingerprints are ever stored.

    Attributes:
        identifier: the unit's identifier in the data.
        key: the unit's key in the store and in runs.
        contents: the sorted digests of its records, without regard to identifiers, case and white space.
        shingles: the shingles of all its records.
    """

    identifier: str
    key: bytes
    contents: tuple[str, ...]
    shingles: Shingled


@dataclass(frozen=True, slots=True)
class ReadVersion:
    """A version of a dataset as it was read.

    Attributes:
        benchmark: id of the benchmark.
        definition: digest of the benchmark's definition.
        data: digest of the files.
        known: "official" if the definition lists the digests of all files, see `agent.datasets.load.Dataset`.
        units: the units, in arbitrary order.
        records: one record per instance for the commitment; sorted, so that the order of rows does not matter.
    """

    benchmark: str
    definition: str
    data: str
    known: Known
    units: Sequence[ReadUnit]
    records: Sequence[bytes]


def read_version(
    benchmark: Benchmark,
    data: str,
    locate: Callable[[Choice], Dataset],
    store: Store,
    shingler: Shingler,
) -> ReadVersion:
    """Read every instance of all parts of a benchmark.

    Args:
        benchmark: the definition to read the files with.
        data: digest of the files.
        locate: returns the files of one part, given the values of its required arguments.
        store: the site's store, which computes the keys of units.
        shingler: makes the site's shingles.

    Raises:
        DisclosureError: the units are row numbers.
        BenchmarkError: a file or row is invalid.
    """
    records: list[bytes] = []
    known: set[Known] = set()
    keys: dict[str, bytes] = {}
    contents: dict[str, list[str]] = {}
    shingles: dict[str, list[Shingled]] = {}
    for choice in required_choices(benchmark):
        dataset = locate(choice)
        known.add(dataset.known)
        of_units = choose_lineage(benchmark, dataset.known)
        read = partial(iter_instances, benchmark, dataset, arguments=choice, examples=0)
        instances = Instances(read)
        if benchmark.unit_column == UNIT and instances.numbered:
            raise DisclosureError(
                f"{benchmark.id}: its units are row numbers, so rows of one patient would count as separate patients",
                NAME_UNITS,
            )
        for instance in instances:
            unit = instance.unit
            keys[unit] = store.identities.unit_key(of_units, unit)
            records.append(_record(benchmark, choice, instance, keys[unit]))
            texts = _without_identifiers(instance)
            contents.setdefault(unit, []).append(_digest(texts))
            shingles.setdefault(unit, []).append(shingler.shingle(texts))
    return ReadVersion(
        benchmark=benchmark.id,
        definition=benchmark.digest,
        data=data,
        known=known.pop() if len(known) == 1 else "unknown",
        units=[
            ReadUnit(unit, key, tuple(sorted(contents[unit])), merge_shingled(shingles[unit]))
            for unit, key in keys.items()
        ],
        records=sorted(records),
    )


def commit(read: ReadVersion, seal_key: bytes, ledger: Ledger) -> str:
    """Return the salted Merkle root over a version's records, 64 hex digits. Equal records give equal roots.

    After the ledger was restarted, the same records get a new root, since the new ledger contains no earlier versions.
    """
    secret = derive_key(seal_key, f"dataset-records/v2/{ledger.began_in}")
    salts = [record_salt(secret, read.benchmark, index) for index in range(len(read.records))]
    return salted_root(read.records, salts).hex()


def _record(benchmark: Benchmark, choice: Choice, instance: Instance, unit_key: bytes) -> bytes:
    """Return the record for the commitment: the exact content of a row and the unit that it belongs to."""
    return canonical(
        {
            "benchmark": benchmark.id,
            "definition": benchmark.digest,
            "part": dict(choice),
            "unit": unit_key.hex(),
            "content": _digest(
                [
                    *_texts(instance),
                    *(f"{name}={value}" for name, value in instance.subgroups.items()),
                ]
            ),
        }
    )


def _texts(instance: Instance) -> Iterator[str]:
    """Yield all texts of an instance: its messages, its reference answers and the extra fields that metrics use."""
    for message in instance.messages:
        yield message.content
    for reference in instance.references:
        yield f"{'right' if reference.correct else 'wrong'}: {reference.text}"
    for name, value in sorted(instance.extra.items()):
        yield f"{name}: {value}"


def _without_identifiers(instance: Instance) -> list[str]:
    """Return a record's normalised texts with identifiers replaced, because a new name does not make a new record."""
    identifiers = {
        instance.unit,
        instance.id,
        *(identifier.value for identifier in instance.identifiers),
    }
    names = sorted(
        (_plain(name) for name in identifiers if len(name) >= _MIN_NAME_LENGTH),
        key=len,
        reverse=True,
    )
    texts = [_replace_all(names, _plain(text)) for text in _texts(instance)]
    texts += sorted(f"{name}={value}" for name, value in instance.subgroups.items())
    return texts


def _replace_all(names: Sequence[str], text: str) -> str:
    for name in names:
        if name in text:
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "@", text)
    return text


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _digest(texts: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(texts, ensure_ascii=True).encode()).hexdigest()
