"""What each role may do: one table of actions, and the rule that nobody approves their own submission. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from types import MappingProxyType
from typing import Final

from agent.store.stored_accounts import Account, Role


class Action(StrEnum):
    """Something that a person does with the service. Every route of the service names one action."""

    MANAGE_OWN_ACCOUNT = "manage_own_account"
    """Change one's own password, and end one's own sessions and API tokens."""
    VIEW_BOARDS = "view_boards"
    """See leaderboards, comparisons, agreement and calibration: figures only."""
    VIEW_RUNS = "view_runs"
    """See runs and their figures."""
    VIEW_INSTANCES = "view_instances"
    """See prompts, answers and references, redacted."""
    REVEAL = "reveal"
    """See original text. No role includes it: an administrator grants it to an account."""
    RATE_ANSWERS = "rate_answers"
    """Grade the answers of a calibration sample, redacted and blinded."""
    VIEW_DATA = "view_data"
    """See benchmarks and datasets, and what they lack."""
    ADD_DATA = "add_data"
    """Add, check and register dataset files."""
    VIEW_MODELS = "view_models"
    """See models, their servers and the results of probes."""
    PROBE_MODELS = "probe_models"
    """Send the capability probe to a server."""
    VIEW_JOBS = "view_jobs"
    """See the queue, schedules and the progress of jobs."""
    QUEUE_JOBS = "queue_jobs"
    """Queue and schedule jobs."""
    CHANGE_JOBS = "change_jobs"
    """Cancel and reorder jobs, see their logs, and change or end schedules."""
    VIEW_PRIVATE_RUNS = "view_private_runs"
    """See runs that their owner keeps from others."""
    DELETE_RUNS = "delete_runs"
    """Delete a run with its texts."""
    EXPORT_TABLES = "export_tables"
    """Download figures and redacted texts as files."""
    PREPARE_SUBMISSIONS = "prepare_submissions"
    """Draft results, plans and withdrawals."""
    VIEW_OUTBOX = "view_outbox"
    """See what would leave the site, and the verdicts of the gate."""
    APPROVE_SUBMISSIONS = "approve_submissions"
    """Approve or reject a draft. `may_approve` excludes its authors."""
    SEND_SUBMISSIONS = "send_submissions"
    """Send what a steward approved to the aggregator."""
    VIEW_RECEIPTS = "view_receipts"
    """See receipts and the ledger."""
    REVIEW_REDACTION = "review_redaction"
    """Mark misses and false alarms in a review sample, which shows original text."""
    VIEW_METRICS = "view_metrics"
    """Read counts for monitoring systems, which name nothing and nobody."""
    VIEW_HEALTH = "view_health"
    """See whether servers, data, disk and keys are well."""
    CHANGE_SETTINGS = "change_settings"
    """See and change the site's settings."""
    MANAGE_KEYS = "manage_keys"
    """Enrol the site, rotate its keys, reset its chain."""
    MANAGE_ACCOUNTS = "manage_accounts"
    """Add and lock accounts, change roles, grant `reveal`, end sessions and API tokens of others."""
    VIEW_AUDIT = "view_audit"
    """Read the audit log."""


class Reach(Enum):
    """How far a role's permission reaches: to what the account itself owns, or to everything."""

    OWN = auto()
    ALL = auto()


_EVERYONE: Final = {
    Action.MANAGE_OWN_ACCOUNT: Reach.ALL,
    Action.VIEW_BOARDS: Reach.ALL,
    Action.VIEW_RUNS: Reach.ALL,
    Action.VIEW_JOBS: Reach.ALL,
    Action.VIEW_METRICS: Reach.ALL,
}

ALLOWED: Final[Mapping[Role, Mapping[Action, Reach]]] = MappingProxyType(
    {
        Role.VIEWER: {
            **_EVERYONE,
            Action.VIEW_INSTANCES: Reach.ALL,
            Action.VIEW_DATA: Reach.ALL,
            Action.VIEW_MODELS: Reach.ALL,
            Action.RATE_ANSWERS: Reach.ALL,
        },
        Role.DATA_SCIENTIST: {
            **_EVERYONE,
            Action.VIEW_INSTANCES: Reach.ALL,
            Action.VIEW_DATA: Reach.ALL,
            Action.VIEW_MODELS: Reach.ALL,
            Action.VIEW_HEALTH: Reach.ALL,
            Action.RATE_ANSWERS: Reach.ALL,
            Action.ADD_DATA: Reach.ALL,
            Action.PROBE_MODELS: Reach.ALL,
            Action.QUEUE_JOBS: Reach.ALL,
            Action.CHANGE_JOBS: Reach.OWN,
            Action.VIEW_PRIVATE_RUNS: Reach.OWN,
            Action.DELETE_RUNS: Reach.OWN,
            Action.EXPORT_TABLES: Reach.ALL,
            Action.PREPARE_SUBMISSIONS: Reach.ALL,
            Action.VIEW_OUTBOX: Reach.OWN,
            Action.SEND_SUBMISSIONS: Reach.ALL,
            Action.VIEW_RECEIPTS: Reach.ALL,
        },
        # A steward neither queues jobs nor prepares submissions: they decide about the work of others.
        Role.STEWARD: {
            **_EVERYONE,
            Action.VIEW_INSTANCES: Reach.ALL,
            Action.VIEW_DATA: Reach.ALL,
            Action.VIEW_MODELS: Reach.ALL,
            Action.REVIEW_REDACTION: Reach.ALL,
            Action.VIEW_OUTBOX: Reach.ALL,
            Action.APPROVE_SUBMISSIONS: Reach.ALL,
            Action.SEND_SUBMISSIONS: Reach.ALL,
            Action.VIEW_RECEIPTS: Reach.ALL,
        },
        # An administrator sees figures and the state of the site, but no text of a record, redacted or not.
        Role.ADMINISTRATOR: {
            **_EVERYONE,
            Action.VIEW_DATA: Reach.ALL,
            Action.VIEW_MODELS: Reach.ALL,
            Action.VIEW_HEALTH: Reach.ALL,
            Action.PROBE_MODELS: Reach.ALL,
            Action.CHANGE_JOBS: Reach.ALL,
            Action.DELETE_RUNS: Reach.ALL,
            Action.VIEW_RECEIPTS: Reach.ALL,
            Action.CHANGE_SETTINGS: Reach.ALL,
            Action.MANAGE_KEYS: Reach.ALL,
            Action.MANAGE_ACCOUNTS: Reach.ALL,
            Action.VIEW_AUDIT: Reach.ALL,
        },
    }
)
"""The one table of which role may do what. An action that a role does not list is forbidden to it."""


def may(account: Account, action: Action, owner: str | None = None) -> bool:
    """Return whether an account may take an action.

    Args:
        account: the account; if it is locked, it may do nothing.
        action: the action.
        owner: id of the account that owns the job, run or draft; None if it has no owner, or if no single one is
            meant, as on a page with a list.
    """
    reach = find_reach(account, action)
    return reach is Reach.ALL or (reach is Reach.OWN and owner == account.account_id)


def find_reach(account: Account, action: Action) -> Reach | None:
    """Return how far an account may take an action, for pages that list its own things only; None for not at all."""
    if account.locked:
        return None
    if action is Action.REVEAL and not account.may_reveal:
        return None
    # Original text is never shown to an account that may not even see redacted text.
    permission = Action.VIEW_INSTANCES if action is Action.REVEAL else action
    reaches = [ALLOWED[role].get(permission) for role in account.roles]
    if Reach.ALL in reaches:
        return Reach.ALL
    return Reach.OWN if Reach.OWN in reaches else None


def list_actions(account: Account) -> frozenset[Action]:
    """Return the actions that an account may take, at least on what it owns."""
    return frozenset(action for action in Action if may(account, action, account.account_id))


@dataclass(frozen=True, slots=True)
class Party:
    """The people on one side of a submission, as far as they are known.

    Attributes:
        accounts: ids of accounts: those that queued its runs, registered its data and prepared it, or the one that
            approves it.
        keys: fingerprints of the keys with which that side signs, and of all keys that its accounts ever signed with.
    """

    accounts: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()


class ApprovalFault(StrEnum):
    """The reason why someone may not approve a submission."""

    NOT_A_STEWARD = "only a steward may approve a submission"
    NO_KEY = "the approval is not signed"
    SAME_ACCOUNT = "whoever had a part in a submission cannot approve it"
    SAME_KEY = "the key of the approval belongs to someone who had a part in the submission"


def find_approval_fault(approver: Account, keys: frozenset[str], authors: Party) -> str:
    """Return the reason why an account may not approve a submission, or "" if it may.

    The roles of the approver never matter for this: an account that is a steward and a data scientist may approve the
    submissions of others, and none in which it had a part.

    Args:
        approver: the account that hands in the approval.
        keys: fingerprints of the keys that signed the approval, and of all keys with which this account signed before.
        authors: everyone who had a part in the submission, with the site's own key.
    """
    if not may(approver, Action.APPROVE_SUBMISSIONS):
        return ApprovalFault.NOT_A_STEWARD
    if approver.account_id in authors.accounts:
        return ApprovalFault.SAME_ACCOUNT
    if not keys:
        return ApprovalFault.NO_KEY
    if keys & authors.keys:
        return ApprovalFault.SAME_KEY
    return ""


def may_approve(approver: Account, keys: frozenset[str], authors: Party) -> bool:
    """Return whether an account may approve a submission; see `find_approval_fault`."""
    return not find_approval_fault(approver, keys, authors)
