"""The closed list of what may be logged: every event, with its fields. Nothing else reaches the log.

A field is a count, a duration, a word from a closed list, or an id that means nothing outside the site. None can hold a
text, a name of a person, a file or a host. The one name that a person chose is a deployment's, as it stands in
model_deployments.yaml. `check_field` tests every value once more before it is written, whatever its type claims to be.

The first line of each class's docstring is the event's meaning in docs/monitoring.md.
"""

import logging
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Annotated, Any, ClassVar, Final, Literal, get_args, get_origin, get_type_hints

from agent.io.packaged import shipped

Count = Annotated[int, "count"]
Code = Annotated[int, "code"]
"""An exit code, or the status of an HTTP answer."""
Seconds = Annotated[float, "seconds"]
Flag = Annotated[bool, "flag"]
Id = Annotated[str, "id"]
"""The id of a job, run, account or schedule: 16 hex digits."""
Digest = Annotated[str, "digest"]
DeploymentName = Annotated[str, "deployment"]
BenchmarkName = Annotated[str, "benchmark"]
CommandName = Annotated[str, "command"]
RoutePath = Annotated[str, "route"]
ErrorName = Annotated[str, "error"]
LibraryName = Annotated[str, "library"]

WITHHELD: Final = "withheld"
"""Stands in the log for a value that its field may not have."""
OWN_BENCHMARK: Final = "own"
"""Stands for every benchmark that is not shipped, because its name is the hospital's own."""
_LARGEST: Final = 2**53
_HIGHEST_CODE: Final = 999
_LONGEST_S: Final = 1e10
_ID: Final = re.compile(r"[0-9a-f]{16}")
_DIGEST: Final = re.compile(r"[0-9a-f]{12,64}")
_DEPLOYMENT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+@-]*(/[A-Za-z0-9._+@-]+){0,3}")
_LONGEST_NAME: Final = 100
# Packages that the agent imports, which may warn of something.
_LIBRARIES: Final = frozenset(
    {
        "alembic",
        "asyncio",
        "authlib",
        "concurrent",
        "fastapi",
        "httpcore",
        "httpx",
        "joserfc",
        "openpyxl",
        "pandas",
        "presidio-analyzer",
        "python_multipart",
        "spacy",
        "stamina",
        "starlette",
        "torch",
        "transformers",
        "uvicorn",
    }
)
_known_names: dict[str, frozenset[str]] = {}


def make_known(kind: Literal["command", "route"], names: Iterable[str]) -> None:
    """Make known which commands or routes there are; no other can be logged."""
    _known_names[kind] = frozenset(names)


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < _LARGEST


def _is_code(value: object) -> bool:
    return type(value) is int and abs(value) <= _HIGHEST_CODE


def _is_seconds(value: object) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and 0 <= value < _LONGEST_S  # type: ignore[arg-type, operator]


def _is_flag(value: object) -> bool:
    return type(value) is bool


def is_id(value: str) -> bool:
    """Return whether a text is the id of a job, run, account or schedule."""
    return _ID.fullmatch(value) is not None


def _is_digest(value: str) -> bool:
    return _DIGEST.fullmatch(value) is not None


def _is_deployment(value: str) -> bool:
    return len(value) <= _LONGEST_NAME and _DEPLOYMENT.fullmatch(value) is not None


@cache
def _list_shipped_benchmarks() -> frozenset[str]:
    return frozenset(path.parent.name for path in shipped("benchmarks").glob("*/benchmark.yaml"))


def name_benchmark(benchmark_id: str) -> BenchmarkName:
    """Return the id of a shipped benchmark, or "own"."""
    return benchmark_id if benchmark_id in _list_shipped_benchmarks() else OWN_BENCHMARK


def _is_benchmark(value: str) -> bool:
    return value == OWN_BENCHMARK or value in _list_shipped_benchmarks()


def name_library(logger: str) -> LibraryName:
    """Return the package whose logger has this name, or "other"."""
    package = logger.partition(".")[0]
    return package if package in _LIBRARIES else "other"


def _is_library(value: str) -> bool:
    return value == "other" or value in _LIBRARIES


def _is_error(value: str) -> bool:
    """Return whether this is the name of a class of exceptions, which only code can define."""
    waiting: list[type[BaseException]] = [BaseException]
    while waiting:
        kind = waiting.pop()
        if kind.__name__ == value:
            return True
        waiting += type.__subclasses__(kind)
    return False


def _check_text(is_allowed: Callable[[str], bool]) -> Callable[[object], bool]:
    """Return a check of texts that refuses everything else, also a kind of text that claims to equal any other."""
    return lambda value: type(value) is str and is_allowed(value)


_CHECKS: Final[Mapping[str, Callable[[object], bool]]] = {
    "count": _is_count,
    "code": _is_code,
    "seconds": _is_seconds,
    "flag": _is_flag,
    "id": _check_text(is_id),
    "digest": _check_text(_is_digest),
    "deployment": _check_text(_is_deployment),
    "benchmark": _check_text(_is_benchmark),
    "command": _check_text(lambda value: value in _known_names.get("command", ())),
    "route": _check_text(lambda value: value in _known_names.get("route", ())),
    "error": _check_text(_is_error),
    "library": _check_text(_is_library),
}


@dataclass(frozen=True)
class Event:
    """Something that happened. A field that is None is left out of the line."""

    LEVEL: ClassVar[int] = logging.INFO

    @property
    def level(self) -> int:
        """The level at which it is logged."""
        return self.LEVEL


# Commands


@dataclass(frozen=True)
class CommandStarted(Event):
    """A command of `intramural` was started; `uid` is the number of the system's account."""

    command: CommandName
    uid: Count | None = None


@dataclass(frozen=True)
class CommandEnded(Event):
    """A command ended; its exit code says how."""

    command: CommandName
    exit_code: Code
    seconds: Seconds


# Runs


@dataclass(frozen=True)
class ServerProbed(Event):
    """A model server was probed before a run; unusable ones are not asked."""

    deployment: DeploymentName
    usable: Flag


@dataclass(frozen=True)
class RunStarted(Event):
    """A run begins to ask for the answers that are not stored yet."""

    run: Id
    deployment: DeploymentName
    benchmark: BenchmarkName
    instances: Count


@dataclass(frozen=True)
class RunEnded(Event):
    """A run has asked, scored and judged; `failed` instances have no answer and are asked again by the next command."""

    run: Id
    deployment: DeploymentName
    benchmark: BenchmarkName
    asked: Count
    stored: Count
    failed: Count
    unscored: Count
    seconds: Seconds


@dataclass(frozen=True)
class RunStopped(Event):
    """A run ended early, by an error or Ctrl-C; what was answered is stored."""

    run: Id
    deployment: DeploymentName
    benchmark: BenchmarkName
    error: ErrorName
    seconds: Seconds


@dataclass(frozen=True)
class JudgingEnded(Event):
    """The jury was asked about a run's answers; `open` answers still lack a judge's reply."""

    run: Id
    judges: Count
    asked: Count
    answers: Count
    open: Count
    seconds: Seconds


SilenceManner = Literal["no_connection", "no_reply_in_time"]


@dataclass(frozen=True)
class ServerSilent(Event):
    """A model server or judge has stopped answering."""

    deployment: DeploymentName
    manner: SilenceManner


@dataclass(frozen=True)
class ServerGivenUp(Event):
    """A model server or judge was silent for too long; its questions are left for the next command."""

    deployment: DeploymentName
    manner: SilenceManner


@dataclass(frozen=True)
class ServerBack(Event):
    """A model server or judge answers again."""

    deployment: DeploymentName
    seconds: Seconds


AttemptOutcome = Literal["reply", "timeout", "unreachable", "broken", "too_long"]


@dataclass(frozen=True)
class RequestSent(Event):
    """One attempt to ask a model server or judge."""

    LEVEL: ClassVar[int] = logging.DEBUG

    deployment: DeploymentName
    outcome: AttemptOutcome
    status: Code | None
    seconds: Seconds


# Model servers that the agent starts


@dataclass(frozen=True)
class ModelServerStarted(Event):
    """The agent started a model server, and it answers."""

    deployment: DeploymentName
    seconds: Seconds


@dataclass(frozen=True)
class ModelServerFailed(Event):
    """A model server that the agent started did not become ready."""

    deployment: DeploymentName
    error: ErrorName
    seconds: Seconds


@dataclass(frozen=True)
class ModelServerStopped(Event):
    """The agent stopped a model server that it had started."""

    deployment: DeploymentName


# The queue


@dataclass(frozen=True)
class JobQueued(Event):
    """A command line was added to the queue, by an account of the service, a schedule or in a terminal."""

    queued_job: Id
    by: Literal["account", "schedule", "terminal"]
    account: Id | None
    private: Flag


@dataclass(frozen=True)
class JobStarted(Event):
    """A job of the queue began to run."""

    started_job: Id
    attempt: Count


JobEnd = Literal["queued", "running", "cancelling", "done", "failed", "cancelled"]


@dataclass(frozen=True)
class JobEnded(Event):
    """A job of the queue stopped running; a state of `queued` means that it will be resumed."""

    ended_job: Id
    state: JobEnd
    exit_code: Code | None
    seconds: Seconds | None

    @property
    def level(self) -> int:
        """The level at which it is logged."""
        return logging.WARNING if self.state == "failed" else logging.INFO


@dataclass(frozen=True)
class QueueStopped(Event):
    """The queue stands still, because of an error of the site's store or settings."""

    LEVEL: ClassVar[int] = logging.WARNING

    error: ErrorName


@dataclass(frozen=True)
class QueueResumed(Event):
    """The queue is worked off again."""

    LEVEL: ClassVar[int] = logging.WARNING


# The service


@dataclass(frozen=True)
class ServiceStarted(Event):
    """`intramural serve` is ready; says whether only this machine can reach it, and whether it uses TLS itself."""

    loopback: Flag
    tls: Flag


@dataclass(frozen=True)
class ServiceStopped(Event):
    """`intramural serve` ended."""

    seconds: Seconds


RequestMethod = Literal["GET", "HEAD", "POST", "DELETE", "other"]


@dataclass(frozen=True)
class RequestAnswered(Event):
    """The service answered a request for a page or of a program."""

    LEVEL: ClassVar[int] = logging.DEBUG

    method: RequestMethod
    route: RoutePath
    status: Code
    seconds: Seconds


@dataclass(frozen=True)
class PageFailed(Event):
    """A page could not be shown, because of an unexpected error: a bug."""

    LEVEL: ClassVar[int] = logging.WARNING

    route: RoutePath
    error: ErrorName


@dataclass(frozen=True)
class ClockSetBack(Event):
    """The machine's clock went back, so all sessions of the service were ended."""

    LEVEL: ClassVar[int] = logging.WARNING

    sessions: Count


# What leaves the site, and what is deleted


StatementKind = Literal[
    "result", "dataset", "plan", "withdraw", "abandon", "rotate", "reset", "enroll"
]


@dataclass(frozen=True)
class StatementSent(Event):
    """A signed statement was sent to the aggregator; without a receipt, it waits for the central team."""

    digest: Digest
    kind: StatementKind
    receipt: Flag
    seconds: Seconds


@dataclass(frozen=True)
class StatementNotSent(Event):
    """A signed statement was refused, or the aggregator could not be reached; it is kept."""

    digest: Digest
    kind: StatementKind
    error: ErrorName
    seconds: Seconds


@dataclass(frozen=True)
class AlertSent(Event):
    """An alert was delivered."""

    channel: Literal["webhook", "mail"]
    events: Count


@dataclass(frozen=True)
class AlertNotSent(Event):
    """An alert was not delivered; it is tried again until its time is over."""

    LEVEL: ClassVar[int] = logging.WARNING

    channel: Literal["webhook", "mail"]
    error: ErrorName
    given_up: Flag


@dataclass(frozen=True)
class AlertsWait(Event):
    """Alerts cannot be noticed or sent now, because of an error of the site's store or outbox."""

    LEVEL: ClassVar[int] = logging.WARNING

    error: ErrorName


@dataclass(frozen=True)
class TextsPurged(Event):
    """Stored texts were deleted because of their age."""

    texts: Count
    older_than_days: Count


@dataclass(frozen=True)
class CopyWritten(Event):
    """A copy of the whole site was written."""

    copy: Id
    files: Count
    bytes: Count
    has_keys: Flag
    seconds: Seconds


@dataclass(frozen=True)
class SiteRestored(Event):
    """A site was restored from a copy."""

    copy: Id
    files: Count
    seconds: Seconds


# The log itself


@dataclass(frozen=True)
class LibraryWarned(Event):
    """A library warned of something. Its words are left out, because they may quote anything."""

    LEVEL: ClassVar[int] = logging.WARNING

    library: LibraryName
    error: ErrorName | None


@dataclass(frozen=True)
class LogFileUnusable(Event):
    """The file of `log_file` cannot be written, so the log goes to standard error until it can."""

    LEVEL: ClassVar[int] = logging.WARNING

    error: ErrorName


EVENTS: Final[tuple[type[Event], ...]] = tuple(Event.__subclasses__())
"""The closed list."""


def name_event(kind: type[Event]) -> str:
    """Return an event's name in the log, such as "run_ended"."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


_checks: dict[str, Mapping[str, Callable[[object], bool]]] = {}


def list_fields(kind: type[Event]) -> Mapping[str, Callable[[object], bool]]:
    """Return the fields of an event, each with the function that checks its values."""
    if kind.__name__ not in _checks:
        hints = get_type_hints(kind, include_extras=True)
        checks = {field.name: _choose_check(hints[field.name]) for field in fields(kind)}
        _checks[kind.__name__] = checks
    return _checks[kind.__name__]


def describe_field_type(kind: type[Event], name: str) -> str:
    """Return what a field holds, in a word, for the documentation."""
    hint = _strip_none(get_type_hints(kind, include_extras=True)[name])
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(f"`{word}`" for word in get_args(hint))
    return str(get_args(hint)[1])


def _choose_check(hint: Any) -> Callable[[object], bool]:
    hint = _strip_none(hint)
    if get_origin(hint) is Literal:
        words = get_args(hint)
        return _check_text(lambda value: value in words)
    return _CHECKS[get_args(hint)[1]]


def _strip_none(hint: Any) -> Any:
    """Return the type of an optional field without its None."""
    options = [option for option in get_args(hint) if option is not type(None)]
    is_optional = type(None) in get_args(hint) and get_origin(hint) is not Literal
    return options[0] if is_optional else hint


def write_context(context: Mapping[str, str]) -> dict[str, object]:
    """Return the fields that every line of a process has: the ids of a job and an account."""
    is_allowed = _CHECKS["id"]
    return {name: value if is_allowed(value) else WITHHELD for name, value in context.items()}


def write_fields(event: Event) -> dict[str, object]:
    """Return the fields of an event as they are written, each checked once more."""
    written: dict[str, object] = {}
    for name, is_allowed in list_fields(type(event)).items():
        value = getattr(event, name)
        if value is None:
            continue
        if not is_allowed(value):
            value = WITHHELD
        written[name] = round(value, 3) if isinstance(value, float) else value
    return written
