"""Every way the protocol says no: one code for each check, so that a test, a log line and a reply can name it.

Before the signatures of an envelope are checked only `malformed`, `unknown_key` and `bad_signature` are used: whoever
holds no enrolled key learns nothing more.

A new code needs a decision in two places: its HTTP status, where that is not 422 (`aggregator/api/answers.py`,
`STATUS_OF_CODE`), and whether a site tries again later (`agent/delivery/transport.py`, `_PASSING`) or gives the
submission up. Sites of an older version read an unknown code as none, and keep the submission.
"""

from enum import StrEnum


class Code(StrEnum):
    """What was wrong. The value is what crosses the wire; details stay with whoever checked."""

    # before the signature check
    MALFORMED = "malformed"  # size, bytes, JSON, envelope form, payload type or base64
    UNKNOWN_KEY = (
        "unknown_key"  # key id unknown, of two sites, not valid now, or roles not satisfied
    )
    BAD_SIGNATURE = "bad_signature"  # at least one signature does not verify
    # the payload as JSON
    TOO_DEEP = "too_deep"
    BAD_JSON = "bad_json"
    DUPLICATE_NAME = "duplicate_name"  # one object has the same name twice
    BAD_NUMBER = "bad_number"  # float, -0, NaN, or beyond 2^53 - 1
    BAD_TEXT = "bad_text"  # lone surrogate or control character
    NOT_CANONICAL = "not_canonical"
    # the statement's form
    SCHEMA = "schema"  # field missing, unknown, of the wrong type or out of its range
    WRONG_SUBJECT = "wrong_subject"
    WRONG_TYPE = "wrong_type"  # predicate type unknown, or not the one expected here
    OLD_SCHEMA = "old_schema"  # of an unreleased version
    # what the statement refers to
    WRONG_SITE = "wrong_site"  # the statement's site is not the one its keys belong to
    WRONG_DEPLOYMENT = "wrong_deployment"
    WRONG_REGISTRY = "wrong_registry"  # version from the future, or too old
    UNKNOWN_SCORECARD = "unknown_scorecard"
    RETIRED_SCORECARD = "retired_scorecard"
    UNKNOWN_MODEL = "unknown_model"
    UNKNOWN_AGENT = "unknown_agent"
    UNKNOWN_POLICY = "unknown_policy"
    UNKNOWN_BENCHMARK = (
        "unknown_benchmark"  # a dataset's definition is in no scorecard that is still taken
    )
    UNKNOWN_DATASET = "unknown_dataset"  # not a dataset statement of this site in the log, or none where one is needed
    WRONG_DATASET = "wrong_dataset"  # lineage, previous version or numbers of units do not fit what the log holds
    UNKNOWN_PLAN = "unknown_plan"  # no plan of this site in the log
    WRONG_PLAN = "wrong_plan"  # the plan, or its challenge, is about something else
    PLAN_EXPIRED = "plan_expired"
    PLAN_USED = "plan_used"  # the plan has a result, or was abandoned
    UNKNOWN_RESULT = "unknown_result"  # no result of this site in the log, or withdrawn already
    NO_EXCEPTIONS = "no_exceptions"  # approval by exception, whose terms no registry names yet
    WRONG_DAY = "wrong_day"
    WRONG_TOKEN = "wrong_token"  # enrolment: not signed by the invite's token  # noqa: S105
    # what the statement says
    WRONG_CELLS = "wrong_cells"  # keys of data, groups, cells or spreads are not the scorecard's
    WRONG_OUTCOME = "wrong_outcome"  # complete, yet a benchmark was not run
    BELOW_THRESHOLD = (
        "below_threshold"  # figure or group size of fewer units than the policy allows
    )
    OFF_GRID = "off_grid"  # finer than the number of units allows
    EXTREME_VALUE = "extreme_value"  # 0 % or 100 % of a gated or private group
    TOO_MANY_METRICS = (
        "too_many_metrics"  # more figures of one protected group than the policy lets out
    )
    SMALL_COUNT = "small_count"  # too few successes or failures behind a binary rate
    WRONG_VALUE = "wrong_value"  # a code or spread that the rest of the statement does not allow
    WRONG_GROUPS = "wrong_groups"  # sizes of groups contradict each other
    OPEN_MARGIN = "open_margin"  # a withheld group follows from the published ones
    NOTHING_PUBLISHED = "nothing_published"
    WRONG_ROOT = "wrong_root"  # scores_root of the empty tree, or reported before
    COPIED_RESULT = "copied_result"  # the figures of another site
    # the chain
    SITE_FROZEN = "site_frozen"
    WRONG_EPOCH = "wrong_epoch"
    WRONG_SEQ = "wrong_seq"  # a gap
    WRONG_PREV = "wrong_prev"
    FORK = "fork"  # a second payload for a place in the chain that is taken
    LEDGER_ROLLED_BACK = (
        "ledger_rolled_back"  # the site's ledger of releases is shorter than before, or another
    )
    # keys and registry
    WEAK_KEY = "weak_key"
    DUPLICATE_KEY = "duplicate_key"  # the same key material in two places
    WRONG_KEYS = "wrong_keys"  # a rotation or reset names keys that it must not, or is not signed by all it must be
    BAD_THRESHOLD = "bad_threshold"
    UNDER_THRESHOLD = "under_threshold"  # too few root signatures
    REGISTRY_ROLLBACK = "registry_rollback"
    REGISTRY_SKIPPED = "registry_skipped"  # not the version after the trusted one
    REGISTRY_SPLIT = "registry_split"  # same version, other content
    REGISTRY_EXPIRED = "registry_expired"
    # log and receipt
    BAD_CHECKPOINT = "bad_checkpoint"  # text not as the format demands
    UNSIGNED_CHECKPOINT = "unsigned_checkpoint"  # no signature by the log's key
    WRONG_ORIGIN = "wrong_origin"
    LOG_SHRANK = "log_shrank"
    SPLIT_VIEW = "split_view"  # two histories of one log
    BAD_REFUSAL = "bad_refusal"  # text not as the format demands, or about another payload
    BAD_SITE_HEAD = "bad_site_head"  # text not as the format demands, or about another site
    BAD_RECEIPT = "bad_receipt"  # text not as the format demands
    BAD_PROOF = "bad_proof"  # a Merkle proof that does not lead to the root


class ProtocolError(Exception):
    """A check failed.

    Args:
        code: which check.
        detail: what was found and what was expected, for whoever runs the check; never sent to the other side.
    """

    def __init__(self, code: Code, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
