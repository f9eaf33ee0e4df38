"""The page of one benchmark: its definition in words, the state of its data, and the forms that change the data."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from starlette.responses import Response

from agent.access.roles import Action
from agent.catalog.benchmark import Benchmark, survey_benchmarks
from agent.datasets.frozen import find_newest_frozen
from agent.datasets.manage.check import read_data
from agent.datasets.manage.examine import DatasetContents, required_choices
from agent.datasets.manage.register import (
    Attestation,
    DataState,
    add_data,
    check_data,
    check_may_hold,
    describe_attestation,
    describe_version,
    holds_data,
    is_fetchable,
    remove_data,
)
from agent.errors import AgentError, BenchmarkError, ConfigError
from agent.io.wording import find_unseen, format_count, format_size
from agent.service.web.benchmark_words import list_facts, list_files, list_metrics, list_passages
from agent.service.web.call import Call, Upload
from agent.service.web.catalog_pages import READY, SAMPLE, list_subsets
from agent.service.web.queueing import queue_for_caller
from agent.service.web.service import Desk
from agent.service.web.transfers import LARGEST_UPLOAD
from agent.store.jobs import JobState

PATH: Final = "/benchmarks/{benchmark_id}"
_ARCHIVES: Final = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
_ENDINGS: Final = (
    ".jsonl",
    ".json",
    ".csv",
    ".tsv",
    ".xlsx",
    ".parquet",
    ".feather",
    ".xml",
    ".txt",
)
_MOST_PROBLEMS: Final = 100
_FIELDS: Final = ("agreement", "attested_by", "attest", "part", "replace")

_STATES: Final = {
    READY: "Ready",
    SAMPLE: "Only the sample is here",
    "missing": "No data yet",
    "changed": "Files were changed after they were added",
    "not attested": "Nobody has attested the agreement",
    "cannot be read": "The data cannot be read",
}


@dataclass(frozen=True, slots=True)
class CheckedData:
    """What was found when all data of a benchmark was read.

    Attributes:
        title: what was done.
        lines: what was found, in words.
        warnings: what is noted in results.
    """

    title: str
    lines: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """Why something was refused: one line for each fault, what to do, and whether a file has to be chosen again."""

    lines: tuple[str, ...]
    advice: str
    is_upload: bool = False


def show_benchmark(desk: Desk, call: Call) -> Response:
    """Show one benchmark."""
    return _draw(desk, call, _find_benchmark(desk, call))


def add_file(desk: Desk, call: Call) -> Response:
    """Add the uploaded file as a benchmark's data, after reading all of it."""
    benchmark = _find_benchmark(desk, call)
    try:
        if call.upload_fault is not None:
            raise call.upload_fault
        upload = call.uploads.get("file")
        if upload is None:
            raise ConfigError("no file was chosen", "Choose the file and send the form again.")
        attestation = _read_attestation(benchmark, call)
        check_may_hold(benchmark, attestation)
        is_replacing = holds_data(desk.site.data / benchmark.id)
        if is_replacing and call.get("replace") != "yes":
            raise ConfigError(
                f"{benchmark.id}: this site already has data",
                "Tick that it is to be replaced, and send the form again.",
            )
        source = _name_source(benchmark, call.get("part"), upload)
        added = add_data(
            benchmark, source, desk.site.data, attestation=attestation, replace=is_replacing
        )
    except AgentError as error:
        problem = replace(_list_faults(error), is_upload=True)
        return _draw(desk, call, benchmark, 400, problem=problem)
    detail = (
        f"benchmark={benchmark.id} version={added.record.known} instances={added.record.instances}"
    )
    if attestation is not None:
        detail += f" agreement={attestation.agreement!r} attested_by={attestation.by!r}"
    _record(desk, call, "data added", detail)
    lines = [f"{format_count(added.left_out, 'file')} not copied, because it does not read them"]
    finding = _describe_contents(benchmark, added.contents, "The data was read and added")
    if added.left_out:
        finding = CheckedData(finding.title, (*finding.lines, *lines), finding.warnings)
    return _draw(desk, call, benchmark, finding=finding)


def fetch(desk: Desk, call: Call) -> Response:
    """Queue the download of a public benchmark's data."""
    benchmark = _find_benchmark(desk, call)
    if not call.signed_in.can_enter(Action.QUEUE_JOBS):
        raise ConfigError(
            "your account may not queue jobs", "Data scientists can; ask one of them."
        )
    if not is_fetchable(benchmark):
        raise ConfigError(
            f"{benchmark.id}: its data cannot be downloaded", "Add its files with the form."
        )
    arguments = ["datasets", "fetch", benchmark.id]
    if holds_data(desk.site.data / benchmark.id):
        arguments.append("--replace")
    job = queue_for_caller(desk, call, arguments, f"download of {benchmark.display_name}")
    return desk.confirm(call, f"/jobs/{job.job_id}", "The download is queued.")


def check_again(desk: Desk, call: Call) -> Response:
    """Read all data of a benchmark again, as `benchmarks check` does."""
    benchmark = _find_benchmark(desk, call)
    try:
        contents = read_data(benchmark, desk.site.data)
    except AgentError as error:
        return _draw(desk, call, benchmark, 400, problem=_list_faults(error), verify=True)
    finding = _describe_contents(benchmark, contents, "All data was read again")
    return _draw(desk, call, benchmark, finding=finding, verify=True)


def ask_to_remove(desk: Desk, call: Call) -> Response:
    """Show what the removal of a benchmark's data would take."""
    benchmark = _find_benchmark(desk, call)
    if not holds_data(desk.site.data / benchmark.id):
        raise ConfigError(
            f"{benchmark.id}: this site has no data of it", "There is nothing to remove."
        )
    return desk.draw(
        "data_remove.html",
        call,
        benchmark=benchmark,
        state=check_data(benchmark, desk.site.data),
        registered=_describe_registered(desk, benchmark),
    )


def remove(desk: Desk, call: Call) -> Response:
    """Remove a benchmark's data."""
    benchmark = _find_benchmark(desk, call)
    for job in desk.store.jobs.list_open():
        names_it = any(benchmark.id in argument for argument in job.arguments)
        if job.state is not JobState.QUEUED and names_it:
            raise ConfigError(
                "a job is running that reads this data", "Wait until it has ended, or cancel it."
            )
    count = remove_data(benchmark, desk.site.data)
    _record(desk, call, "data removed", f"benchmark={benchmark.id} files={count}")
    words = f"The data is removed: {format_count(count, 'file')}."
    return desk.confirm(call, f"/benchmarks/{benchmark.id}", words)


def _find_benchmark(desk: Desk, call: Call) -> Benchmark:
    """Return the benchmark of a route. Raises ConfigError."""
    benchmarks, _ = survey_benchmarks(desk.site.own_benchmarks)
    benchmark = benchmarks.get(call.path["benchmark_id"])
    if benchmark is None:
        raise ConfigError("there is no such benchmark", "Choose one from the list of benchmarks.")
    return benchmark


def _draw(
    desk: Desk,
    call: Call,
    benchmark: Benchmark,
    status: int = 200,
    *,
    problem: Problem | None = None,
    finding: CheckedData | None = None,
    verify: bool = False,
) -> Response:
    caller = call.signed_in
    state = check_data(benchmark, desk.site.data, verify=verify)
    can_add = caller.can_enter(Action.ADD_DATA)
    return desk.draw(
        "benchmark_page.html",
        call,
        status,
        benchmark=benchmark,
        state=state,
        state_words=_STATES[state.state],
        is_ready=state.state in (READY, SAMPLE),
        has_data=holds_data(desk.site.data / benchmark.id),
        detail=_describe_detail(state),
        registered=_describe_registered(desk, benchmark),
        facts=list_facts(benchmark),
        metrics=list(list_metrics(benchmark)),
        files=list(list_files(benchmark)),
        passages=list(list_passages(benchmark)),
        entry=next(iter(list_subsets(benchmark)), ""),
        parts=_list_parts(benchmark),
        archive_only=_needs_archive(benchmark),
        attestation=describe_attestation(benchmark) if benchmark.access == "gated" else "",
        filled={name: call.get(name) for name in _FIELDS},
        fetchable=is_fetchable(benchmark),
        largest=format_size(LARGEST_UPLOAD),
        endings=(*_ENDINGS, *_ARCHIVES),
        problem=problem,
        finding=finding,
        can_add=can_add,
        can_fetch=can_add and caller.can_enter(Action.QUEUE_JOBS),
        can_queue=caller.can_enter(Action.QUEUE_JOBS),
    )


def _describe_detail(state: DataState) -> str:
    """Return what is known about data that is there; what is missing is said by the forms."""
    if state.state in (SAMPLE, "missing"):
        return ""
    if state.instances is None:
        return state.detail
    return f"{format_count(state.instances, 'instance')}; {state.detail}"


def _describe_registered(desk: Desk, benchmark: Benchmark) -> str:
    """Return which version may leave the site in figures; empty for public data, which needs none."""
    if benchmark.access == "public":
        return ""
    try:
        version = find_newest_frozen(benchmark, desk.site.data)
    except BenchmarkError as error:
        return str(error)
    return "no version" if version is None else f"version {version.number}"


def _list_parts(benchmark: Benchmark) -> list[str]:
    """Return the names that a single file may have, if the benchmark has several parts with a file each."""
    needed = [file.name for file in benchmark.files if not file.optional]
    if len(needed) != 1 or "{" not in needed[0] or "*" in needed[0]:
        return []
    names: list[str] = []
    for choice in required_choices(benchmark):
        name = needed[0]
        for argument, value in choice.items():
            name = name.replace(f"{{{argument}}}", value)
        names.append(name)
    return [name for name in dict.fromkeys(names) if "{" not in name]


def _needs_archive(benchmark: Benchmark) -> bool:
    """Return whether a benchmark needs several files, which only an archive can hold."""
    needed = [file.name for file in benchmark.files if not file.optional]
    return len(needed) > 1 or any("*" in name for name in needed)


def _name_source(benchmark: Benchmark, part: str, upload: Upload) -> Path:
    """Give an upload a name of this program's own, and return its path, or that of the folder that contains it.

    Of the name on the sender's computer, only the ending counts, and only if it is in the list.

    Raises:
        ConfigError: the ending is not in the list, the benchmark needs an archive, or an unknown part was chosen.
    """
    sent = upload.sent_name.casefold()
    ending = next((ending for ending in (*_ARCHIVES, *_ENDINGS) if sent.endswith(ending)), "")
    if not ending:
        endings = ", ".join((*_ENDINGS, *_ARCHIVES))
        raise ConfigError(f"the file's name ends in none of {endings}", "Choose another file.")
    if ending in _ARCHIVES:
        return upload.path.rename(upload.path.with_name(f"archive{ending}"))
    if _needs_archive(benchmark):
        names = ", ".join(file.name for file in benchmark.files if not file.optional)
        raise ConfigError(
            f"{benchmark.id}: needs several files: {names}",
            "Send them in one archive, with the folders and names that their owner gave them.",
        )
    parts = _list_parts(benchmark)
    if not parts:
        return upload.path.rename(upload.path.with_name(f"upload{ending}"))
    if part not in parts:
        raise ConfigError("it was not chosen which part the file is", "Choose it from the list.")
    folder = upload.path.with_name("parts")
    target = folder / part
    target.parent.mkdir(parents=True, mode=0o700)
    upload.path.rename(target)
    return folder


def _read_attestation(benchmark: Benchmark, call: Call) -> Attestation | None:
    """Return what the sender attests. Raises ConfigError if it is incomplete."""
    agreement, by = call.get("agreement").strip(), call.get("attested_by").strip()
    if benchmark.access != "gated":
        return None
    if call.get("attest") != "yes" or not agreement or not by:
        raise ConfigError(
            f"{benchmark.id}: its data is gated, and the agreement was not attested",
            "Name the agreement and the person, and tick that it was accepted.",
        )
    if find_unseen(agreement) or find_unseen(by) or len(agreement) > 500 or len(by) > 200:
        raise ConfigError("the agreement and the name must each be one short line", "Shorten them.")
    return Attestation(agreement, by)


def _list_faults(error: AgentError) -> Problem:
    lines = str(error).splitlines()
    shown = lines[:_MOST_PROBLEMS]
    if len(lines) > len(shown):
        shown.append(f"… and {len(lines) - len(shown):,} more of the same kind")
    return Problem(tuple(shown), error.advice)


def _describe_contents(benchmark: Benchmark, contents: DatasetContents, title: str) -> CheckedData:
    lines = [
        f"{format_count(contents.instances, 'instance')}, {describe_version(benchmark, contents.known)}"
    ]
    if any(contents.parts):
        lines += [f"{part}: {count:,}" for part, count in contents.parts.items()]
    if contents.letters:
        counts = ", ".join(f"{letter} {count:,}" for letter, count in contents.letters.items())
        lines.append(f"right options: {counts}")
    lines.append(
        f"longest prompt: {contents.longest:,} characters; all together {contents.characters:,}"
    )
    return CheckedData(title, tuple(lines), _list_warnings(benchmark, contents.problems))


def _list_warnings(benchmark: Benchmark, problems: Sequence[str]) -> tuple[str, ...]:
    # A hospital's own data has no published digest.
    is_own = benchmark.access == "private"
    return tuple(each for each in problems if not (is_own and "published digest" in each))


def _record(desk: Desk, call: Call, event: str, detail: str) -> None:
    desk.store.audit.record(event, detail, by=call.signed_in.account.account_id)
