"""The content of a support bundle: versions, codes and counts.

Everything is from a closed list or is a number: names of checks, tables, events and settings are the program's own.
Nothing that a person at the site has typed, and no text of a record, can be in it. Each part is made for itself, so
that a broken site still gives the others.
"""

import importlib.metadata
import json
import os
import platform
import re
import sqlite3
import ssl
import stat
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin

from agent import __version__
from agent.errors import AgentError
from agent.inference.capabilities import FeatureName
from agent.io.disk_room import find_room
from agent.io.packaged import shipped
from agent.io.strict_yaml import parse_yaml
from agent.site.directory import Site

FORMAT: Final = 1
_LONGEST_LOG: Final = 4 * 1024 * 1024  # bytes at the end of the log that are read
_HIGHEST_CODE: Final = 255  # of a process; another number could mean anything
_SYSTEMS: Final = frozenset(
    "almalinux alpine amzn arch centos debian fedora ol opensuse-leap rhel rocky sles ubuntu".split()  # noqa: SIM905
)
_CHECKS: Final = frozenset(
    {
        *(
            "settings",
            "environment",
            "site directory",
            "data key",
            "seal key",
            "agent key",
            "store",
            "disk",
        ),
        *("queue", "benchmarks", "redaction", "BERTScore", "disclosure policy", "approval"),
        *("outgoing", "ca_bundle", "proxy", "service", "accounts", "OpenID provider"),
        *(
            "trusted proxy",
            "alerts",
            "deployments",
            "aggregator",
            "jury",
            "clock",
            "copies",
            "restored",
        ),
    }
)
"""Checks of `intramural doctor` whose subject names nothing."""
_DETAILS: Final = frozenset(
    {
        *("ca_bundle", "proxy", "clock", "replicas", "context window", "answer", "ways of asking"),
        *(name.replace("_", " ") for name in get_args(FeatureName)),
    }
)
_FOR_TESTS: Final = 'extra == "test"'
_VERSION: Final = re.compile(r"\d+(\.\d+){0,4}((a|b|rc|\.post|\.dev)\d+)?")

Content = dict[str, Any]


def collect_content(site: Site) -> Content:
    """Return the content of a site's bundle."""
    parts: Mapping[str, Callable[[Site], Content]] = {
        "versions": _describe_versions,
        "machine": _describe_machine,
        "settings": _describe_settings,
        "files": _describe_files,
        "store": _describe_store,
        "queue": _describe_queue,
        "runs": _describe_runs,
        "statements": _describe_statements,
        "log": _describe_log,
        "checks": _describe_checks,
    }
    content: Content = {"format": FORMAT, "made_at": int(time.time())}
    for name, describe in parts.items():
        content[name] = _try(lambda describe=describe: describe(site))  # type: ignore[misc]
    return content


def _try(describe: Callable[[], Content]) -> Content:
    """Return a part, or the class of the error that kept it from being made."""
    try:
        return describe()
    except Exception as error:  # noqa: BLE001 (the bundle is made of broken sites, too)
        found: Content = {"error": type(error).__name__}
        if isinstance(error, AgentError):
            found["exit_code"] = error.exit_code
        return found


def _describe_versions(site: Site) -> Content:
    del site
    packages = {}
    for requirement in importlib.metadata.requires("intramural") or ():
        if _FOR_TESTS in requirement:
            continue
        name = re.split(r"[\s\[<>=;!~]", requirement, maxsplit=1)[0]
        packages[name] = _find_version(name)
    return {
        "intramural": _cut_version(__version__),
        "python": _cut_version(platform.python_version()),
        "sqlite": sqlite3.sqlite_version,
        "openssl": _cut_version(ssl.OPENSSL_VERSION.partition(" ")[2]),
        "packages": packages,
    }


def _find_version(package: str) -> str | None:
    try:
        return _cut_version(importlib.metadata.version(package))
    except importlib.metadata.PackageNotFoundError:
        return None


def _cut_version(version: str) -> str:
    """Return a version without the part that whoever built the package may have chosen."""
    match = _VERSION.match(version)
    return match[0] if match else "unknown"


def _describe_machine(site: Site) -> Content:
    content: Content = {
        "system": sys.platform,
        "kernel": _cut_version(platform.release()),
        "processors": os.cpu_count(),
        "is_64_bit": sys.maxsize > 2**32,
        "time_zone_hours": -time.timezone / 3600,
    }
    release = _read_release()
    system = release.get("ID", "")
    content["distribution"] = system if system in _SYSTEMS else "other"
    content["distribution_version"] = _cut_version(release.get("VERSION_ID", ""))
    if hasattr(os, "sysconf"):
        content["memory_bytes"] = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if site.directory.is_dir():
        room = find_room(site.directory)
        content["disk"] = {"free_bytes": room.free, "size_bytes": room.total}
    return content


def _read_release() -> dict[str, str]:
    try:
        return platform.freedesktop_os_release()
    except OSError:
        return {}


def _describe_settings(site: Site) -> Content:
    """Return which settings are given; values only of numbers, of yes or no, and of words from a closed list."""
    from agent.site.environment import find_variable
    from agent.site.settings import Settings

    given = parse_yaml((site.directory / "site.yaml").read_bytes(), Path("site.yaml"), AgentError)
    names = set(given) if isinstance(given, dict) else set()
    variables = [name for name in Settings.model_fields if find_variable(name)]
    content: Content = {
        "given": sorted(names & set(Settings.model_fields)),
        "given_by_environment": sorted(variables),
        "unknown": len(names - set(Settings.model_fields)),
    }
    return content | {"values": _try(lambda: _list_values(site, [*content["given"], *variables]))}


def _list_values(site: Site, names: Iterable[str]) -> Content:
    from agent.site.settings import Settings

    settings = site.settings
    values: Content = {}
    for name in names:
        if _names_nothing(Settings.model_fields[name].annotation):
            values[name] = getattr(settings, name)
    policies = {path.stem for path in shipped("policies").glob("*/*.yaml")}
    for name in ("redaction_policy", "disclosure_policy"):
        policy = getattr(settings, name)
        values[name] = policy if policy in policies else "own"
    return values


def _names_nothing(annotation: Any) -> bool:
    """Return whether every value of a type is a number, yes or no, or a word of the program."""
    if get_origin(annotation) is Literal:
        return True
    options = [each for each in get_args(annotation) if each is not type(None)] or [annotation]
    return all(option in (bool, int, float) for option in options)


def _describe_files(site: Site) -> Content:
    """Return how many files there are, and who may read the keys; no names but the program's own."""
    content: Content = {"site_mode": f"{stat.S_IMODE(site.directory.stat().st_mode):o}"}
    for name in ("data.key", "seal.key", "agent.key"):
        path = site.keys / name
        content[name] = f"{stat.S_IMODE(path.stat().st_mode):o}" if path.exists() else "missing"
    folders = {
        "data": site.data,
        "benchmarks": site.directory / "benchmarks",
        "plugins": site.plugins,
        "submissions": site.submissions,
        "jobs": site.jobs,
        "servers": site.servers,
        "transfers": site.transfers,
    }
    for name, folder in folders.items():
        sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
        content[name] = {"files": len(sizes), "bytes": sum(sizes)}
    content["own_judges"] = site.judges.is_file()
    return content


def _describe_store(site: Site) -> Content:
    import agent.store

    migrations = Path(agent.store.__file__).parent / "migrations"
    tables: set[str] = set()
    for script in migrations.glob("*.sql"):
        tables.update(re.findall(r"CREATE TABLE (\w+)", script.read_text("utf-8")))
    with site.store() as store:
        connection = store.database.connection
        present = {
            row[0] for row in connection.execute("SELECT name FROM sqlite_master").fetchall()
        }
        rows = {}
        for table in sorted(tables & present):
            query = f'SELECT COUNT(*) FROM "{table}"'  # noqa: S608 (a name of our own scripts)
            rows[table] = connection.execute(query).fetchone()[0]
        return {
            "version": connection.execute("PRAGMA user_version").fetchone()[0],
            "bytes": store.database.path.stat().st_size,
            "journal": connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal",
            "rows": rows,
            "clock_setback_s": max(0, store.clock.read_latest() - int(time.time())),
            "has_clock_fault": store.clock.find_fault() is not None,
        }


def _describe_queue(site: Site) -> Content:
    from agent.jobs.dispatcher import is_dispatched

    with site.store() as store:
        counts = store.jobs.count_states()
        ended = store.jobs.list_recent(1000)
        schedules = len(store.jobs.list_schedules())
    codes = Counter(str(job.exit_code) for job in ended if job.exit_code)
    return {
        "is_dispatched": is_dispatched(site),
        "jobs": {state.value: count for state, count in counts.items()},
        "exit_codes": dict(codes),
        "lost": sum(job.exit_code is None and job.state.value == "failed" for job in ended),
        "schedules": schedules,
    }


def _describe_runs(site: Site) -> Content:
    from agent.monitoring.events import name_benchmark

    with site.store() as store:
        runs = store.runs.select()
    return {
        "benchmarks": dict(Counter(name_benchmark(run.benchmark) for run in runs)),
        "suites": len({run.suite for run in runs}),
        "models": len({run.model for run in runs}),
        "imported": sum(bool(run.imported) for run in runs),
    }


def _describe_statements(site: Site) -> Content:
    from agent.delivery.membership import Federation
    from agent.delivery.outbox import Outbox

    submissions = Outbox(site.submissions).list_submissions()
    return {
        "is_member": Federation(site.submissions).is_member,
        "states": dict(Counter(each.state.value for each in submissions)),
        "kinds": dict(Counter(each.kind for each in submissions)),
    }


def _describe_log(site: Site) -> Content:
    """Return how often each event is in the log's file, and how commands ended."""
    from agent.monitoring.events import EVENTS, name_event

    path = site.settings.log_file
    if path is None:
        return {"file": False}
    known = {name_event(kind) for kind in EVENTS}
    events: Counter[str] = Counter()
    codes: Counter[str] = Counter()
    for line in _read_last_lines(path):
        event = line.get("event")
        if event in known:
            events[event] += 1
            code = line.get("exit_code")
            if event == "command_ended" and type(code) is int and 0 <= code <= _HIGHEST_CODE:
                codes[str(code)] += 1
    return {"file": True, "events": dict(events), "exit_codes": dict(codes)}


def _read_last_lines(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield what the lines at the end of a log say, be they text or JSON."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _LONGEST_LOG))
        data = file.read()
    for line in data.splitlines():
        if not line.startswith(b"{"):
            yield _read_words(line)
            continue
        try:
            parsed = json.loads(line)
        except ValueError:
            continue
        if isinstance(parsed, dict):
            yield parsed


def _read_words(line: bytes) -> Mapping[str, Any]:
    """Return the event of a line of text, with its exit code if it has one."""
    words = line.decode("utf-8", "replace").split(" ")
    found: dict[str, Any] = {"event": words[2] if len(words) > 2 else ""}
    for word in words[3:]:
        name, _, value = word.partition("=")
        if name == "exit_code" and value.isascii() and value.isdigit():
            found[name] = int(value)
    return found


def _describe_checks(site: Site) -> Content:
    """Return the outcomes of `intramural doctor`: which kind of check ended how, and how often."""
    from agent.cli.doctor import examine

    counts: dict[str, Counter[str]] = {}
    for check in examine(site):
        code = f"{check.verdict} {check.exit_code}" if check.exit_code else check.verdict
        counts.setdefault(_classify(check.subject), Counter())[code] += 1
    return {name: dict(outcomes) for name, outcomes in counts.items()}


def _classify(subject: str) -> str:
    """Return the kind of a check, without what it names."""
    if subject in _CHECKS:
        return subject
    for kind in ("benchmark", "own metric"):
        if subject.startswith(f"{kind} "):
            return kind
    detail = subject.rpartition(", ")[2]
    return f"server, {detail}" if detail in _DETAILS else "server"
