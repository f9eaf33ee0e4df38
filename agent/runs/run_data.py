"""Which data a run reads: of a protected benchmark the newest registered version, while newer rows wait."""

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

_NOT_ATTESTED = "gated data for which nobody here has attested an agreement (`intramural datasets add` records it)"
_NEVER = "no figure of this run can be submitted"


@dataclass(frozen=True, slots=True)
class RunData:
    """What a run reads.

    Attributes:
        dataset: the files.
        attested: whether the data needs no agreement, or somebody attested that the site has accepted it.
        registered: the version that the files are the frozen copy of; None: the data as it lies.
        note: what whoever runs it should know; empty if nothing.
    """

    dataset: Dataset
    attested: bool
    registered: FrozenVersion | None = None
    note: str = ""

    @property
    def commitment(self) -> str:
        """Names the registered version; empty if there is none."""
        return self.registered.commitment if self.registered else ""

    @property
    def frozen_digest(self) -> str:
        """One digest of all files of the registered version; empty if there is none."""
        return self.registered.data if self.registered else ""


def choose_data(
    site: Site, benchmark: Benchmark, arguments: Mapping[str, str], *, unregistered: bool
) -> RunData:
    """Return the data of a run entry with these arguments.

    Args:
        site: where the data lies.
        benchmark: a gated or private one has registered versions.
        arguments: of the run entry; data that it names is taken as it is.
        unregistered: take the data as it lies, whatever is registered.

    Raises:
        BenchmarkError: there is no data, it cannot be read, or a registered version's frozen copy was changed.
        ConfigError: an argument is unknown, or missing.
    """
    if benchmark.access == "public":
        return _as_it_lies(site, benchmark, arguments)
    is_named = bool(DATA_ARGUMENTS & arguments.keys())
    version = None if is_named or unregistered else find_newest_frozen(benchmark, site.data)
    if version is not None and has_files_for(version, benchmark, arguments):
        newer = find_newer_data(benchmark, site.data, version)
        return RunData(
            dataset=locate_frozen(benchmark, version, arguments),
            attested=version.attested,
            registered=version,
            note=f"{benchmark.id}: registered version {version.number} is read; {newer}",
        )
    found = _as_it_lies(site, benchmark, arguments)
    if found.dataset.known in ("sample", "invented"):
        return found
    if is_named:
        why = "its data is named in the run entry"
    elif unregistered:
        why = "its data is read as it lies"
    elif version is not None:
        why = "its arguments choose other files than the registered version has"
    else:
        why = f"its data is not registered (`intramural datasets register {benchmark.id}`)"
    return replace(found, note=f"{benchmark.id}: {why}, so {_NEVER}")


def _as_it_lies(site: Site, benchmark: Benchmark, arguments: Mapping[str, str]) -> RunData:
    dataset = locate_dataset(benchmark, site.data, arguments)
    attested = is_attested(benchmark, dataset, site.data)
    if not attested:
        dataset = replace(dataset, problems=(*dataset.problems, _NOT_ATTESTED))
    return RunData(dataset, attested)
