"""Drafts: files with an unsigned registry version, sent to the people who hold its root keys and returned by them.

A draft contains the version that it follows and the requests that it implements, so that the holder of a root key can
read every change in plain words on a machine without any other data.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aggregator.errors import RegistryError, SettingsError
from aggregator.registry.explanations import (
    check_sizes,
    explain_difference,
    explain_expiry,
    explain_requests,
)
from aggregator.registry.proposals import Proposal
from aggregator.registry.versions import own_pins
from aggregator.small_file import read_small, replace_file
from protocol import schema
from protocol.canonical import canonical, parse_canonical
from protocol.envelope import (
    MAX_BYTES,
    REGISTRY_TYPE,
    Envelope,
    Signature,
    decode,
    decode_base64,
    encode,
    encode_base64,
    pae,
)
from protocol.errors import ProtocolError
from protocol.keys import PublicKey, Signer
from protocol.registry import Registry, build_registry, parse_registry, step_registry

_KIND: Final = "registry draft"
_SCHEMA_VERSION: Final = 1
_MAX_SIZE: Final = 3 * MAX_BYTES[REGISTRY_TYPE]  # bytes, for two registries and their requests
_MAX_REQUESTS: Final = 10_000
_DRAFT: Final = frozenset(
    {"kind", "schema", "base", "log_size", "payload", "requests", "signatures"}
)
_SIGNATURE: Final = frozenset({"keyid", "sig"})


@dataclass(frozen=True, slots=True)
class Draft:
    """A proposal and its root signatures so far.

    Attributes:
        before: the registry that it follows. It is known to be signed by its own roots, but nothing more.
        payload: canonical bytes of the new registry, which the roots sign.
        signatures: verified signatures by roots of the old or the new registry.
    """

    proposal: Proposal
    before: Registry
    payload: bytes
    signatures: tuple[Signature, ...]

    @property
    def after(self) -> Registry:
        """The new registry."""
        return self.proposal.registry

    def explain(self) -> list[str]:
        """Return every change in plain words, the new expiry, and the size of the log when the draft was composed.

        Raises:
            RegistryError: a site gains a key without a request in the draft, or an index or size in the draft is
                invalid.
        """
        log_size = self.proposal.log_size
        size = f"{log_size} {'entry' if log_size == 1 else 'entries'}"
        return [
            *self.explain_changes(),
            explain_expiry(self.before, self.after),
            f"The log had {size} when this was proposed; the next entry is {log_size}.",
        ]

    def explain_changes(self) -> list[str]:
        """Return every change except that of the expiry; empty for a draft that changes only the expiry.

        Raises:
            RegistryError: as `explain`.
        """
        log_size = self.proposal.log_size
        lines = explain_requests(self.before, self.after, self.proposal.requests, log_size=log_size)
        check_sizes(self.before, self.after, log_size=log_size)
        return [*lines, *explain_difference(self.before, self.after)]

    def describe_base(self) -> list[str]:
        """Return lines about the version that the draft claims to follow, for people to compare with their records."""
        digest = hashlib.sha256(self.proposal.base).hexdigest()
        lines = [
            f"It follows version {self.before.version}, of which {self.before.threshold} of "
            f"{len(self.before.roots)} root keys must sign, with the digest",
            f"    {digest}",
        ]
        lines += [f"    root key {key.fingerprint}" for key in self.before.roots]
        return lines

    def is_content_of(self, envelope: bytes) -> bool:
        """Return whether a signed registry of the aggregator has this draft's content, whichever roots signed it."""
        return decode(envelope, REGISTRY_TYPE).payload == self.payload

    def check_root(self, keyid: str) -> None:
        """Check that the key is a root of the old or the new registry. Raises RegistryError."""
        if keyid not in _roots(self.before, self.after):
            raise RegistryError(
                f"key {keyid[:16]} is not a root key of the registry in force or of the new one",
                "Nothing was signed. `registry show DRAFT` names the root keys.",
            )

    def check_remembered(self, remembered: bytes) -> None:
        """Check that the draft's base is, or follows, the base of the last draft that a root key signed.

        Args:
            remembered: the signed registry that `remember_base` stored.

        Raises:
            RegistryError: the base is older, or not signed by the roots known at that time.
        """
        try:
            known = parse_registry(decode(remembered, REGISTRY_TYPE).payload)
            step_registry(self.proposal.base, known)
        except ProtocolError as error:
            raise RegistryError(
                f"the draft does not follow the registry on which this key's last draft was based: {error.detail} "
                f"({error.code})",
                "Nothing was signed. Ask the holders of the other root keys, by telephone, which version is in force "
                "and who made the draft. If the roots were replaced more than once since this key last signed, remove "
                "the file KEY.registry and compare all fingerprints with them.",
            ) from None

    def missing(self) -> list[str]:
        """Return sentences on the signatures that the draft still lacks; empty if it has enough."""
        lines = []
        signed = {signature.keyid for signature in self.signatures}
        is_same = (self.before.roots, self.before.threshold) == (
            self.after.roots,
            self.after.threshold,
        )
        for registry in (self.after,) if is_same else (self.before, self.after):
            held = len([key for key in registry.roots if key.keyid in signed])
            if held < registry.threshold:
                whose = "" if is_same else f" by the roots of version {registry.version}"
                more = registry.threshold - held
                lines.append(
                    f"has {held} of {registry.threshold} signatures{whose}; {more} more needed"
                )
        return lines

    def describe_signatures(self) -> str:
        """Return sentences on whether the draft has enough signatures."""
        missing = self.missing()
        return (
            " ".join(f"It {sentence}." for sentence in missing)
            if missing
            else "It has enough signatures."
        )

    def describe_roots(self) -> list[str]:
        """Return the root keys that have signed or may sign, one line each."""
        signed = {signature.keyid for signature in self.signatures}
        lines = []
        for keyid, key in _roots(self.before, self.after).items():
            state = "has signed    " if keyid in signed else "has not signed"
            lines.append(f"    {state} {key.fingerprint}")
        return lines

    def envelope(self) -> bytes:
        """Return the signed file of the new registry.

        Raises:
            RegistryError: too few roots have signed.
        """
        if self.missing():
            raise RegistryError(
                "the draft " + ", and ".join(self.missing()),
                "Nothing was changed. Have more roots sign with `registry sign`.",
            )
        return encode(Envelope(REGISTRY_TYPE, self.payload, self.signatures))


def start_draft(proposal: Proposal) -> Draft:
    """Return the draft of a proposal, without a signature.

    Raises:
        RegistryError: the new registry is not valid.
    """
    try:
        payload = build_registry(proposal.registry)
        before = parse_registry(decode(proposal.base, REGISTRY_TYPE).payload)
    except ProtocolError as error:
        raise RegistryError(
            f"the new registry would not be valid: {error.detail} ({error.code})"
        ) from None
    return Draft(proposal, before, payload, ())


def sign_draft(draft: Draft, signer: Signer) -> Draft:
    """Return the draft with a root key's signature; unchanged if the key has already signed.

    Raises:
        RegistryError: the key is not a root of the old or the new registry.
    """
    keyid = signer.public.keyid
    draft.check_root(keyid)
    if keyid in {signature.keyid for signature in draft.signatures}:
        return draft
    signature = Signature(keyid, signer.sign(pae(REGISTRY_TYPE, draft.payload)))
    return Draft(draft.proposal, draft.before, draft.payload, (*draft.signatures, signature))


def remembered_base(key: Path) -> bytes | None:
    """Return the base of the last draft that the root key in this file signed; None if it has not signed here.

    Raises:
        SettingsError: the file next to the key cannot be read.
    """
    try:
        return _base_file(key).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SettingsError(f"{_base_file(key).name} cannot be read: {error.strerror}") from None


def remember_base(key: Path, draft: Draft) -> None:
    """Store a draft's base next to the root key that signed the draft. Raises SettingsError."""
    path = _base_file(key)
    replace_file(path, draft.proposal.base)


def _base_file(key: Path) -> Path:
    return key.with_name(f"{key.name}.registry")


def merge_signatures(draft: Draft, other: Draft) -> Draft:
    """Return the draft with the signatures from a copy that other roots have signed.

    Raises:
        RegistryError: the other draft is not a copy of this one.
    """
    if (draft.payload, draft.proposal) != (other.payload, other.proposal):
        raise RegistryError(
            "the drafts contain different changes", "Give only copies of the same draft."
        )
    known = {signature.keyid for signature in draft.signatures}
    added = tuple(signature for signature in other.signatures if signature.keyid not in known)
    return Draft(draft.proposal, draft.before, draft.payload, (*draft.signatures, *added))


def write_draft(path: Path, draft: Draft) -> None:
    """Write a draft, atomically replacing any file with that name.

    Raises:
        SettingsError: the draft cannot be written.
    """
    proposal = draft.proposal
    fields = {
        "kind": _KIND,
        "schema": _SCHEMA_VERSION,
        "base": encode_base64(proposal.base),
        "log_size": proposal.log_size,
        "payload": encode_base64(draft.payload),
        "requests": [encode_base64(request) for request in proposal.requests],
        "signatures": [
            {"keyid": entry.keyid, "sig": encode_base64(entry.sig)} for entry in draft.signatures
        ],
    }
    replace_file(path, canonical(fields))


def refuse_overwriting(path: Path) -> None:
    """Check that a new draft may be written here: there is no file, or only an unsigned draft.

    Raises:
        SettingsError: the file is not a draft, or it has signatures.
    """
    if not path.exists():
        return
    try:
        has_signatures = bool(read_draft(path).signatures)
    except (SettingsError, RegistryError):
        raise SettingsError(
            f"{path.name} exists and is not a registry draft",
            "Nothing was written. Name another file with --out.",
        ) from None
    if has_signatures:
        raise SettingsError(
            f"{path.name} is a draft that already has root signatures",
            "Nothing was written. Commit it, remove it, or name another file with --out.",
        )


def read_draft(path: Path) -> Draft:
    """Read a draft and verify everything that can be verified without the log.

    Raises:
        SettingsError: the file cannot be read or is not a draft.
        RegistryError: the draft's registries or signatures are not valid.
    """
    data = read_small(path, _MAX_SIZE)
    try:
        proposal, payload, signatures = _parse(data)
    except ProtocolError as error:
        raise SettingsError(f"{path.name} is not a registry draft: {error.detail}") from None
    try:
        claimed = parse_registry(decode(proposal.base, REGISTRY_TYPE).payload)
        before = step_registry(proposal.base, own_pins(claimed))
        if proposal.registry.version != before.version + 1:
            raise RegistryError(
                f"{path.name} is not valid: its version does not follow its base's version"
            )
        roots = _roots(before, proposal.registry)
        message = pae(REGISTRY_TYPE, payload)
        for signature in signatures:
            if signature.keyid not in roots:
                raise RegistryError(f"{path.name} is signed by a key that is not a root key")
            roots[signature.keyid].verify(signature.sig, message)
    except ProtocolError as error:
        raise RegistryError(f"{path.name} is not valid: {error.detail} ({error.code})") from None
    return Draft(proposal, before, payload, signatures)


def _parse(data: bytes) -> tuple[Proposal, bytes, tuple[Signature, ...]]:
    found = schema.record(parse_canonical(data), _DRAFT, "draft")
    schema.choice(found["kind"], "kind", (_KIND,))
    schema.integer(found["schema"], "schema", _SCHEMA_VERSION, _SCHEMA_VERSION)
    payload = decode_base64(found["payload"], "payload")
    requests = schema.array(found["requests"], "requests", 0, _MAX_REQUESTS)
    proposal = Proposal(
        base=decode_base64(found["base"], "base"),
        log_size=schema.integer(found["log_size"], "log_size"),
        registry=parse_registry(payload),
        requests=tuple(decode_base64(request, "requests") for request in requests),
    )
    signatures = []
    for item in schema.array(found["signatures"], "signatures", 0, 16):
        entry = schema.record(item, _SIGNATURE, "signatures")
        keyid = schema.text(entry["keyid"], "keyid", schema.HEX64)
        signatures.append(Signature(keyid, decode_base64(entry["sig"], "sig")))
    return proposal, payload, tuple(signatures)


def _roots(before: Registry, after: Registry) -> dict[str, PublicKey]:
    return {key.keyid: key for key in (*before.roots, *after.roots)}
