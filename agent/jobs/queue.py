"""Queue command lines. Every fault that can be found without asking a server is reported here, not hours later."""

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from agent.catalog.run_entries import CONFIGURABLE
from agent.errors import ConfigError
from agent.io.wording import format_count
from agent.jobs.command_lines import CommandLine, read_command_line
from agent.jobs.cron import check_cron
from agent.jobs.known_commands import find_commands
from agent.jobs.needed_servers import find_servers, list_entries
from agent.monitoring.events import JobQueued
from agent.monitoring.log import log_event
from agent.runs.plan import check_suite_name
from agent.site.directory import Site
from agent.store import COMMAND_LINE, Job, QueuedCommand, Schedule, Store
from agent.vocabulary import RunEntry

_SHOWN_NAMES = 3  # names of benchmarks or models in a title


def prepare_command(
    site: Site,
    arguments: Sequence[str],
    *,
    title: str = "",
    account: str = COMMAND_LINE,
    folder: Path | None = None,
    files_allowed: bool = False,
) -> QueuedCommand:
    """Check a command line that is to be queued, and find the servers that it needs.

    Args:
        site: the site.
        arguments: the command line after `--site DIR`.
        title: a description for people; empty for one made from the command line. It must not contain text of a record.
        account: the account that queues it.
        folder: the folder from which relative paths start; None for the current one.
        files_allowed: whether the command line may name files of this machine and addresses of servers. Only for
            someone who has an account on it.

    Raises:
        ConfigError: the command may not be queued; or an option, run entry, deployment or jury is wrong.
        BenchmarkError: a benchmark's definition is wrong.
    """
    line = read_command_line(site, find_commands(), arguments, files_allowed=files_allowed)
    if line.words == ("run",):
        check_suite_name(line.suite or "default")
    return QueuedCommand(
        arguments=tuple(arguments),
        title=title or _describe(line),
        account=account,
        servers=find_servers(site, line),
        folder=str((folder or Path.cwd()).absolute()),
        suite=line.suite,
        whole_suite=line.takes_whole_suite,
        private=bool(line.options.get("private")),
    )


def queue_job(
    site: Site,
    arguments: Sequence[str],
    *,
    title: str = "",
    account: str = COMMAND_LINE,
    folder: Path | None = None,
    files_allowed: bool = False,
) -> Job:
    """Append a command line to the queue; see `prepare_command`.

    Raises:
        ConfigError, BenchmarkError: see `prepare_command`; nothing was queued.
        StoreError: the store cannot be written.
    """
    command = prepare_command(
        site,
        arguments,
        title=title,
        account=account,
        folder=folder,
        files_allowed=files_allowed,
    )
    with site.store() as store:
        return _add_job(store, command)


def retry_job(store: Store, job: Job, account: str = COMMAND_LINE) -> Job:
    """Queue an ended job again. It resumes where it stopped, because stored answers are never requested again.

    Raises:
        ConfigError: the job has not ended.
    """
    if job.state.is_open:
        raise ConfigError(
            f"job {job.job_id} is {job.state.value}", "Wait until it has ended, or cancel it."
        )
    command = QueuedCommand(
        arguments=job.arguments,
        title=job.title,
        account=account,
        servers=job.servers,
        folder=job.command.folder,
        suite=job.command.suite,
        whole_suite=job.command.whole_suite,
        private=job.command.private,
    )
    return _add_job(store, command)


def _add_job(store: Store, command: QueuedCommand) -> Job:
    job = store.jobs.add(command, time.time())
    is_terminal = command.account == COMMAND_LINE
    log_event(
        JobQueued(
            queued_job=job.job_id,
            by="terminal" if is_terminal else "account",
            account=None if is_terminal else command.account,
            private=command.private,
        )
    )
    return job


def add_schedule(
    site: Site,
    cron: str,
    arguments: Sequence[str],
    *,
    title: str = "",
    account: str = COMMAND_LINE,
    folder: Path | None = None,
    files_allowed: bool = False,
) -> Schedule:
    """Have a command line queued at the times of a cron expression.

    Raises:
        ConfigError, BenchmarkError: the expression is wrong, or see `prepare_command`; nothing was stored.
        StoreError: the store cannot be written.
    """
    cron = check_cron(cron)
    command = prepare_command(
        site,
        arguments,
        title=title,
        account=account,
        folder=folder,
        files_allowed=files_allowed,
    )
    with site.store() as store:
        return store.jobs.add_schedule(cron, command, time.time())


def _describe(line: CommandLine) -> str:
    """Return a title for a command line."""
    if line.words != ("run",):
        words = " ".join(line.words)
        return f"{words}: suite {line.suite}" if line.suite else words
    benchmarks: Counter[str] = Counter()
    models: Counter[str] = Counter()
    for entry in list_entries(line.options):
        benchmarks[_name_benchmark(entry)] += 1
        models[entry.model_deployment or entry.model] += 1
    return (
        f"run: {_list_names(benchmarks, 'benchmark')} on {_list_names(models, 'model')}, "
        f"suite {line.suite}"
    )


def _name_benchmark(entry: RunEntry) -> str:
    """Return the name of an entry's benchmark: that of its file, if it is defined in one."""
    config = entry.arguments.get("config_path")
    return Path(config).stem if config and entry.benchmark == CONFIGURABLE else entry.benchmark


def _list_names(names: Counter[str], noun: str) -> str:
    if len(names) > _SHOWN_NAMES:
        return format_count(len(names), noun)
    return ", ".join(names)
