"""The site's membership in a federation: the invite it accepted and the registries it trusts.

Trust starts with the invite file: the root key ids in it determine who may sign the first registry that the site
accepts.
Every later version must be signed by the roots of the version before it, and no version is ever rolled back.

    membership.json             deployment, site id, address, root key ids (never the invite's token)
    enrolment.dsse.json         the enrolment request
    registry/00000007.dsse.json every accepted registry version; intermediate versions with the same roots may be absent
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
# Maximum number of root changes that one update follows, so that no aggregator can keep an update running forever.
_MAX_STEPS: Final = 1024

Hex64 = Annotated[str, Field(pattern=r"\A[0-9a-f]{64}\z")]


class Invite(BaseModel):
    """An invite from the central team, received over a channel that both sides trust.

    The token can be used only once.
    """

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
    """The stored part of an invite. `url` is empty for a site that only exchanges files."""

    deployment: str
    site: str
    url: str
    root_keys: tuple[str, ...]
    root_threshold: int

    @property
    def pins(self) -> RootPins:
        """The root keys that may sign the first registry."""
        return RootPins(self.deployment, frozenset(self.root_keys), self.root_threshold)


def read_invite(path: Path) -> Invite:
    """Read an invite file. Raises ConfigError, which never quotes the file because it contains a token."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"the invite {path.name} cannot be read ({error.strerror})",
            "Give the path of the file that the central team sent as --invite.",
        ) from None
    if len(content) > _MAX_INVITE:
        raise ConfigError(
            f"{path.name} is not an invite: it is longer than {_MAX_INVITE} bytes",
            "Give the path of the file that the central team sent as --invite.",
        )
    try:
        return Invite.model_validate_json(content)
    except ValidationError as error:
        faults = sorted(
            {".".join(str(part) for part in fault["loc"]) or "file" for fault in error.errors()}
        )
        raise ConfigError(
            f"{path.name} is not an invite; invalid or missing fields: {', '.join(faults)}",
            "Ask the central team for another invite.",
        ) from None


class Federation:
    """The files of the site's membership in its folder `submissions/`."""

    def __init__(self, directory: Path) -> None:
        """Use the files in `directory`, the site's folder `submissions/`."""
        self._directory = directory
        self._versions = directory / "registry"
        self._request = directory / "enrolment.dsse.json"

    @property
    def is_member(self) -> bool:
        """Whether the site has accepted an invite."""
        return (self._directory / "membership.json").exists()

    def read_membership(self) -> Membership:
        """Return the membership. Raises ConfigError if the site has not accepted an invite, or the file is damaged."""
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
                "submissions/membership.json is damaged", "Restore it from a backup."
            ) from None

    def join(self, membership: Membership, agent_keyid: str) -> None:
        """Store a membership. A new invite from the same aggregator replaces one that did not lead to an enrolment.

        Raises:
            ConfigError: the site already belongs to another aggregator, or is enrolled under another id.
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
                    f"this site already belongs to {before.deployment} as {before.site}",
                    "Create a separate site directory for another aggregator.",
                )
        write_atomically(
            path, json.dumps(asdict(membership), indent=1, sort_keys=True).encode() + b"\n"
        )

    def _led_to_enrolment(self, membership: Membership, agent_keyid: str) -> bool:
        """Return whether the newest accepted registry lists this agent's key under the membership's site."""
        trusted = self.read_trusted()
        return isinstance(trusted, Registry) and is_enrolled(trusted, membership.site, agent_keyid)

    def leave(self) -> None:
        """Delete all files of a membership that did not lead to an enrolment; `membership.json` is deleted last."""
        files = [
            *self._versions.glob("*.dsse.json"),
            self._request,
            self._directory / "membership.json",
        ]
        for path in files:
            path.unlink(missing_ok=True)
        sync_directory(self._directory)

    def read_request(self) -> bytes | None:
        """Return the stored enrolment request, or None. It is stored so that sending it again sends the same bytes."""
        if not self._request.exists():
            return None
        return read_bounded(self._request, MAX_BYTES[STATEMENT_TYPE], "the enrolment request")

    def keep_request(self, data: bytes) -> None:
        """Store an enrolment request with one or both signatures."""
        write_atomically(self._request, data)

    def read_trusted(self) -> Registry | RootPins:
        """Return the newest accepted registry, or the pins if there is none; every version is verified.

        Raises:
            DisclosureError: the file of a version was changed.
        """
        trusted: Registry | RootPins = self.read_membership().pins
        for registry in self._iterate_versions():
            trusted = registry
        return trusted

    def _iterate_versions(self) -> Iterator[Registry]:
        """Yield the accepted versions, each verified with the one before. Raises DisclosureError if one was changed."""
        trusted: Registry | RootPins = self.read_membership().pins
        for path in sorted(
            self._versions.glob("*.dsse.json")
        ):  # the glob is empty if the folder does not exist
            try:
                trusted = step_registry(
                    read_bounded(path, MAX_BYTES[REGISTRY_TYPE], path.name), trusted
                )
            except ProtocolError as error:
                raise DisclosureError(
                    f"the stored registry {path.name} does not verify ({error.code})",
                    "Restore the folder submissions/registry from a backup.",
                ) from None
            yield trusted

    def read_registry(self, today_day: int) -> Registry:
        """Return the newest accepted registry. Raises DisclosureError if there is none, or it has expired."""
        newest = self.read_trusted()
        if isinstance(newest, RootPins):
            raise DisclosureError(
                "this site has no registry yet", "Run `intramural registry update`."
            )
        if today_day >= newest.expires_day:
            raise DisclosureError(
                f"registry {newest.version} has expired",
                "Get a newer one with `intramural registry update`.",
            )
        return newest

    def read_version(self, version: int) -> Registry | None:
        """Return a version of the registry, or None if it is not stored. Raises DisclosureError."""
        for registry in self._iterate_versions():
            if registry.version == version:
                return registry
        return None

    def read_registry_file(self, today_day: int) -> bytes:
        """Return the signed file of the newest accepted registry. Raises the errors of `read_registry`."""
        path = self._locate_version(self.read_registry(today_day).version)
        return read_bounded(path, MAX_BYTES[REGISTRY_TYPE], path.name)

    def take(self, data: bytes, today_day: int) -> Registry:
        """Accept a registry that is the newest one already stored, or follows it.

        Raises:
            DeliveryError: it is not signed by the trusted roots, is older, has expired, or has the same version as
                the newest one but other content.
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
        """Fetch and accept the newest registry, and the intermediate versions that changed the roots.

        Raises:
            DeliveryError: the registry cannot be accepted (see `take`), or the aggregator cannot be reached.
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
        """Accept an intermediate version that changed the roots; it may have expired."""
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
    """Return the last version between `trusted` and `newest` that the trusted roots signed, or None.

    Roots never sign again after they have been replaced, so a binary search finds that version.
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
    """Return whether the roots in `trusted` signed a version. Its content is not trusted yet."""
    try:
        step_registry(data, trusted)
    except ProtocolError as error:
        return error.code not in {Code.UNDER_THRESHOLD, Code.UNKNOWN_KEY}
    return True


def is_enrolled(registry: Registry, site: str, agent_keyid: str) -> bool:
    """Return whether the registry lists this agent key as a valid key of `site`.

    The site's id alone is not enough, because another site may have the same id.
    """
    site_and_key = registry.site_of(agent_keyid)
    if site_and_key is None:
        return False
    enrolled_site, key = site_and_key
    return enrolled_site == site and key.role == "agent" and key.revoked_from is None


def _claimed_version(data: bytes) -> int:
    """Return the version that a fetched registry claims to be. Its content is not trusted yet."""
    try:
        claimed = json.loads(envelope.decode(data, REGISTRY_TYPE).payload)["version"]
    except (ProtocolError, ValueError, KeyError, TypeError, RecursionError):
        claimed = None
    if not isinstance(claimed, int):
        raise _not_taken(ProtocolError(Code.MALFORMED, "the answer is not a registry"))
    return claimed


def _not_taken(error: ProtocolError) -> DeliveryError:
    reasons = {
        Code.REGISTRY_ROLLBACK: "it is older than the one that this site has",
        Code.REGISTRY_SPLIT: "its content differs from that of the same version at this site",
        Code.REGISTRY_EXPIRED: "it has expired",
        Code.UNDER_THRESHOLD: "it is not signed by the roots that this site trusts",
        Code.WRONG_DEPLOYMENT: "it belongs to another aggregator",
    }
    return DeliveryError(
        f"the registry was not accepted: {reasons.get(error.code, 'it does not verify')} ({error.code})",
        "The site's present registry stays in use. If this happens again, tell the central team.",
    )


def make_request(invite: Invite, agent: Signer, steward: PublicKey, registry_version: int) -> bytes:
    """Return an enrolment request with the agent's signature; `sign_request` adds the steward's.

    Raises:
        ConfigError: both keys are the same, or the invite's deployment or site id is malformed.
    """
    if agent.public.keyid == steward.keyid:
        raise ConfigError(
            "the steward's key is the agent's key",
            "The steward must be another person with a separate key.",
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
    """Return the request with the steward's signature added, unless it has that signature already.

    Raises:
        ConfigError: `data` is not an enrolment request, or the request names another steward.
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
    """Return the agent's and the steward's keys in a request. Raises ConfigError if it is not one."""
    try:
        statement = parse_statement(envelope.decode(data).payload)
        if isinstance(statement, EnrollPredicate):
            return load_public(statement.agent_key), load_public(statement.steward_key)
    except ProtocolError as error:
        raise ConfigError(f"this is not an enrolment request ({error.code})") from None
    raise ConfigError("this is not an enrolment request")


def check_request(data: bytes, invite: Invite, agent: PublicKey, registry_version: int) -> None:
    """Check a request that came back as a file: only content that its keys signed may leave the site.

    Args:
        data: the request in the form in which it would be sent.
        invite: the invite that it must answer, with its token.
        agent: the site's own key.
        registry_version: version of the newest registry that the site has; 1 if it has none.

    Raises:
        ConfigError: it is not this site's enrolment request for this invite, or lacks one of the two signatures.
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
            f"the request is not valid ({error.code}); nothing was sent",
            "Provide the file that the steward signed, from a request made with this invite.",
        ) from None
    if request.agent.keyid != agent.keyid:
        raise ConfigError(
            "the request names another site's key; nothing was sent",
            "Provide the request that was made at this site.",
        )


def post_request(aggregator: Aggregator, data: bytes) -> None:
    """Send a fully signed request to the aggregator, where a person decides on it. Repeating this is harmless."""
    aggregator.post("/v1/enrolments", data, limit=_MAX_ANSWER)
