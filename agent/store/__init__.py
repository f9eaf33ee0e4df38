"""The encrypted local store, with the answer cache and retention."""

from agent.store.audiences import EVERYTHING, PUBLIC, Audience
from agent.store.audit_chain import AuditEvent, AuditHead
from agent.store.calibrations import Calibration, Rater
from agent.store.clock import AcceptedTime, ClockFault, StoreClock, format_time
from agent.store.copies import Deletion, KnownCopy, Restoration
from agent.store.database import describe_sqlite_error
from agent.store.jobs import COMMAND_LINE, Job, JobProgress, JobState, QueuedCommand, Schedule
from agent.store.reviews import Review, ReviewedText
from agent.store.run_deletion import RunContent
from agent.store.run_details import KeptData, KeptJury, KeptMetric, RunDetails, RunOrigin
from agent.store.store import Store
from agent.store.stored import (
    RETRIED,
    AnswerSize,
    Judgement,
    Run,
    RunScore,
    Seat,
    StoredInstance,
    UnitScore,
    Usage,
)
from agent.store.stored_accounts import Account, Origin, Role, SessionRow, TokenRow
from agent.store.stored_alerts import AlertCode, AlertEvent, AlertMessage, Channel, MessageState
from agent.store.vault import Vault

__all__ = [
    "COMMAND_LINE",
    "EVERYTHING",
    "PUBLIC",
    "RETRIED",
    "AcceptedTime",
    "Account",
    "AlertCode",
    "AlertEvent",
    "AlertMessage",
    "AnswerSize",
    "Audience",
    "AuditEvent",
    "AuditHead",
    "Calibration",
    "Channel",
    "ClockFault",
    "Deletion",
    "Job",
    "JobProgress",
    "JobState",
    "Judgement",
    "KeptData",
    "KeptJury",
    "KeptMetric",
    "KnownCopy",
    "MessageState",
    "Origin",
    "QueuedCommand",
    "Rater",
    "Restoration",
    "Review",
    "ReviewedText",
    "Role",
    "Run",
    "RunContent",
    "RunDetails",
    "RunOrigin",
    "RunScore",
    "Schedule",
    "Seat",
    "SessionRow",
    "Store",
    "StoreClock",
    "StoredInstance",
    "TokenRow",
    "UnitScore",
    "Usage",
    "Vault",
    "describe_sqlite_error",
    "format_time",
]
