"""The one word or phrase by which pages call each code: reasons, faults, states, kinds, roles and rules.

Codes stand in the store, in files and on the command line; pages show these words and nothing else. Pure.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from agent.access.roles import Action
from agent.disclosure.record_check import AuditOutcome
from agent.jury.verdict import Fault
from agent.keys import KeyRole
from agent.metrics import METRICS
from agent.store import JobState, Origin, Role
from agent.vocabulary import Reason

Words = Mapping[str, str]

REASONS: Final[Words] = {
    Reason.EMPTY: "empty",
    Reason.UNPARSED: "unparsed",
    Reason.LENGTH: "cut off",
    Reason.CONTENT_FILTER: "filtered",
    Reason.CONTEXT_LENGTH: "prompt too long",
    Reason.SERVER_ERROR: "server error",
    Reason.BAD_REPLY: "invalid reply",
    Reason.TIMEOUT: "timed out",
    Reason.UNREACHABLE: "server unreachable",
    Reason.NO_REFERENCE: "no reference",
    Reason.NOT_APPLICABLE: "not applicable",
    Reason.NOT_ASKED: "not asked yet",
    Reason.NOT_JUDGED: "not judged yet",
    Reason.NO_QUORUM: "too few verdicts",
    Reason.NOT_MEASURED: "not measured yet",
    Reason.METRIC_FAILED: "metric failed",
    Reason.NOT_IMPORTED: "not in the import",
}
"""Why an instance has no score; `reasons.py` has a sentence for each."""

FAULTS: Final[Words] = {
    Fault.NO_TEXT: "empty reply",
    Fault.CUT_OFF: "cut off",
    Fault.FILTERED: "filtered",
    Fault.TOO_LONG: "reply too long",
    Fault.NO_VERDICT: "no verdict",
    Fault.QUOTED: "quotes only",
    Fault.AMBIGUOUS: "several verdicts",
    Fault.DUPLICATE_KEY: "grade given twice",
    Fault.MISSING_CRITERION: "criterion missing",
    Fault.MISSING_FIELD: "field missing",
    Fault.NOT_A_NUMBER: "grade is no number",
    Fault.OUT_OF_RANGE: "grade off the scale",
}
"""Why a judge's reply is no valid verdict. A judge that was not asked or did not reply has a reason instead."""

ENDINGS: Final[Words] = {
    "stop": "the model",
    "length": "its length limit",
    "content_filter": "the server’s filter",
    "other": "the server",
}
"""What ended an answer."""

JOBS: Final[Words] = {
    JobState.QUEUED: "queued",
    JobState.RUNNING: "running",
    JobState.CANCELLING: "being cancelled",
    JobState.DONE: "done",
    JobState.FAILED: "failed",
    JobState.CANCELLED: "cancelled",
}

FEATURES: Final[Words] = {
    "honoured": "works",
    "ignored": "is ignored",
    "refused": "is refused",
    "unknown": "not found out",
}
"""Whether a server has a feature."""

ENTITIES: Final[Words] = {
    "NAME": "name",
    "LOCATION": "place",
    "FACILITY": "facility",
    "ORGANIZATION": "organisation",
    "ADDRESS": "address",
    "ZIP": "postal code",
    "DATE": "date",
    "RELATIVE_DATE": "relative date",
    "AGE": "age of 90 or more",
    "AGE_BELOW_90": "age below 90",
    "PHONE": "telephone or fax number",
    "EMAIL": "e-mail address",
    "SSN": "social security number",
    "MRN": "medical record number",
    "ENCOUNTER": "number of a visit",
    "PLAN": "insurance number",
    "ACCOUNT": "account number",
    "LICENSE": "licence number",
    "VEHICLE": "vehicle",
    "DEVICE": "device",
    "URL": "web address",
    "IP": "IP address",
    "ID": "other number",
    "SEX": "sex",
    "FAMILY": "family",
    "PROFESSION": "profession",
    "NATIONALITY": "nationality",
    "UNKNOWN_WORD": "unknown word",
}
"""Kinds of identifier. The tags in redacted texts keep their own names, such as [NAME-1]."""

ROLES: Final[Words] = {
    Role.VIEWER: "viewer",
    Role.DATA_SCIENTIST: "data scientist",
    Role.STEWARD: "steward",
    Role.ADMINISTRATOR: "administrator",
}

ACTIONS: Final[Words] = {
    Action.MANAGE_OWN_ACCOUNT: "manage the own account",
    Action.VIEW_BOARDS: "see boards and comparisons",
    Action.VIEW_RUNS: "see runs and their figures",
    Action.VIEW_INSTANCES: "read redacted texts",
    Action.REVEAL: "read original texts",
    Action.RATE_ANSWERS: "grade answers",
    Action.VIEW_DATA: "see benchmarks and data",
    Action.ADD_DATA: "add and register data",
    Action.VIEW_MODELS: "see models",
    Action.PROBE_MODELS: "probe models",
    Action.VIEW_JOBS: "see jobs",
    Action.QUEUE_JOBS: "queue jobs",
    Action.CHANGE_JOBS: "cancel and move jobs",
    Action.VIEW_PRIVATE_RUNS: "see private runs",
    Action.DELETE_RUNS: "delete runs",
    Action.EXPORT_TABLES: "download tables",
    Action.PREPARE_SUBMISSIONS: "prepare submissions",
    Action.VIEW_OUTBOX: "see the outbox",
    Action.APPROVE_SUBMISSIONS: "approve submissions",
    Action.SEND_SUBMISSIONS: "send submissions",
    Action.VIEW_RECEIPTS: "see receipts and the ledger",
    Action.REVIEW_REDACTION: "review redaction",
    Action.VIEW_HEALTH: "see the site’s health",
    Action.VIEW_METRICS: "read the metrics",
    Action.CHANGE_SETTINGS: "change settings",
    Action.MANAGE_KEYS: "manage keys",
    Action.MANAGE_ACCOUNTS: "manage accounts",
    Action.VIEW_AUDIT: "read the audit log",
}

ORIGINS: Final[Words] = {
    Origin.LOCAL: "this site",
    Origin.OIDC: "the OpenID provider",
    Origin.PROXY: "the proxy",
}
"""Who checks a person at the sign-in."""

OUTCOMES: Final[Words] = {
    AuditOutcome.MATCH: "matches",
    AuditOutcome.DIFFERENT: "differs",
    AuditOutcome.NOT_CHECKABLE: "cannot be checked",
}

STATEMENTS: Final[Words] = {
    "result": "result",
    "dataset": "dataset",
    "plan": "plan",
    "abandon": "end of a plan",
    "withdraw": "withdrawal",
    "rotate": "new key",
    "reset": "new epoch",
    "clock": "change of the clock",
    "release": "figures",
}
"""Kinds of statements in the outbox, and of entries in the ledger."""

KEY_OWNERS: Final[Words] = {
    KeyRole.AGENT: "agent",
    KeyRole.STEWARD: "steward",
    KeyRole.DATA: "data",
    KeyRole.SEAL: "seal",
}

ABANDONED: Final[Words] = {
    "not_run": "it was not run",
    "failed": "the run failed",
    "superseded": "another plan takes its place",
}
"""Why a plan is given up."""

WITHDRAWN: Final[Words] = {
    "data_error": "the data was wrong",
    "model_error": "the model was another one",
    "scoring_error": "the scores were wrong",
    "consent": "the consent was withdrawn",
    "duplicate": "it was reported twice",
}
"""Why a result is withdrawn."""

SCORINGS: Final[Words] = {
    "intramural": "our rules",
    "helm": "HELM’s rules",
    "both": "our rules and HELM’s",
}

WAYS_OF_ASKING: Final[Words] = {
    "generate": "the model writes its answer freely",
    "constrained": "the server allows only the options",
    "logprob": "the likeliest letter of an option",
    "logprob_text": "the likeliest text of an option",
    "logprob_text_norm": "the likeliest text of an option, by its length",
}

PARSERS: Final[Words] = {
    "text": "the whole answer",
    "option_letter": "the letter of an option",
    "label": "one of the labels",
    "json": "a field of a JSON object",
    "pattern": "what a pattern finds",
}

WORDS: Final[Mapping[str, Words]] = {
    "action": ACTIONS,
    "abandoned": ABANDONED,
    "asking": WAYS_OF_ASKING,
    "ending": ENDINGS,
    "entity": ENTITIES,
    "feature": FEATURES,
    "job": JOBS,
    "key": KEY_OWNERS,
    "origin": ORIGINS,
    "outcome": OUTCOMES,
    "parser": PARSERS,
    "reason": REASONS,
    "role": ROLES,
    "scoring": SCORINGS,
    "statement": STATEMENTS,
    # A seat of a jury lacks a verdict because of its reply, or because there is none.
    "verdict": {**REASONS, **FAULTS},
    "withdrawn": WITHDRAWN,
}
"""All words, by the kind of their codes. Templates name the kind: `code | word("reason")`."""


def find_word(code: str, kind: str) -> str:
    """Return what pages call a code; a code of a later version is spelled out."""
    return WORDS[kind].get(code) or code.replace("_", " ").lower()


def name_metric(name: str) -> str:
    """Return what pages call a metric, as its tables do. A metric of the site's own says its name itself."""
    plain, _, rules = name.partition("@")
    spec = METRICS.get(plain)
    title = plain.removeprefix("own/").replace("_", " ") if spec is None else spec.display_name
    return f"{title} by HELM’s rules" if rules == "helm" else title


def name_figure(subject: str, name_benchmark: Callable[[str], str]) -> str:
    """Return what pages call a figure of a statement.

    Args:
        subject: benchmark and metric, and a subgroup if it is of one, separated by commas, as in a statement.
        name_benchmark: returns what pages call a benchmark, given its id.
    """
    benchmark, _, rest = subject.partition(", ")
    metric, comma, subgroup = rest.partition(", ")
    return f"{name_benchmark(benchmark)}, {name_metric(metric)}{comma}{subgroup}"


def list_words(codes: Iterable[str], kind: str) -> str:
    """Return what pages call these codes, sorted and separated by commas."""
    return ", ".join(sorted(find_word(code, kind) for code in codes))
