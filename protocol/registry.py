"""The registry, signed by a threshold of root keys: who may sign, and which names statements may use (section 3)."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Literal, TypeVar, cast

from protocol import schema
from protocol.canonical import canonical, parse_canonical
from protocol.checkpoint import LogKey
from protocol.envelope import REGISTRY_TYPE, Envelope, decode, decode_base64, encode_base64
from protocol.errors import Code, ProtocolError
from protocol.identity import agent_digest, model_digest
from protocol.keys import PublicKey, load_public
from protocol.policy import DisclosurePolicy, parse_policy, stricter
from protocol.predicates import FIRST_EPOCH
from protocol.scorecard import Scorecard, parse_scorecard

_T = TypeVar("_T")
Role = Literal["agent", "steward"]
Publication = Literal["named", "pooled"]
SCHEMA_VERSION = 3
_UNRELEASED_SCHEMAS = (1, 2)
MAX_SITES = 10_000
ACCEPTED_VERSIONS = 8  # a statement may name the newest registry or one of the seven before it


@dataclass(frozen=True, slots=True)
class SiteKey:
    """A site's key, and the range of log entries that it may sign.

    It may sign an entry if from_index <= index, index < until_index and index < revoked_from; the latter two may be
    None.
    """

    key: PublicKey
    role: Role
    from_index: int = 0
    until_index: int | None = None
    revoked_from: int | None = None

    def valid_at(self, log_index: int) -> bool:
        """Return whether the key may sign the log entry with this index."""
        ends = [end for end in (self.until_index, self.revoked_from) if end is not None]
        return self.from_index <= log_index and all(log_index < end for end in ends)


@dataclass(frozen=True, slots=True)
class Site:
    """An enrolled site.

    Attributes:
        start: digest of the statement that starts the current epoch of its chain: its enrolment or a reset.
        epoch: the current epoch, from 1.
    """

    display_name: str
    publication: Publication
    start: str
    keys: tuple[SiteKey, ...]
    epoch: int = FIRST_EPOCH


@dataclass(frozen=True, slots=True)
class Model:
    """A registered model. Its digest is `model_digest(name)`."""

    name: str
    display_name: str
    organization: str  # "" if not known
    is_language_model: bool
    family: str = ""  # "" if not known
    parameters_millions: int = 0  # 0 if not known


@dataclass(frozen=True, slots=True)
class RegisteredScorecard:
    """A scorecard, and whether it is retired, so that submissions for it are refused."""

    scorecard: Scorecard
    retired: bool = False


@dataclass(frozen=True, slots=True)
class NamedKey:
    """The key and the name of an auditor or a witness."""

    name: str
    key: PublicKey


@dataclass(frozen=True, slots=True)
class KeyGroup:
    """A set of keys of which `threshold` must sign: 1 to the number of keys, or 0 if there are none."""

    threshold: int = 0
    keys: tuple[NamedKey, ...] = ()

    def by_keyid(self) -> dict[str, PublicKey]:
        """Return the keys by key id."""
        return {entry.key.keyid: entry.key for entry in self.keys}


@dataclass(frozen=True, slots=True)
class Registry:
    """One version of the registry.

    Attributes:
        version: from 1.
        expires_day: first day (days since 1970-01-01 UTC) on which it is no longer accepted.
        deployment: the aggregator's origin.
        roots, threshold: root keys, and the number of them that must sign.
        log_name: origin (and key name) of checkpoints.
        log_keys: the Ed25519 keys that sign checkpoints, each for a range of log sizes, without gaps; the last one is
            the current key and has no end.
        receipt_key: the Ed25519 key that signs refusals and heads of sites.
        policy_floor: digest of the federation's policy; every result obeys the stricter of it and the one it names.
        sites: by site id.
        scorecards, policies, models: by digest.
        agents: `agent_digest` -> version of the agent.
        auditors: Ed25519 keys that may sign audits (`audit/v1`).
        witnesses: Ed25519 keys that cosign checkpoints; their names have the form of an origin.
    """

    version: int
    expires_day: int
    deployment: str
    roots: tuple[PublicKey, ...]
    threshold: int
    log_name: str
    log_keys: tuple[LogKey, ...]
    receipt_key: PublicKey
    policy_floor: str
    sites: Mapping[str, Site]
    scorecards: Mapping[str, RegisteredScorecard]
    policies: Mapping[str, DisclosurePolicy]
    agents: Mapping[str, str]
    models: Mapping[str, Model]
    auditors: KeyGroup = KeyGroup()
    witnesses: KeyGroup = KeyGroup()
    _owners: dict[str, tuple[str, SiteKey]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """Key id -> site id and entry. Filled on the first look-up: each submission looks up two keys among 10,000 sites.
    """

    @property
    def log_key(self) -> PublicKey:
        """The key that currently signs checkpoints."""
        return self.log_keys[-1].key

    def site_of(self, keyid: str) -> tuple[str, SiteKey] | None:
        """Return the site id and entry of a site's key, even if the key is no longer valid."""
        if not self._owners:
            owners = {}
            for site_id, site in self.sites.items():
                for entry in site.keys:
                    owners[entry.key.keyid] = (site_id, entry)
            # Assign the complete index at once, so that another thread never misses a known key in a partial one.
            self._owners.update(owners)
        return self._owners.get(keyid)

    def holds(self, keyid: str) -> bool:
        """Return whether a key is in this registry, for any purpose."""
        return (
            keyid in {key.keyid for key in self.central_keys()} or self.site_of(keyid) is not None
        )

    def central_keys(self) -> list[PublicKey]:
        """Return every key that does not belong to a site: of roots, log, receipts, auditors and witnesses."""
        log = [entry.key for entry in self.log_keys]
        others = [entry.key for group in (self.auditors, self.witnesses) for entry in group.keys]
        return [*self.roots, *log, self.receipt_key, *others]

    def policy_for(self, digest: str) -> DisclosurePolicy:
        """Return the stricter of the federation's policy and the registered policy `digest`.

        Raises:
            ProtocolError: UNKNOWN_POLICY.
        """
        if digest not in self.policies:
            raise ProtocolError(
                Code.UNKNOWN_POLICY, f"registry version {self.version} has no policy {digest}"
            )
        return stricter(self.policies[self.policy_floor], self.policies[digest])


@dataclass(frozen=True, slots=True)
class RootPins:
    """The root key ids in an invite: `threshold` of them must have signed the first registry that a site accepts."""

    deployment: str
    keyids: frozenset[str]
    threshold: int


_MAX_ENTRIES = 10_000
_REGISTRY = frozenset(
    {
        *(
            "schema",
            "version",
            "expires_day",
            "deployment",
            "roots",
            "threshold",
            "log",
            "receipt_key",
        ),
        *(
            "auditors",
            "witnesses",
            "policy_floor",
            "sites",
            "scorecards",
            "policies",
            "agents",
            "models",
        ),
    }
)
_LOG = frozenset({"name", "keys"})
_LOG_KEY = frozenset({"key", "from_size", "until_size"})
_GROUP = frozenset({"threshold", "keys"})
_NAMED_KEY = frozenset({"name", "key"})
_SITE = frozenset({"display_name", "publication", "start", "epoch", "keys"})
_SITE_KEY = frozenset({"key", "role", "from_index", "until_index", "revoked_from"})
_MODEL = frozenset(
    {"name", "display_name", "organization", "is_language_model", "family", "parameters_millions"}
)
_SCORECARD = frozenset({"scorecard", "retired"})
_UNSET = -1  # stands in JSON for an index that is None


def build_registry(registry: Registry) -> bytes:
    """Return the canonical payload, for the roots to sign as REGISTRY_TYPE. It passes the checks of `parse_registry`.

    Raises:
        ProtocolError: as `parse_registry`.
    """
    payload = canonical(
        {
            "schema": SCHEMA_VERSION,
            "version": registry.version,
            "expires_day": registry.expires_day,
            "deployment": registry.deployment,
            "roots": [encode_base64(key.der) for key in registry.roots],
            "threshold": registry.threshold,
            "log": {
                "name": registry.log_name,
                "keys": [_log_key_json(entry) for entry in registry.log_keys],
            },
            "receipt_key": encode_base64(registry.receipt_key.der),
            "auditors": _group_json(registry.auditors),
            "witnesses": _group_json(registry.witnesses),
            "policy_floor": registry.policy_floor,
            "sites": {site_id: _site_json(site) for site_id, site in registry.sites.items()},
            "scorecards": [
                {"scorecard": entry.scorecard.to_json(), "retired": entry.retired}
                for _, entry in sorted(registry.scorecards.items())
            ],
            "policies": [policy.to_json() for _, policy in sorted(registry.policies.items())],
            "agents": [version for _, version in sorted(registry.agents.items())],
            "models": [asdict(model) for _, model in sorted(registry.models.items())],
        }
    )
    parse_registry(payload)
    return payload


def _log_key_json(entry: LogKey) -> dict[str, object]:
    return {
        "key": encode_base64(entry.key.der),
        "from_size": entry.from_size,
        "until_size": _UNSET if entry.until_size is None else entry.until_size,
    }


def _group_json(group: KeyGroup) -> dict[str, object]:
    keys = [{"name": entry.name, "key": encode_base64(entry.key.der)} for entry in group.keys]
    return {"threshold": group.threshold, "keys": keys}


def _site_json(site: Site) -> dict[str, object]:
    return {
        "display_name": site.display_name,
        "publication": site.publication,
        "start": site.start,
        "epoch": site.epoch,
        "keys": [
            {
                "key": encode_base64(entry.key.der),
                "role": entry.role,
                "from_index": entry.from_index,
                "until_index": _UNSET if entry.until_index is None else entry.until_index,
                "revoked_from": _UNSET if entry.revoked_from is None else entry.revoked_from,
            }
            for entry in site.keys
        ],
    }


def parse_registry(payload: bytes) -> Registry:
    """Parse an (already verified) registry payload: closed schema, recomputed digests, no weak or repeated keys.

    Raises:
        ProtocolError: SCHEMA, OLD_SCHEMA, WEAK_KEY, DUPLICATE_KEY or BAD_THRESHOLD, or as `parse_canonical`.
    """
    found = _fields(payload)
    roots, threshold = _roots(found)
    log = schema.record(found["log"], _LOG, "log")
    scorecards = [_scorecard(value) for value in _entries(found, "scorecards")]
    policies = [parse_policy(value) for value in _entries(found, "policies")]
    agents = [
        schema.text(value, "agents", schema.AGENT_VERSION) for value in _entries(found, "agents")
    ]
    models = [_model(value) for value in _entries(found, "models")]
    registry = Registry(
        version=schema.integer(found["version"], "version", 1, 2**31 - 1),
        expires_day=schema.integer(found["expires_day"], "expires_day", 1, 2**31 - 1),
        deployment=schema.text(found["deployment"], "deployment", schema.ORIGIN),
        roots=roots,
        threshold=threshold,
        log_name=schema.text(log["name"], "log.name", schema.ORIGIN),
        log_keys=_log_keys(log["keys"]),
        receipt_key=_ed25519_key(found["receipt_key"], "receipt_key"),
        auditors=_group(found["auditors"], "auditors"),
        witnesses=_group(found["witnesses"], "witnesses"),
        policy_floor=schema.text(found["policy_floor"], "policy_floor", schema.HEX64),
        sites={
            schema.text(site_id, "sites", schema.SITE): _site(value)
            for site_id, value in _sites(found).items()
        },
        scorecards=_by_digest(
            "scorecards", ((entry.scorecard.digest, entry) for entry in scorecards)
        ),
        policies=_by_digest("policies", ((policy.digest, policy) for policy in policies)),
        agents=_by_digest("agents", ((agent_digest(version), version) for version in agents)),
        models=_by_digest("models", ((model_digest(model.name), model) for model in models)),
    )
    _check_keys(registry)
    if registry.policy_floor not in registry.policies:
        raise ProtocolError(Code.SCHEMA, "policy_floor: not among the policies")
    return registry


def _fields(payload: bytes) -> dict[str, object]:
    value = parse_canonical(payload)
    for old in _UNRELEASED_SCHEMAS:
        if isinstance(value, dict) and schema.is_number(value.get("schema"), old):
            raise ProtocolError(
                Code.OLD_SCHEMA,
                f"the registry was written by an unreleased version (schema {old}), which released versions "
                "cannot read; create a new one",
            )
    found = schema.record(value, _REGISTRY, "registry")
    schema.integer(found["schema"], "schema", SCHEMA_VERSION, SCHEMA_VERSION)
    return found


def _roots(found: dict[str, object]) -> tuple[tuple[PublicKey, ...], int]:
    roots = tuple(_key(value, "roots") for value in schema.array(found["roots"], "roots", 1, 16))
    threshold = found["threshold"]
    if type(threshold) is not int or not 1 <= threshold <= len(roots):
        raise ProtocolError(
            Code.BAD_THRESHOLD,
            f"expected a threshold from 1 to {len(roots)}, the number of root keys",
        )
    return roots, threshold


def _entries(found: dict[str, object], name: str) -> list[object]:
    return schema.array(found[name], name, 0, _MAX_ENTRIES)


def _sites(found: dict[str, object]) -> dict[str, object]:
    sites = schema.mapping(found["sites"], "sites")
    if len(sites) > MAX_SITES:
        raise ProtocolError(
            Code.SCHEMA, f"sites: {len(sites)}; a registry has at most {MAX_SITES} sites"
        )
    return sites


def _by_digest(where: str, entries: Iterable[tuple[str, _T]]) -> dict[str, _T]:
    """Return entries as a map; they must be sorted by digest and unique."""
    listed = list(entries)
    digests = [digest for digest, _ in listed]
    if digests != sorted(set(digests)):
        raise ProtocolError(
            Code.SCHEMA, f"{where}: the entries are not sorted by digest, or one is repeated"
        )
    return dict(listed)


def _key(value: object, where: str) -> PublicKey:
    return load_public(decode_base64(value, where))


def _ed25519_key(value: object, where: str) -> PublicKey:
    key = _key(value, where)
    if key.algorithm != "ed25519":
        raise ProtocolError(Code.SCHEMA, f"{where}: expected an Ed25519 key")
    return key


def _log_keys(value: object) -> tuple[LogKey, ...]:
    """Parse the keys of the log, in the order of log sizes: exactly one key for every size."""
    keys: list[LogKey] = []
    next_size = 0
    for item in schema.array(value, "log.keys", 1, 100):
        found = schema.record(item, _LOG_KEY, "log key")
        if keys and keys[-1].until_size is None:
            raise ProtocolError(Code.SCHEMA, "log.keys: a key follows a key that has no end")
        from_size = schema.integer(found["from_size"], "from_size", next_size, next_size)
        until_size = schema.integer(found["until_size"], "until_size", _UNSET)
        if until_size != _UNSET and until_size <= from_size:
            raise ProtocolError(Code.SCHEMA, "log.keys: a key ends before it begins")
        end = None if until_size == _UNSET else until_size
        keys.append(LogKey(_ed25519_key(found["key"], "log key"), from_size, end))
        next_size = until_size
    if keys[-1].until_size is not None:
        raise ProtocolError(Code.SCHEMA, "log.keys: the last key has an end")
    return tuple(keys)


def _group(value: object, where: str) -> KeyGroup:
    found = schema.record(value, _GROUP, where)
    keys = []
    for item in schema.array(found["keys"], where, 0, 16):
        entry = schema.record(item, _NAMED_KEY, where)
        name = schema.text(entry["name"], f"{where}.name", schema.ORIGIN)
        keys.append(NamedKey(name, _ed25519_key(entry["key"], where)))
    if len({entry.name for entry in keys}) != len(keys):
        raise ProtocolError(Code.SCHEMA, f"{where}: two keys with the same name")
    threshold = found["threshold"]
    if type(threshold) is not int or not min(1, len(keys)) <= threshold <= len(keys):
        raise ProtocolError(
            Code.BAD_THRESHOLD,
            f"{where}: expected a threshold from {min(1, len(keys))} to {len(keys)}, the number of keys",
        )
    return KeyGroup(threshold, tuple(keys))


def _scorecard(value: object) -> RegisteredScorecard:
    found = schema.record(value, _SCORECARD, "scorecards")
    return RegisteredScorecard(
        parse_scorecard(found["scorecard"]), schema.flag(found["retired"], "retired")
    )


def _model(value: object) -> Model:
    found = schema.record(value, _MODEL, "models")
    return Model(
        name=schema.text(found["name"], "model.name", schema.MODEL_NAME),
        display_name=schema.title(found["display_name"], "model.display_name"),
        organization=schema.title(found["organization"], "model.organization", empty=True),
        is_language_model=schema.flag(found["is_language_model"], "model.is_language_model"),
        family=schema.title(found["family"], "model.family", empty=True),
        parameters_millions=schema.integer(
            found["parameters_millions"], "model.parameters_millions", 0, 10**9
        ),
    )


def _site(value: object) -> Site:
    found = schema.record(value, _SITE, "site")
    return Site(
        display_name=schema.title(found["display_name"], "site.display_name"),
        publication=cast(
            Publication,
            schema.choice(found["publication"], "site.publication", ("named", "pooled")),
        ),
        start=schema.text(found["start"], "site.start", schema.HEX64),
        epoch=schema.integer(found["epoch"], "site.epoch", FIRST_EPOCH, 2**31 - 1),
        keys=tuple(map(_site_key, schema.array(found["keys"], "site.keys", 0, 100))),
    )


def _site_key(value: object) -> SiteKey:
    found = schema.record(value, _SITE_KEY, "site key")

    def index(name: str) -> int | None:
        number = schema.integer(found[name], name, _UNSET)
        return None if number == _UNSET else number

    return SiteKey(
        key=_key(found["key"], "site key"),
        role=cast(Role, schema.choice(found["role"], "role", ("agent", "steward"))),
        from_index=schema.integer(found["from_index"], "from_index"),
        until_index=index("until_index"),
        revoked_from=index("revoked_from"),
    )


def _check_keys(registry: Registry) -> None:
    keys = registry.central_keys()
    keys += [entry.key for site in registry.sites.values() for entry in site.keys]
    if len({key.keyid for key in keys}) != len(keys):
        raise ProtocolError(Code.DUPLICATE_KEY, "the same key is used twice")


def step_registry(data: bytes, trusted: Registry | RootPins) -> Registry:
    """Verify a registry against a trusted one or against the pinned roots. The expiry date is not checked.

    A threshold of its own roots and a threshold of the trusted roots must have signed it. It may be the trusted
    version itself (with the same content) or any later one. Versions in between may be skipped, unless they changed
    the roots so much that the trusted roots no longer suffice; then each such change is a step of its own. With pins,
    any version is accepted.

    Raises:
        ProtocolError: MALFORMED, UNKNOWN_KEY, BAD_SIGNATURE, UNDER_THRESHOLD, WRONG_DEPLOYMENT, REGISTRY_ROLLBACK,
            REGISTRY_SPLIT, or as `parse_registry`.
    """
    opened = decode(data, REGISTRY_TYPE)
    # Nothing else in the payload is trusted before the signatures are verified.
    roots, threshold = _roots(_fields(opened.payload))
    own = {key.keyid: key for key in roots}
    if isinstance(trusted, RootPins):
        # A version that replaced roots is also signed by earlier roots, whose keys the pins do not contain. Signatures
        # that cannot be verified do not count.
        verifiable = tuple(signature for signature in opened.signatures if signature.keyid in own)
        opened = replace(opened, signatures=verifiable)
        opened.verify(own)
        _check_quorum(opened, trusted.keyids, trusted.threshold)
    else:
        trusted_roots = {key.keyid: key for key in trusted.roots}
        opened.verify(own | trusted_roots)
        _check_quorum(opened, trusted_roots.keys(), trusted.threshold)
    _check_quorum(opened, own.keys(), threshold)
    new = parse_registry(opened.payload)
    if new.deployment != trusted.deployment:
        raise ProtocolError(
            Code.WRONG_DEPLOYMENT,
            f"this is the registry of {new.deployment}, not of {trusted.deployment}",
        )
    if isinstance(trusted, Registry):
        _check_version(new, trusted, opened.payload)
    return new


def _check_quorum(opened: Envelope, keyids: Iterable[str], threshold: int) -> None:
    count = len({signature.keyid for signature in opened.signatures} & set(keyids))
    if threshold < 1 or count < threshold:
        raise ProtocolError(Code.UNDER_THRESHOLD, f"{count} root signatures; expected {threshold}")


def _check_version(new: Registry, trusted: Registry, payload: bytes) -> None:
    if new.version < trusted.version:
        raise ProtocolError(
            Code.REGISTRY_ROLLBACK,
            f"version {new.version} is older than the trusted version {trusted.version}",
        )
    if new.version == trusted.version and payload != build_registry(trusted):
        raise ProtocolError(
            Code.REGISTRY_SPLIT, f"version {new.version} exists with two different contents"
        )


def load_registry(data: bytes, trusted: Registry | RootPins, today_day: int) -> Registry:
    """Verify a registry as `step_registry` does, and refuse an expired one. Call this for the last of several steps.

    Raises:
        ProtocolError: REGISTRY_EXPIRED, or as `step_registry`.
    """
    registry = step_registry(data, trusted)
    if today_day >= registry.expires_day:
        raise ProtocolError(
            Code.REGISTRY_EXPIRED, f"expired on day {registry.expires_day}; today is {today_day}"
        )
    return registry
