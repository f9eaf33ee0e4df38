"""The site's place in a federation: the invite it took, and the registry it trusts since.

Trust begins with the invite file alone: its root key ids say who may sign the first registry that is taken. From then
on every version must be signed by the roots of the one before, and no version is ever taken back.

    membership.json             deployment, site id, address, root key ids (never the invite's token)
    enrolment.dsse.json         the enrolment request
    registry/00000007.dsse.json every registry version taken; versions between that kept the roots are left out
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent.delivery.transport import Aggregator
from agent.errors import ConfigError, DeliveryError, DisclosureError
from agent.io.atomic_files import read_bounded, sync_directory, write_atomically
from protocol import enrolment, envelope
from protocol.envelope import MAX_BYTES, REGISTRY_TYPE, STATEMENT_TYPE
from protocol.errors import Code, ProtocolError
from protocol.identity import NONE
from protocol.keys import PublicKey, Signer, load_public
from protocol.predicates import FIRST_EPOCH, START_SEQ, EnrollPredicate, Header
from protocol.registry import Registry, RootPins, load_registry, step_registry
from protocol.statements import build_statement, parse_statement

_MAX_INVITE: Final = 64 * 1024  # bytes
_MAX_ANSWER: Final = 4096
_MAX_REGISTRY: Final = MAX_BYTES[REGISTRY_TYPE]
_MAX_STEPS: Final = (
    1024  # changes of the roots that one update follows, so that no aggregator can make it endless
)

Hex64 = Annotated[str, Field(pattern=r"\A[0-9a-f]{64}\z")]


class Invite(BaseModel):
    """What the aggregator's people hand over, on a way that both trust. The token is for a single use."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)

    schema_version: Literal[1] = Field(alias="schema")
    name: str
    url: str
    deployment: str
    site: str = Field(pattern=r"\As-[0-9a-z]{8}\z")
    site_name: str
    publication: Literal["named", "pooled"]
    token: str = Field(pattern=r"\A([0-9a-f]{2}){16,64}\z")
    root_keys: list[Hex64] = Field(min_length=1, max_length=16)
    root_threshold: int = Field(ge=1, le=16)
    expires_day: int


@dataclass(frozen=True, slots=True)
class Membership:
    """What is kept of the invite. `url` is empty for a site that exchanges files only."""

    deployment: str
    site: str
    url: str
    root_keys: tuple[str, ...]
    root_threshold: int

    @property
    def pins(self) -> RootPins:
        """Who may have signed the first registry."""
        return RootPins(self.deployment, frozenset(self.root_keys), self.root_threshold)


def read_invite(path: Path) -> Invite:
    """Read an invite file. Raises ConfigError, which never quotes it: it holds a token."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"the invite cannot be read ({error.strerror})") from None
    if len(content) > _MAX_INVITE:
        raise ConfigError(f"the invite is longer than {_MAX_INVITE} bytes")
    try:
        return Invite.model_validate_json(content)
    except ValidationError as error:
        faults = sorted(
            {".".join(str(part) for part in fault["loc"]) or "file" for fault in error.errors()}
        )
        raise ConfigError(
            f"this is not an invite; wrong or missing: {', '.join(faults)}",
            "Ask the aggregator's people for another.",
        ) from None


class Federation:
    """The files of the site's membership, in its `submissions/` folder."""

    def __init__(self, directory: Path) -> None:
        """`directory` is the site's `submissions/`."""
        self._directory = directory
        self._versions = directory / "registry"
        self._request = directory / "enrolment.dsse.json"

    def read_membership(self) -> Membership:
        """Return the membership. Raises ConfigError if the site has taken no invite, or the file is damaged."""
        try:
            content = (self._directory / "membership.json").read_bytes()
        except OSError:
            raise ConfigError(
                "this site has not been enrolled with an aggregator",
                "Run `intramural enroll --invite FILE`.",
            ) from None
        try:
            fields = json.loads(content)
            fields["root_keys"] = tuple(fields["root_keys"])
            return Membership(**fields)
        except (ValueError, TypeError, KeyError):
            raise ConfigError(
                "submissions/membership.json is damaged", "Restore it from a back-up."
            ) from None

    def join(self, membership: Membership, agent_keyid: str) -> None:
        """Keep a membership. A new invite of the same aggregator takes the place of one that led to no enrolment.

        Raises:
            ConfigError: the site asked another aggregator already, or is enrolled under another id.
        """
        path = self._directory / "membership.json"
        if path.exists():
            before = self.read_membership()
            is_same_aggregator = before.deployment == membership.deployment
            is_same_site = before.site == membership.site
            if (
                is_same_aggregator
                and not is_same_site
                and not self._led_to_enrolment(before, agent_keyid)
            ):
                self.leave()
            elif not (is_same_aggregator and is_same_site):
                raise ConfigError(
                    f"this site belongs to {before.deployment} as {before.site} already",
                    "Make another site directory for another aggregator.",
                )
        write_atomically(
            path, json.dumps(asdict(membership), indent=1, sort_keys=True).encode() + b"\n"
        )

    def _led_to_enrolment(self, membership: Membership, agent_keyid: str) -> bool:
        """Whether the newest registry taken has this agent's key under the membership's site."""
        trusted = self.read_trusted()
        return isinstance(trusted, Registry) and is_enrolled(trusted, membership.site, agent_keyid)

    def leave(self) -> None:
        """Keep nothing of a membership that led to no enrolment; the membership itself goes last."""
        files = [
            *self._versions.glob("*.dsse.json"),
            self._request,
            self._directory / "membership.json",
        ]
        for path in files:
            path.unlink(missing_ok=True)
        sync_directory(self._directory)

    def read_request(self) -> bytes | None:
        """Return the request that was made for this site, so that repeating it sends the same bytes."""
        if not self._request.exists():
            return None
        return read_bounded(self._request, MAX_BYTES[STATEMENT_TYPE], "the enrolment request")

    def keep_request(self, data: bytes) -> None:
        """Keep an enrolment request, half or fully signed."""
        write_atomically(self._request, data)

    def read_trusted(self) -> Registry | RootPins:
        """Return the newest registry taken, each version verified from the one before; the pins if there is none.

        Raises:
            DisclosureError: a version was changed.
        """
        trusted: Registry | RootPins = self.read_membership().pins
        for registry in self._iterate_versions():
            trusted = registry
        return trusted

    def _iterate_versions(self) -> Iterator[Registry]:
        """Yield the versions taken, each verified from the one before. Raises DisclosureError: one was changed."""
        trusted: Registry | RootPins = self.read_membership().pins
        for path in sorted(
            self._versions.glob("*.dsse.json")
        ):  # none where the folder does not exist
            try:
                trusted = step_registry(
                    read_bounded(path, MAX_BYTES[REGISTRY_TYPE], path.name), trusted
                )
            except ProtocolError as error:
                raise DisclosureError(
                    f"the kept registry {path.name} does not verify ({error.code})",
                    "Restore the folder submissions/registry from a back-up.",
                ) from None
            yield trusted

    def read_registry(self, today_day: int) -> Registry:
        """Return the newest registry taken. Raises DisclosureError if there is none, or it has expired."""
        newest = self.read_trusted()
        if isinstance(newest, RootPins):
            raise DisclosureError(
                "no registry has been taken yet", "Run `intramural registry update`."
            )
        if today_day >= newest.expires_day:
            raise DisclosureError(
                f"registry {newest.version} has expired",
                "Get a newer one with `intramural registry update`.",
            )
        return newest

    def read_version(self, version: int) -> Registry | None:
        """Return the registry of a version that was taken, None if it is not kept. Raises DisclosureError."""
        for registry in self._iterate_versions():
            if registry.version == version:
                return registry
        return None

    def read_registry_file(self, today_day: int) -> bytes:
        """Return the signed file of the newest registry taken. Raises as `read_registry`."""
        path = self._locate_version(self.read_registry(today_day).version)
        return read_bounded(path, MAX_BYTES[REGISTRY_TYPE], path.name)

    def take(self, data: bytes, today_day: int) -> Registry:
        """Take the registry that follows the newest one, or is it.

        Raises:
            DeliveryError: not signed by the trusted roots, older, other content under the same version, or expired.
        """
        return self._take(data, self.read_trusted(), today_day)

    def _take(self, data: bytes, trusted: Registry | RootPins, today_day: int) -> Registry:
        try:
            registry = load_registry(data, trusted, today_day)
        except ProtocolError as error:
            raise _not_taken(error) from None
        if isinstance(trusted, RootPins) or registry.version > trusted.version:
            self._keep(registry.version, data)
        return registry

    def update(self, aggregator: Aggregator, today_day: int) -> Registry:
        """Fetch the newest registry and take it; of the versions between only those that changed the roots.

        Raises:
            DeliveryError: as `take`, or the aggregator could not be asked.
        """
        newest = aggregator.get("/v1/registry", limit=_MAX_REGISTRY)
        trusted = self.read_trusted()
        for _ in range(_MAX_STEPS):
            if not isinstance(trusted, Registry) or _is_signed_for(newest, trusted):
                break
            step = _fetch_last_signed_for(aggregator, trusted, _claimed_version(newest))
            if step is None:
                break
            trusted = self._take_step(step, trusted)
        return self._take(newest, trusted, today_day)

    def _take_step(self, data: bytes, trusted: Registry) -> Registry:
        """Take a version that changed the roots, on the way to the newest; it may have expired."""
        try:
            registry = step_registry(data, trusted)
        except ProtocolError as error:
            raise _not_taken(error) from None
        self._keep(registry.version, data)
        return registry

    def _keep(self, version: int, data: bytes) -> None:
        self._versions.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(self._locate_version(version), data)

    def _locate_version(self, version: int) -> Path:
        return self._versions / f"{version:08d}.dsse.json"


def _fetch_last_signed_for(aggregator: Aggregator, trusted: Registry, newest: int) -> bytes | None:
    """Return the last version before `newest` that the trusted roots still signed; None if none is.

    By binary search: once the trusted roots have been replaced they sign no more.
    """
    low = trusted.version
    high = newest
    last_signed = None
    while high - low > 1:
        middle = (low + high) // 2
        data = aggregator.get(f"/v1/registry/{middle}", limit=_MAX_REGISTRY)
        if _is_signed_for(data, trusted):
            low = middle
            last_signed = data
        else:
            high = middle
    return last_signed


def _is_signed_for(data: bytes, trusted: Registry) -> bool:
    """Whether a version can be taken right after `trusted`; nothing of it is believed yet."""
    try:
        step_registry(data, trusted)
    except ProtocolError as error:
        return error.code not in {Code.UNDER_THRESHOLD, Code.UNKNOWN_KEY}
    return True


def is_enrolled(registry: Registry, site: str, agent_keyid: str) -> bool:
    """Whether the registry names this agent's key as one of `site` that may sign: an id alone may be another's."""
    site_and_key = registry.site_of(agent_keyid)
    if site_and_key is None:
        return False
    enrolled_site, key = site_and_key
    return enrolled_site == site and key.role == "agent" and key.revoked_from is None


def _claimed_version(data: bytes) -> int:
    """Return the version a registry claims, to know what lies between; nothing is believed yet."""
    try:
        claimed = json.loads(envelope.decode(data, REGISTRY_TYPE).payload)["version"]
    except (ProtocolError, ValueError, KeyError, TypeError, RecursionError):
        claimed = None
    if not isinstance(claimed, int):
        raise _not_taken(ProtocolError(Code.MALFORMED, "not a registry"))
    return claimed


def _not_taken(error: ProtocolError) -> DeliveryError:
    reasons = {
        Code.REGISTRY_ROLLBACK: "it is older than the one this site has",
        Code.REGISTRY_SPLIT: "it has other content than this site's under the same version",
        Code.REGISTRY_EXPIRED: "it has expired",
        Code.UNDER_THRESHOLD: "it is not signed by the roots this site trusts",
        Code.WRONG_DEPLOYMENT: "it belongs to another aggregator",
    }
    return DeliveryError(
        f"the registry was not taken: {reasons.get(error.code, 'it does not verify')} ({error.code})",
        "The registry this site has stays in use. Tell the aggregator's people if this happens again.",
    )


def make_request(invite: Invite, agent: Signer, steward: PublicKey, registry_version: int) -> bytes:
    """Return an enrolment request with the agent's signature; `sign_request` adds the steward's.

    Raises:
        ConfigError: both keys are the same, or the invite's names are not well-formed.
    """
    if agent.public.keyid == steward.keyid:
        raise ConfigError(
            "the steward's key is the agent's key",
            "The steward is another person, with a key of their own.",
        )
    header = Header(invite.deployment, invite.site, FIRST_EPOCH, START_SEQ, NONE, registry_version)
    token = bytes.fromhex(invite.token)
    proof = enrolment.sign_with_token(token, invite.deployment, invite.site, agent.public, steward)
    try:
        payload = build_statement(EnrollPredicate(header, agent.public.der, steward.der, proof))
    except ProtocolError as error:
        raise ConfigError(f"the invite cannot be used ({error.code}: {error.detail})") from None
    return envelope.sign(payload, [agent])


def sign_request(data: bytes, steward: Signer) -> bytes:
    """Return the request with the steward's signature as well; one that has it already is returned unchanged.

    Raises:
        ConfigError: not an enrolment request, or one that names another steward.
    """
    try:
        request = envelope.decode(data)
        if steward.public.keyid in {signature.keyid for signature in request.signatures}:
            return data
        _, named_steward = read_request_keys(data)
        if named_steward.keyid != steward.public.keyid:
            raise ConfigError("the request names another steward's key")
        return envelope.add_signature(data, steward)
    except ProtocolError as error:
        raise ConfigError(f"this is not an enrolment request ({error.code})") from None


def read_request_keys(data: bytes) -> tuple[PublicKey, PublicKey]:
    """Return the agent's and the steward's key of a request. Raises ConfigError."""
    try:
        statement = parse_statement(envelope.decode(data).payload)
        if isinstance(statement, EnrollPredicate):
            return load_public(statement.agent_key), load_public(statement.steward_key)
    except ProtocolError as error:
        raise ConfigError(f"this is not an enrolment request ({error.code})") from None
    raise ConfigError("this is not an enrolment request")


def check_request(data: bytes, invite: Invite, agent: PublicKey, registry_version: int) -> None:
    """Check a request that came back as a file, so that nothing leaves in it but what its keys signed.

    Args:
        data: the request, as it would be sent.
        invite: what it must answer, token included.
        agent: the site's own key.
        registry_version: the newest that the site knows; 1 where it has taken none.

    Raises:
        ConfigError: not an enrolment request of this site for this invite, or not signed by both its keys.
    """
    verifier = enrolment.token_verifier(bytes.fromhex(invite.token))
    try:
        request = enrolment.open_enrolment(
            data,
            deployment=invite.deployment,
            site=invite.site,
            verifier=verifier,
            registry_version=registry_version,
        )
    except ProtocolError as error:
        raise ConfigError(
            f"the request is not in order ({error.code}); nothing was sent",
            "Give the very file that the steward signed, made with this invite.",
        ) from None
    if request.agent.keyid != agent.keyid:
        raise ConfigError(
            "the request names another site's key; nothing was sent",
            "Give the request that was made at this site.",
        )


def post_request(aggregator: Aggregator, data: bytes) -> None:
    """Hand a fully signed request to the aggregator, where it waits for a person. Repeating it changes nothing."""
    aggregator.post("/v1/enrolments", data, limit=_MAX_ANSWER)
