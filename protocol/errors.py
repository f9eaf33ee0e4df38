"""The errors of the protocol: one code per check, so that tests, log lines and replies can name it.

Until the signatures of an envelope are verified, only `malformed`, `unknown_key` and `bad_signature` are used, so that
a client without an enrolled key learns nothing more.

A new code needs a decision in two places: its HTTP status, where that is not 422 (`aggregator/api/answers.py`,
`STATUS_OF_CODE`), and whether a site tries again later (`agent/delivery/transport.py`, `_PASSING`) or gives up the
submission. A site of an older version treats an unknown code as no code, and keeps the submission.
"""

from enum import StrEnum


class Code(StrEnum):
    """The check that failed. Only this value is sent to the other side; details stay where the check ran."""

    # before the signature check
    MALFORMED = "malformed"  # size, bytes, JSON, envelope form, payload type or base64
    # Key unknown or not valid now; signers of two sites, or roles missing.
    UNKNOWN_KEY = "unknown_key"
    BAD_SIGNATURE = "bad_signature"  # at least one signature does not verify
    # the payload as JSON
    TOO_DEEP = "too_deep"
    BAD_JSON = "bad_json"
    DUPLICATE_NAME = "duplicate_name"  # one object has the same name twice
    BAD_NUMBER = "bad_number"  # float, -0, NaN, or beyond 2^53 - 1
    BAD_TEXT = "bad_text"  # lone surrogate or control character
    NOT_CANONICAL = "not_canonical"
    # the statement's form
    SCHEMA = "schema"  # field missing, unknown, of the wrong type or out of range
    WRONG_SUBJECT = "wrong_subject"
    WRONG_TYPE = "wrong_type"  # predicate type unknown, or not the one expected here
    OLD_SCHEMA = "old_schema"  # written by an unreleased version
    # what the statement refers to
    WRONG_SITE = "wrong_site"  # the keys belong to another site than the one in the statement
    WRONG_DEPLOYMENT = "wrong_deployment"
    WRONG_REGISTRY = "wrong_registry"  # the named version does not exist yet, or is too old
    UNKNOWN_SCORECARD = "unknown_scorecard"
    RETIRED_SCORECARD = "retired_scorecard"
    UNKNOWN_MODEL = "unknown_model"
    UNKNOWN_AGENT = "unknown_agent"
    UNKNOWN_POLICY = "unknown_policy"
    UNKNOWN_BENCHMARK = "unknown_benchmark"  # no active scorecard has the dataset's definition
    UNKNOWN_DATASET = "unknown_dataset"  # not a dataset statement from this site in the log, or missing where required
    # Lineage, previous version or numbers of units do not agree with the log.
    WRONG_DATASET = "wrong_dataset"
    UNKNOWN_PLAN = "unknown_plan"  # no plan from this site in the log
    WRONG_PLAN = "wrong_plan"  # the result differs from its plan, or has another challenge
    PLAN_EXPIRED = "plan_expired"
    PLAN_USED = "plan_used"  # the plan has a result, or was abandoned
    UNKNOWN_RESULT = "unknown_result"  # no result from this site in the log, or already withdrawn
    NO_EXCEPTIONS = "no_exceptions"  # approval by exception, for which no registry names terms yet
    WRONG_DAY = "wrong_day"
    WRONG_TOKEN = "wrong_token"  # enrolment: not signed by the invite's token  # noqa: S105
    # the statement's content
    WRONG_CELLS = "wrong_cells"  # keys of data, groups, cells or spreads do not match the scorecard
    WRONG_OUTCOME = "wrong_outcome"  # the outcome is complete, although a benchmark was not run
    BELOW_THRESHOLD = "below_threshold"  # a figure or group with fewer units than the policy allows
    OFF_GRID = "off_grid"  # a value finer than the number of units allows
    EXTREME_VALUE = "extreme_value"  # a value of 0 % or 100 % for a gated or private group
    TOO_MANY_METRICS = "too_many_metrics"  # more figures of one protected group than allowed
    SMALL_COUNT = "small_count"  # too few successes or failures behind a binary rate
    WRONG_VALUE = "wrong_value"  # a code or spread that the rest of the statement does not allow
    WRONG_GROUPS = "wrong_groups"  # sizes of groups contradict each other
    OPEN_MARGIN = "open_margin"  # a withheld group follows from the published ones
    NOTHING_PUBLISHED = "nothing_published"
    WRONG_ROOT = "wrong_root"  # scores_root of the empty tree, or reported before
    COPIED_RESULT = "copied_result"  # the same protected figures as in a result from another site
    # the chain
    SITE_FROZEN = "site_frozen"
    WRONG_EPOCH = "wrong_epoch"
    # A link before it is missing, or its position was taken after a refusal.
    WRONG_SEQ = "wrong_seq"
    WRONG_PREV = "wrong_prev"
    FORK = "fork"  # a second payload for an occupied position in the chain
    # The site's ledger is shorter than the last known one, or differs from it.
    LEDGER_ROLLED_BACK = "ledger_rolled_back"
    # keys and registry
    WEAK_KEY = "weak_key"
    DUPLICATE_KEY = "duplicate_key"  # the same key is used twice
    # A rotation or reset names forbidden keys, or lacks a required signature.
    WRONG_KEYS = "wrong_keys"
    BAD_THRESHOLD = "bad_threshold"
    UNDER_THRESHOLD = "under_threshold"  # too few root signatures
    REGISTRY_ROLLBACK = "registry_rollback"
    REGISTRY_SKIPPED = "registry_skipped"  # not the version after the trusted one
    REGISTRY_SPLIT = "registry_split"  # same version, different content
    REGISTRY_EXPIRED = "registry_expired"
    # log and receipt
    BAD_CHECKPOINT = "bad_checkpoint"  # not in the required format
    UNSIGNED_CHECKPOINT = "unsigned_checkpoint"  # no signature by the log's key
    WRONG_ORIGIN = "wrong_origin"
    LOG_SHRANK = "log_shrank"
    SPLIT_VIEW = "split_view"  # two histories of one log
    BAD_REFUSAL = "bad_refusal"  # not in the required format, or about another payload
    BAD_SITE_HEAD = "bad_site_head"  # not in the required format, or about another site
    BAD_RECEIPT = "bad_receipt"  # not in the required format
    BAD_PROOF = "bad_proof"  # a Merkle proof that does not lead to the root


class ProtocolError(Exception):
    """A check failed.

    Args:
        code: the check that failed.
        detail: found and expected values, for the side that runs the check; never sent to the other side.
    """

    def __init__(self, code: Code, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
