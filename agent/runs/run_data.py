"""Choose the data that a run reads.

For a protected benchmark this is the newest registered version, even if the site has newer rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from agent.catalog.arguments import DATA_ARGUMENTS
from agent.catalog.benchmark import Benchmark
from agent.datasets.frozen import (
    FrozenVersion,
    find_newer_data,
    find_newest_frozen,
    has_files_for,
    locate_frozen,
)
from agent.datasets.load import Dataset, locate_dataset
from agent.datasets.manage.register import is_attested
from agent.site.directory import Site

_NOT_ATTESTED = (
    "gated data without an attested data use agreement (`intramural datasets add` records one)"
)
_NEVER = "no results of this run can be submitted"


@dataclass(frozen=True, slots=True)
class RunData:
    """The data that a run reads.

    Attributes:
        dataset: the files.
        attested: whether the data needs no agreement, or a person attested that the site has accepted one.
        registered: the registered version whose frozen copy is read; None for unregistered files.
        note: a note for the user about the data; empty if there is none.
    """

    dataset: Dataset
    attested: bool
    registered: FrozenVersion | None = None
    note: str = ""

    @property
    def commitment(self) -> str:
        """Commitment of the registered version; empty if there is none."""
        return self.registered.commitment if self.registered else ""

    @property
    def frozen_digest(self) -> str:
        """Digest over all files of the registered version; empty if there is none."""
        return self.registered.data if self.registered else ""


def choose_data(
    site: Site, benchmark: Benchmark, arguments: Mapping[str, str], *, unregistered: bool
) -> RunData:
    """Return the data for a run entry with these arguments.

    Args:
        site: the site that stores the data.
        benchmark: the benchmark; only gated and private ones have registered versions.
        arguments: arguments of the run entry; files that they name are read as they are.
        unregistered: read the current files even if a version is registered.

    Raises:
        BenchmarkError: there is no data, it cannot be read, or the frozen copy of a registered version was changed.
        ConfigError: an argument is unknown or missing.
    """
    if benchmark.access == "public":
        return _locate_current_data(site, benchmark, arguments)
    is_named = bool(DATA_ARGUMENTS & arguments.keys())
    version = None if is_named or unregistered else find_newest_frozen(benchmark, site.data)
    if version is not None and has_files_for(version, benchmark, arguments):
        newer = find_newer_data(benchmark, site.data, version)
        return RunData(
            dataset=locate_frozen(benchmark, version, arguments),
            attested=version.attested,
            registered=version,
            note=f"{benchmark.id}: using registered version {version.number}; {newer}",
        )
    current = _locate_current_data(site, benchmark, arguments)
    if current.dataset.known in ("sample", "invented"):
        return current
    if is_named:
        why = "its data is named in the run entry"
    elif unregistered:
        why = "its current files are read instead of a registered version"
    elif version is not None:
        why = "its arguments select files that the registered version does not have"
    else:
        why = f"its data is not registered (`intramural datasets register {benchmark.id}`)"
    return replace(current, note=f"{benchmark.id}: {why}, so {_NEVER}")


def _locate_current_data(site: Site, benchmark: Benchmark, arguments: Mapping[str, str]) -> RunData:
    dataset = locate_dataset(benchmark, site.data, arguments)
    attested = is_attested(benchmark, dataset, site.data)
    if not attested:
        dataset = replace(dataset, problems=(*dataset.problems, _NOT_ATTESTED))
    return RunData(dataset, attested)
