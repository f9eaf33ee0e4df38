"""Registration of datasets: figures may be submitted only for registered, frozen versions of protected data.

First the data is read (`read_version`), then the persons behind its units are identified (`identify_persons`), then the
rules are checked (`check_version`). These three steps have no side effects. `register` runs them and writes the frozen
copy, the ledger entry, the copy's commitment and the draft for the steward. After a crash at any step, registering
again resumes.

A *person* groups units. A unit belongs to a person of an earlier version, of any benchmark, if it has the same
identifier, the same records, or records with nearly the same words. Units of one version with equal or nearly equal
records belong to one person.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agent.catalog.benchmark import Benchmark
from agent.datasets.frozen import (
    FrozenVersion,
    drop_frozen,
    find_sources,
    freeze,
    locate_frozen,
    mark_registered,
    read_frozen_versions,
)
from agent.datasets.load import Known, locate_dataset
from agent.delivery.outbox import LIVE, State, Submission
from agent.disclosure.chain import ChainEnd, check_ledger, settle_chain
from agent.disclosure.collect import NAME_UNITS
from agent.disclosure.dataset_reading import ReadVersion, commit, read_version
from agent.disclosure.ledger import (
    DatasetEntry,
    Ledger,
    PersonDifference,
    compare_persons,
    derive_fingerprint_key,
    share_persons,
)
from agent.disclosure.persons import identify_persons
from agent.disclosure.prepare import Gate, choose_policy, draft_statement, find_enrolled_site
from agent.disclosure.sketches import Shingler
from agent.errors import DisclosureError
from agent.store import Store
from protocol.errors import ProtocolError
from protocol.identity import NONE
from protocol.policy import DisclosurePolicy, bucket_of, bucket_range
from protocol.predicates import DatasetPredicate, Header
from protocol.registry import Registry
from protocol.verification import check_dataset_size, check_dataset_version


@dataclass(frozen=True, slots=True)
class DatasetCandidate:
    """A version that might be registered, with the numbers that are shown to the steward.

    Attributes:
        entry: the entry for the ledger.
        difference: the difference from the previous version; None if there is none.
        never_seen: number of persons that do not occur in any earlier version of any benchmark.
        merged: number of units that were merged with another unit of the same person.
        shared_with: ids of benchmarks that have earlier versions of the same lineage.
        previous_statement: digest of the previous version's statement; `none` if there is none.
    """

    entry: DatasetEntry
    difference: PersonDifference | None
    never_seen: int
    merged: int
    shared_with: tuple[str, ...]
    previous_statement: str


@dataclass(frozen=True, slots=True)
class _AllowedVersion:
    """A version that may be registered.

    Attributes:
        candidate: the version.
        draft: the existing draft of this version, if it can be approved unchanged.
        replaced: without such a draft, the drafts to be deleted: one of another version of this data, and all drafts
            after it.
    """

    candidate: DatasetCandidate
    draft: Submission | None
    replaced: Sequence[Submission]


@dataclass(frozen=True, slots=True)
class Registered:
    """The outcome of `register`.

    Attributes:
        candidate: the registered version.
        number: number of the frozen copy; 0 in a dry run.
        submission: the draft for the steward; None in a dry run.
        is_new: whether this call created the draft.
        dropped: digests of deleted drafts: replaced ones and those that followed them.
    """

    candidate: DatasetCandidate
    number: int
    submission: Submission | None
    is_new: bool
    dropped: tuple[str, ...] = ()


def register(
    gate: Gate, benchmark: Benchmark, site_data: Path, store: Store, *, dry_run: bool = False
) -> Registered:
    """Freeze a benchmark's data, record it in the ledger and draft its statement for the steward.

    Args:
        gate: the outbox, keys and policies to prepare with.
        benchmark: a gated or private benchmark with named units.
        site_data: the site's data folder.
        store: the site's store, which computes the keys of units.
        dry_run: return the version that would be registered without writing anything.

    Raises:
        DisclosureError: a rule forbids this version, or the use of the data is not attested; nothing was registered.
        BenchmarkError, ConfigError: the data cannot be read.
        StoreError: a file cannot be written, or another command has locked the outbox or the data.
    """
    find_enrolled_site(gate.registry, gate.signer.public.keyid)
    check_benchmark(benchmark, gate.registry)
    with gate.outbox.held():
        ledger = gate.ledger()
        if dry_run:
            read = _read_sources(benchmark, site_data, store, gate.seal_key)
            allowed = _check_allowed(gate, read, ledger, site_data)
            return Registered(allowed.candidate, number=0, submission=None, is_new=False)
        _finish_copies(benchmark, site_data, ledger)
        version = freeze(benchmark, site_data)
        try:
            read = _read_frozen(benchmark, version, store, gate.seal_key)
            commitment = commit(read, gate.seal_key, ledger)
            version = _put_back_lost_copy(version, read, commitment, ledger, site_data)
            allowed = _check_allowed(gate, read, ledger, site_data)
        except Exception:
            # A copy with a commitment belongs to a registered version and must not be deleted.
            if not version.commitment:
                drop_frozen(version)
            raise
        candidate, entry = allowed.candidate, allowed.candidate.entry
        if ledger.find_dataset(entry.commitment) is None:
            gate.append(ledger.followed_by(entry, gate.today_day))
        if not version.commitment:
            mark_registered(version, entry.commitment, entry.instances)
        if allowed.draft is not None:
            return Registered(
                candidate, number=version.number, submission=allowed.draft, is_new=False
            )
        dropped = tuple(submission.digest for submission in allowed.replaced)
        for digest in reversed(dropped):
            gate.outbox.drop_draft(digest)
        draft = _draft_dataset(gate, candidate, read.known)
        return Registered(
            candidate, number=version.number, submission=draft, is_new=True, dropped=dropped
        )


def check_benchmark(benchmark: Benchmark, registry: Registry) -> None:
    """Check that data of a benchmark can be registered at all.

    Raises:
        DisclosureError: the benchmark is public, its units have no names, or no scorecard has protected cells for it.
    """
    if benchmark.access == "public":
        raise DisclosureError(
            f"{benchmark.id}: it is public, and public data needs no registration",
            "Run it and prepare a submission.",
        )
    if benchmark.unit_column is None:
        raise DisclosureError(
            f"{benchmark.id}: its units are row numbers, so rows of one patient would count as separate patients",
            NAME_UNITS,
        )
    if benchmark.digest not in _list_protected_definitions(registry):
        raise DisclosureError(
            f"{benchmark.id}: no registered scorecard has protected cells for this version of its definition",
            "Ask the central team to register a scorecard with it, then run `intramural registry update`.",
        )


def _list_protected_definitions(registry: Registry) -> set[str]:
    """Return the digests of the definitions with protected cells in a current scorecard."""
    definitions: set[str] = set()
    for registered in registry.scorecards.values():
        if registered.retired:
            continue
        protected = {cell.benchmark for cell in registered.scorecard.cells if cell.protected}
        for entry in registered.scorecard.benchmarks:
            if entry.id in protected:
                definitions.add(entry.definition)
    return definitions


def make_candidate(
    read: ReadVersion,
    commitment: str,
    ledger: Ledger,
    statements: Mapping[str, DatasetPredicate],
    key: bytes,
) -> DatasetCandidate:
    """Return the candidate for a version that was read.

    Args:
        read: the version.
        commitment: the commitment to its records, see `commit`.
        ledger: the ledger of all earlier datasets and releases.
        statements: the statements of datasets in the site's chain by digest, oldest first.
        key: the key for fingerprints, see `derive_fingerprint_key`.

    Raises:
        DisclosureError: the ledger lacks a version whose statement is in the chain.
    """
    earlier = [dataset for dataset in ledger.list_datasets() if dataset.commitment != commitment]
    # The lineage and the previous version depend on the persons, so they are filled in below.
    entry = DatasetEntry(
        benchmark=read.benchmark,
        definition=read.definition,
        commitment=commitment,
        lineage=commitment,
        previous="",
        data=read.data,
        instances=len(read.records),
        units=identify_persons(read, earlier, key),
    )
    entry = replace(entry, lineage=_find_lineage(entry, ledger, statements))
    previous_statement = _find_previous_statement(entry, statements)
    difference = None
    if previous_statement != NONE:
        previous = _require_entry(statements[previous_statement], ledger)
        entry = replace(entry, previous=previous.commitment)
        difference = compare_persons(previous, entry)

    persons = entry.list_persons()
    earlier_persons: set[str] = set()
    shared_with: list[str] = []
    for dataset in earlier:
        earlier_persons |= dataset.list_persons()
        if dataset.benchmark not in shared_with and share_persons(dataset, entry):
            shared_with.append(dataset.benchmark)
    return DatasetCandidate(
        entry=entry,
        difference=difference,
        never_seen=len(persons - earlier_persons),
        merged=len(entry.units) - len(persons),
        shared_with=tuple(shared_with),
        previous_statement=previous_statement,
    )


def _find_lineage(
    entry: DatasetEntry, ledger: Ledger, statements: Mapping[str, DatasetPredicate]
) -> str:
    """Return the lineage of the oldest version in the chain that shares persons with `entry`, or start a new one."""
    stated = [(statement, _require_entry(statement, ledger)) for statement in statements.values()]
    for statement, dataset in stated:
        if share_persons(dataset, entry):
            return statement.lineage
    return entry.commitment


def _find_previous_statement(
    entry: DatasetEntry, statements: Mapping[str, DatasetPredicate]
) -> str:
    """Return the digest of the newest statement with this definition and lineage, or `none`."""
    previous_statement = NONE
    for digest, statement in statements.items():
        if statement.definition == entry.definition and statement.lineage == entry.lineage:
            previous_statement = digest
    return previous_statement


def check_version(
    candidate: DatasetCandidate,
    ledger: Ledger,
    statements: Mapping[str, DatasetPredicate],
    policy: DisclosurePolicy,
    names: Mapping[str, str],
) -> None:
    """Check a version by the rules against differencing.

    Args:
        candidate: the version.
        ledger: the ledger of all earlier datasets and releases.
        statements: the statements of datasets in the site's chain by digest.
        policy: the stricter of the site's and the federation's policies.
        names: display names of the registered versions by commitment.

    Raises:
        DisclosureError: the version has too few persons, or differs too little from a version from which figures were,
            or can still be, prepared. The message contains the numbers and advice.
    """
    entry = candidate.entry
    persons = len(entry.list_persons())
    if bucket_range(bucket_of(persons))[0] < policy.min_units:
        raise DisclosureError(
            f"{entry.benchmark}: {persons} units, counted by their records, but a protected dataset must have at "
            f"least {policy.min_units}",
            "Register it once it has more patients.",
        )
    if candidate.difference == PersonDifference(0, 0, 0):
        raise DisclosureError(
            f"{entry.benchmark}: nothing new since {names[entry.previous]}, which has the same units and records",
            "Runs use that version. Register again when the data has changed.",
        )
    released = _list_perhaps_released(ledger)
    for dataset in released:
        _check_difference(candidate, dataset, policy, names, "from which figures were prepared")
    for statement in statements.values():
        dataset = _require_entry(statement, ledger)
        if dataset not in released:
            _check_difference(candidate, dataset, policy, names, "which is registered")


def _list_perhaps_released(ledger: Ledger) -> list[DatasetEntry]:
    """Return the versions from which figures were prepared, or may have been because later ledger entries were lost."""
    released = ledger.list_released_datasets()
    for dataset in ledger.list_datasets():
        if dataset not in released and ledger.lost_entries_after(dataset):
            released.append(dataset)
    return released


def _check_difference(
    candidate: DatasetCandidate,
    dataset: DatasetEntry,
    policy: DisclosurePolicy,
    names: Mapping[str, str],
    reason: str,
) -> None:
    """Check that each number of differing units is 0 or, according to its published bucket, at least the threshold.

    Versions other than the previous one are compared only if they share persons: otherwise figures cannot be
    subtracted.

    Args:
        candidate: the version.
        dataset: a version from which figures were, or could be, prepared.
        policy: the policy that sets the threshold.
        names: display names of the registered versions by commitment.
        reason: why `dataset` is compared, for the error message.

    Raises:
        DisclosureError: the difference is too small.
    """
    entry = candidate.entry
    if dataset.commitment == entry.commitment:
        return
    if dataset.commitment != entry.previous and not share_persons(dataset, entry):
        return
    difference = compare_persons(dataset, entry)
    numbers = (difference.added, difference.removed, difference.changed)
    if all(
        number == 0 or bucket_range(bucket_of(number))[0] >= policy.changed_units
        for number in numbers
    ):
        return
    name = names[dataset.commitment]
    if dataset.benchmark == entry.benchmark:
        advice = (
            f"Register again once at least {policy.changed_units} units have been added. Until then, any model, "
            f"including new ones, can be evaluated on {name}."
        )
    else:
        advice = (
            f"Give this benchmark the same patients as {name}, or at least {policy.changed_units} more or fewer: "
            "figures of nearly the same patients can be subtracted."
        )
    raise DisclosureError(
        f"{entry.benchmark}: this version differs too little from {name}, {reason}: {difference.added} units added, "
        f"{difference.removed} removed, {difference.changed} changed. Each number must be 0 or at least "
        f"{policy.changed_units}",
        advice,
    )


def _check_allowed(
    gate: Gate, read: ReadVersion, ledger: Ledger, site_data: Path
) -> _AllowedVersion:
    """Check that a version may be registered; return it with the drafts that are affected.

    Raises:
        DisclosureError: see `check_version`; or the version is already registered.
    """
    commitment = commit(read, gate.seal_key, ledger)
    site = find_enrolled_site(gate.registry, gate.signer.public.keyid)
    check_ledger(ledger, gate.outbox.list_submissions(), gate.registry.sites[site])
    end = settle_chain(gate.outbox, gate.registry.sites[site], gate.outbox.list_submissions())
    submissions = gate.outbox.list_submissions()
    names = _name_versions(ledger, site_data)

    statements: dict[str, DatasetPredicate] = {}
    for submission in submissions:
        # A ledger that was restarted by a reset does not contain earlier versions.
        is_known = submission.state in LIVE and submission.header.epoch >= ledger.began_in
        if is_known and submission.dataset is not None:
            statements[submission.digest] = submission.dataset
    if any(statement.commitment == commitment for statement in statements.values()):
        raise DisclosureError(
            f"{read.benchmark}: nothing new since {names[commitment]}, which has the same rows",
            "Runs use the newest registered version. Register again when the data has changed.",
        )

    drafts = [submission for submission in submissions if submission.state is State.PREPARED]
    staying, replaced = _split_drafts(drafts, end, read.definition, gate.registry.version)
    for draft in staying:
        if draft.dataset is not None:
            statements[draft.digest] = draft.dataset
    candidate = make_candidate(
        read, commitment, ledger, statements, derive_fingerprint_key(gate.seal_key)
    )
    _, policy = choose_policy(gate.registry, gate.policy)
    check_version(candidate, ledger, statements, policy, names)
    try:
        header = end.header(gate.registry, site, ledger.head)
        statement = make_statement(candidate, read.known, header)
        check_dataset_size(statement, gate.registry)
        check_dataset_version(statement, statements, policy)
    except ProtocolError as error:
        raise DisclosureError(
            f"{read.benchmark}: the aggregator would refuse this version ({error.code}: {error.detail})"
        ) from None

    for draft in staying:
        end = end.after(draft)
    if replaced and _is_current(replaced[0], commitment, end, gate.registry):
        return _AllowedVersion(candidate, draft=replaced[0], replaced=())
    return _AllowedVersion(candidate, draft=None, replaced=replaced)


def _is_current(draft: Submission, commitment: str, end: ChainEnd, registry: Registry) -> bool:
    """Return whether a draft registers this version and can be approved unchanged."""
    is_same = draft.dataset is not None and draft.dataset.commitment == commitment
    return is_same and end.leads_to(draft) and draft.header.registry == registry.version


def make_statement(candidate: DatasetCandidate, known: Known, header: Header) -> DatasetPredicate:
    """Return the statement for a version, with buckets instead of exact numbers and without any names."""
    entry = candidate.entry
    difference = candidate.difference or PersonDifference(0, 0, 0)
    return DatasetPredicate(
        header=header,
        definition=entry.definition,
        commitment=entry.commitment,
        lineage=entry.lineage,
        origin="official" if known == "official" else "own",
        previous=candidate.previous_statement,
        units=bucket_of(len(entry.list_persons())),
        added=bucket_of(difference.added),
        removed=bucket_of(difference.removed),
        changed=bucket_of(difference.changed),
    )


def _draft_dataset(gate: Gate, candidate: DatasetCandidate, known: Known) -> Submission:
    """Draft the statement for a version. Exact numbers are only in the notes for the steward."""
    entry = candidate.entry
    difference = candidate.difference or PersonDifference(0, 0, 0)
    _, policy = choose_policy(gate.registry, gate.policy)
    return draft_statement(
        gate,
        lambda header: make_statement(candidate, known, header),
        verdicts={
            "policy": policy.digest,
            "benchmark": entry.benchmark,
            "shared_with": list(candidate.shared_with),
        },
        notes={
            "units": len(entry.list_persons()),
            "rows": entry.instances,
            "added": difference.added,
            "removed": difference.removed,
            "changed": difference.changed,
            "never_seen": candidate.never_seen,
            "merged": candidate.merged,
        },
    )


def _split_drafts(
    drafts: Sequence[Submission], end: ChainEnd, definition: str, registry_version: int
) -> tuple[list[Submission], list[Submission]]:
    """Return the drafts before the first one to be replaced, and that one with all later drafts.

    A draft is replaced if it is for the same data, no longer follows from the chain's end, or was made with another
    version of the registry.
    """
    for number, draft in enumerate(drafts):
        is_same_data = draft.dataset is not None and draft.dataset.definition == definition
        if is_same_data or not end.leads_to(draft) or draft.header.registry != registry_version:
            return list(drafts[:number]), list(drafts[number:])
        end = end.after(draft)
    return list(drafts), []


def _read_sources(
    benchmark: Benchmark, site_data: Path, store: Store, seal_key: bytes
) -> ReadVersion:
    sources = find_sources(benchmark, site_data)
    _check_attested(benchmark, attested=sources.attested)
    shingler = Shingler(derive_fingerprint_key(seal_key))
    return read_version(
        benchmark,
        sources.digest,
        lambda choice: locate_dataset(benchmark, site_data, choice),
        store,
        shingler,
    )


def _read_frozen(
    benchmark: Benchmark, version: FrozenVersion, store: Store, seal_key: bytes
) -> ReadVersion:
    _check_attested(benchmark, attested=version.attested)
    shingler = Shingler(derive_fingerprint_key(seal_key))
    return read_version(
        benchmark,
        version.data,
        lambda choice: locate_frozen(benchmark, version, choice),
        store,
        shingler,
    )


def _check_attested(benchmark: Benchmark, *, attested: bool) -> None:
    if not attested:
        raise DisclosureError(
            f"{benchmark.id}: no one has attested that this site may use its gated data",
            f"Add it with `intramural datasets add {benchmark.id} PATH --replace`, which explains what to attest.",
        )


def _finish_copies(benchmark: Benchmark, site_data: Path, ledger: Ledger) -> None:
    """Complete an interrupted registration: mark the copy of the newest version, and delete other unmarked copies."""
    newest = ledger.find_newest_dataset(benchmark.id, benchmark.digest)
    versions = read_frozen_versions(site_data, benchmark.id)
    committed = {version.commitment for version in versions if version.commitment}
    for version in versions:
        if version.commitment:
            continue
        if (
            newest is not None
            and newest.commitment not in committed
            and _is_copy_of(newest, version)
        ):
            mark_registered(version, newest.commitment, newest.instances)
        else:
            drop_frozen(version)


def _is_copy_of(dataset: DatasetEntry, version: FrozenVersion) -> bool:
    """Return whether a frozen copy has the definition and files of a registered version."""
    return (version.definition, version.data) == (dataset.definition, dataset.data)


def _put_back_lost_copy(
    version: FrozenVersion, read: ReadVersion, commitment: str, ledger: Ledger, site_data: Path
) -> FrozenVersion:
    """Mark the new copy as the newest registered version's if its rows are equal and the original copy is lost."""
    newest = ledger.find_newest_dataset(read.benchmark, read.definition)
    if version.commitment or newest is None or newest.commitment != commitment:
        return version
    copies = read_frozen_versions(site_data, read.benchmark)
    if any(copy.commitment == commitment for copy in copies):
        return version
    return mark_registered(version, commitment, newest.instances)


def _name_versions(ledger: Ledger, site_data: Path) -> dict[str, str]:
    """Return the display name of each registered version: the number of its frozen copy and its benchmark."""
    numbers: dict[tuple[str, str], int] = {}
    for benchmark in {dataset.benchmark for dataset in ledger.list_datasets()}:
        for version in read_frozen_versions(site_data, benchmark):
            numbers[benchmark, version.commitment] = version.number
    names: dict[str, str] = {}
    for dataset in ledger.list_datasets():
        number = numbers.get((dataset.benchmark, dataset.commitment))
        name = f"version {number}" if number else "a version whose copy is lost"
        names[dataset.commitment] = f"{name} of {dataset.benchmark}"
    return names


def _require_entry(statement: DatasetPredicate, ledger: Ledger) -> DatasetEntry:
    """Return the ledger's entry of the dataset in a statement. Raises DisclosureError if there is none."""
    entry = ledger.find_dataset(statement.commitment)
    if entry is None:
        raise DisclosureError(
            "the ledger of releases lacks a dataset whose statement is in the site's chain",
            "Nothing is submitted until the folder submissions/ledger is restored from a backup.",
        )
    return entry
