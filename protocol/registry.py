"""The registry: who may sign and what may be named (section 3). Signed by a threshold of root keys."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from protocol.keys import PublicKey
from protocol.policy import DisclosurePolicy
from protocol.scorecard import Scorecard

Role = Literal["agent", "steward"]
Publication = Literal["named", "pooled"]
ACCEPTED_VERSIONS = 8  # a statement may name the newest registry or one of the seven before it


@dataclass(frozen=True, slots=True)
class SiteKey:
    """A site's key and when it may sign, as indices of the log entry it signs for.

    Valid for from_index <= index, index < until_index and index < revoked_from, where those are set.
    """

    key: PublicKey
    role: Role
    from_index: int = 0
    until_index: int | None = None
    revoked_from: int | None = None

    def valid_at(self, log_index: int) -> bool:
        """Whether the key may sign the log entry with this index."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Site:
    """An enrolled site. `enrolment` is the digest of its enrolment statement, where its chain starts."""

    display_name: str
    publication: Publication
    enrolment: str
    keys: tuple[SiteKey, ...]


@dataclass(frozen=True, slots=True)
class Model:
    """A registered model. Its digest is `model_digest(name)`."""

    name: str
    display_name: str
    organization: str  # "" if not known
    is_language_model: bool


@dataclass(frozen=True, slots=True)
class RegisteredScorecard:
    """A scorecard, and whether submissions for it are still taken."""

    scorecard: Scorecard
    retired: bool = False


@dataclass(frozen=True, slots=True)
class Registry:
    """One version of the registry.

    Attributes:
        version: from 1.
        expires_day: first day (days since 1970-01-01 UTC) on which it is no longer accepted.
        deployment: the aggregator's origin.
        roots, threshold: root keys, and how many of them must sign.
        log_name, log_key: origin (and key name) of checkpoints, and the Ed25519 key that signs them.
        policy_floor: digest of the federation's policy; every result obeys the stricter of it and the one it names.
        sites: by site id.
        scorecards, policies, models: by digest.
        agents: digest -> version, as `agent_digest`.
    """

    version: int
    expires_day: int
    deployment: str
    roots: tuple[PublicKey, ...]
    threshold: int
    log_name: str
    log_key: PublicKey
    policy_floor: str
    sites: Mapping[str, Site]
    scorecards: Mapping[str, RegisteredScorecard]
    policies: Mapping[str, DisclosurePolicy]
    agents: Mapping[str, str]
    models: Mapping[str, Model]

    def site_of(self, keyid: str) -> tuple[str, SiteKey] | None:
        """Return the site id and entry of a site key, whatever its validity."""
        raise NotImplementedError

    def policy_for(self, digest: str) -> DisclosurePolicy:
        """Return the stricter of the floor and the registered policy `digest`. Raises ProtocolError UNKNOWN_POLICY."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class RootPins:
    """What an invite says of the roots: enough of these key ids must have signed the first registry a site takes."""

    deployment: str
    keyids: frozenset[str]
    threshold: int


def build_registry(registry: Registry) -> bytes:
    """Return the canonical payload, after the same checks as `parse_registry`. Sign it with `envelope.sign(payload,
    roots, REGISTRY_TYPE)`."""
    raise NotImplementedError


def parse_registry(payload: bytes) -> Registry:
    """Read an (already verified) registry payload: closed schema, digests recomputed, no weak or repeated key.

    Raises:
        ProtocolError: those of `parse_canonical`, SCHEMA, WEAK_KEY, DUPLICATE_KEY, BAD_THRESHOLD.
    """
    raise NotImplementedError


def step_registry(data: bytes, trusted: Registry | RootPins) -> Registry:
    """Take one step: verify the registry that follows `trusted`. Does not look at the expiry date.

    The version must be the trusted one (same content) or the next, which thresholds of both its own roots and the
    trusted ones must have signed. From pins any version may be taken, signed by the pinned and its own threshold.

    Raises:
        ProtocolError: MALFORMED, UNKNOWN_KEY, BAD_SIGNATURE, UNDER_THRESHOLD, WRONG_DEPLOYMENT, REGISTRY_ROLLBACK,
            REGISTRY_SKIPPED, REGISTRY_SPLIT, or as `parse_registry`.
    """
    raise NotImplementedError


def load_registry(data: bytes, trusted: Registry | RootPins, today_day: int) -> Registry:
    """As `step_registry`, and refuse an expired registry (REGISTRY_EXPIRED). For the last step of a walk."""
    raise NotImplementedError
