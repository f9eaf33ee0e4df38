"""A draft that was made to deceive the roots: an invented base, a gap in the versions, words that hide a change."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aggregator.errors import RegistryError, SettingsError
from aggregator.key_files import keep_key
from aggregator.registry.draft_file import read_draft, refuse_overwriting, start_draft, write_draft
from aggregator.registry.draft_file import sign_draft as add_signature
from aggregator.registry.explanations import explain_difference
from aggregator.registry.proposals import Proposal
from protocol.checkpoint import LogKey
from protocol.envelope import REGISTRY_TYPE, sign
from protocol.keys import Ed25519Signer, Signer
from protocol.registry import Registry, build_registry, step_registry
from tests.forked import run_command
from tests.protocol.world import REGISTRY, ed25519_signer

ANNA_KEY = Ed25519PrivateKey.from_private_bytes(b"a" * 32)
ANNA = Ed25519Signer(ANNA_KEY)
BORIS, EVIL, OTHER = (ed25519_signer(number) for number in (2002, 2004, 2005))
KNOWN = replace(REGISTRY, version=5, roots=(ANNA.public, BORIS.public), threshold=2)
"""The registry in force, as everybody trusts it."""


def published(registry: Registry, *signers: Signer) -> bytes:
    return sign(build_registry(registry), signers, REGISTRY_TYPE)


def write(path: Path, base: bytes, after: Registry) -> Path:
    write_draft(path, start_draft(Proposal(base, 10, after, ())))
    return path


def renewal(registry: Registry) -> Registry:
    return replace(registry, version=registry.version + 1, expires_day=registry.expires_day + 1)


@pytest.fixture
def annas_key(tmp_path: Path) -> Path:
    """The file of a root key, on a machine where it has signed nothing yet."""
    keep_key(tmp_path / "anna" / "anna.key", ANNA_KEY)
    return tmp_path / "anna" / "anna.key"


def sign_draft(draft: Path, key: Path) -> "subprocess.CompletedProcess[str]":
    return run_command("aggregator", "registry", "sign", draft, "--key", key, "--yes")


@pytest.mark.full
def test_a_draft_on_an_invented_base_is_not_signed_by_a_root_that_has_signed_before(
    tmp_path: Path, annas_key: Path
) -> None:
    """Its author holds no root key: the base names him a root beside the true ones, and he alone has signed it."""
    base = published(KNOWN, ANNA, BORIS)
    first = sign_draft(write(tmp_path / "first", base, renewal(KNOWN)), annas_key)
    assert first.returncode == 0, first.stderr
    assert "Compare with the other root key holders" in first.stdout
    assert all(key.fingerprint in first.stdout for key in KNOWN.roots)

    invented = replace(KNOWN, version=6, roots=(*KNOWN.roots, EVIL.public), threshold=1)
    path = write(tmp_path / "invented", published(invented, EVIL), renewal(invented))
    said = sign_draft(path, annas_key)
    assert said.returncode != 0
    assert "Nothing was signed" in said.stderr
    assert read_draft(path).signatures == ()
    # What the signatures would have been good for: whoever trusts the true registry takes it.
    assert (
        EVIL.public in step_registry(published(renewal(invented), ANNA, BORIS, EVIL), KNOWN).roots
    )

    again = sign_draft(write(tmp_path / "again", base, renewal(KNOWN)), annas_key)
    assert again.returncode == 0, again.stderr
    assert "Compare with the other root key holders" not in again.stdout


def test_a_draft_on_an_older_version_than_the_key_knows_is_not_signed(
    tmp_path: Path, annas_key: Path
) -> None:
    """A revocation in version 6 would be taken back by a version 7 that is made from version 5."""
    newer = renewal(KNOWN)
    assert (
        sign_draft(
            write(tmp_path / "a", published(newer, ANNA, BORIS), renewal(newer)), annas_key
        ).returncode
        == 0
    )
    said = sign_draft(
        write(tmp_path / "b", published(KNOWN, ANNA, BORIS), renewal(KNOWN)), annas_key
    )
    assert said.returncode != 0
    assert "registry_rollback" in said.stderr


@pytest.mark.parametrize("version", [5, 7, 2**31 - 1])
def test_a_draft_whose_version_does_not_follow_its_base_does_not_hold(
    tmp_path: Path, version: int
) -> None:
    path = write(
        tmp_path / "draft", published(KNOWN, ANNA, BORIS), replace(renewal(KNOWN), version=version)
    )
    with pytest.raises(RegistryError, match="does not follow"):
        read_draft(path)


def test_an_old_log_key_that_is_exchanged_is_named() -> None:
    known = replace(KNOWN, log_keys=(LogKey(BORIS.public, 0, 100), LogKey(OTHER.public, 100)))
    after = replace(
        renewal(known), log_keys=(LogKey(EVIL.public, 0, 101), LogKey(OTHER.public, 101))
    )
    assert EVIL.public.fingerprint in " ".join(explain_difference(known, after))


def test_a_key_that_goes_without_a_word_is_named() -> None:
    site, entry = next(iter(KNOWN.sites.items()))
    gone = entry.keys[0]
    after = replace(
        renewal(KNOWN), sites={**KNOWN.sites, site: replace(entry, keys=entry.keys[1:])}
    )
    assert f"{gone.key.keyid[:16]} is no longer in the registry" in " ".join(
        explain_difference(KNOWN, after)
    )


def test_other_content_under_a_known_name_is_refused() -> None:
    digest, policy = next(iter(KNOWN.policies.items()))
    weaker = replace(policy, pooled_sites=2)
    others = {key: value for key, value in KNOWN.policies.items() if key != digest}
    after = replace(
        renewal(KNOWN), policies={**others, weaker.digest: weaker}, policy_floor=weaker.digest
    )
    with pytest.raises(RegistryError, match="different content"):
        explain_difference(KNOWN, after)
    with pytest.raises(RegistryError, match="a different deployment or log"):
        explain_difference(KNOWN, replace(renewal(KNOWN), log_name="other.example"))


def test_a_new_draft_is_written_over_no_key_and_no_signed_draft(
    tmp_path: Path, annas_key: Path
) -> None:
    with pytest.raises(SettingsError, match="not a registry draft"):
        refuse_overwriting(annas_key)
    path = write(tmp_path / "draft", published(KNOWN, ANNA, BORIS), renewal(KNOWN))
    refuse_overwriting(path)
    write_draft(path, add_signature(read_draft(path), ANNA))
    with pytest.raises(SettingsError, match="already has root signatures"):
        refuse_overwriting(path)
    refuse_overwriting(tmp_path / "new")


def refusal_of(path: Path, key: Path) -> str:
    said = sign_draft(path, key)
    assert said.returncode == 4, said.stdout
    assert read_draft(path).signatures == ()
    return said.stderr


def with_key(registry: Registry, **fields: int | None) -> Registry:
    """The registry with other indices of one key."""
    site_id, site = next(iter(registry.sites.items()))
    keys = (replace(site.keys[0], **fields), *site.keys[1:])  # type: ignore[arg-type]
    return replace(registry, sites={**registry.sites, site_id: replace(site, keys=keys)})


@pytest.mark.parametrize("log_size", [5, 500])
def test_a_key_that_begins_later_so_that_its_results_fall_is_not_signed(
    tmp_path: Path, annas_key: Path, log_size: int
) -> None:
    after = with_key(renewal(KNOWN), from_index=5)
    path = tmp_path / "draft"
    write_draft(path, start_draft(Proposal(published(KNOWN, ANNA, BORIS), log_size, after, ())))
    said = refusal_of(path, annas_key)
    assert "moves the start" in said
    assert "from log entry 0 to 5" in " ".join(said.split())


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"until_index": 3}, "would end at log entry 3, but the log has 10 entries"),
        ({"until_index": 900}, "would end at log entry 900"),
        ({"revoked_from": 11}, "would be revoked from log entry 11 on, but the log has 10 entries"),
    ],
)
def test_an_end_of_a_key_that_the_log_cannot_have_is_not_signed(
    tmp_path: Path, annas_key: Path, fields: dict[str, int], words: str
) -> None:
    path = write(
        tmp_path / "draft", published(KNOWN, ANNA, BORIS), with_key(renewal(KNOWN), **fields)
    )
    assert words in " ".join(refusal_of(path, annas_key).split())


def test_a_log_smaller_than_the_base_has_seen_is_not_signed(
    tmp_path: Path, annas_key: Path
) -> None:
    """Its author could let a reset revoke the old key from an entry of last year."""
    known = with_key(KNOWN, until_index=11)
    path = write(tmp_path / "draft", published(known, ANNA, BORIS), renewal(known))
    assert "had at least 11 when version 5 came into force" in " ".join(
        refusal_of(path, annas_key).split()
    )


def test_a_log_key_from_a_size_that_is_not_reached_is_not_signed(
    tmp_path: Path, annas_key: Path
) -> None:
    old = KNOWN.log_keys[-1]
    keys = (*KNOWN.log_keys[:-1], replace(old, until_size=40), LogKey(OTHER.public, 40))
    path = write(
        tmp_path / "draft", published(KNOWN, ANNA, BORIS), replace(renewal(KNOWN), log_keys=keys)
    )
    assert "begins at size 40, but the log has 10 entries" in " ".join(
        refusal_of(path, annas_key).split()
    )


@pytest.mark.parametrize("day", [1, 2**31 - 1])
def test_an_expiry_that_is_past_or_never_comes_is_not_signed(
    tmp_path: Path, annas_key: Path, day: int
) -> None:
    path = write(
        tmp_path / "draft", published(KNOWN, ANNA, BORIS), replace(renewal(KNOWN), expires_day=day)
    )
    assert "would" in refusal_of(path, annas_key)


def test_every_change_of_an_expiry_a_key_or_a_model_is_told_with_what_it_was(
    tmp_path: Path,
) -> None:
    known = with_key(KNOWN, revoked_from=9)
    digest, model = next(iter(known.models.items()))
    other = replace(
        model, is_language_model=not model.is_language_model, organization="Somebody Else"
    )
    after = with_key(
        replace(known, version=6, expires_day=known.expires_day - 1), revoked_from=2, until_index=10
    )
    after = replace(after, models={**known.models, digest: other})
    draft = start_draft(Proposal(published(known, ANNA, BORIS), 10, after, ()))
    said = " ".join(draft.explain())
    assert "revoked from log entry 2 on (before: from 9 on)" in said
    assert "may not sign from log entry 10 on" in said
    assert "made by Somebody Else (before: " in said
    assert "EARLIER than before" in said
    assert "The log had 10 entries" in said


def test_a_draft_says_which_signatures_it_has_and_how_many_more_it_needs(tmp_path: Path) -> None:
    draft = start_draft(Proposal(published(KNOWN, ANNA, BORIS), 10, renewal(KNOWN), ()))
    assert draft.describe_signatures() == "It has 0 of 2 signatures; 2 more needed."
    draft = add_signature(draft, ANNA)
    assert draft.describe_signatures() == "It has 1 of 2 signatures; 1 more needed."
    assert [line.split()[:2] for line in draft.describe_roots()] == [
        ["has", "signed"],
        ["has", "not"],
    ]
    assert add_signature(draft, BORIS).describe_signatures() == "It has enough signatures."
    taken_over = replace(renewal(KNOWN), roots=(ANNA.public, OTHER.public))
    draft = add_signature(
        start_draft(Proposal(published(KNOWN, ANNA, BORIS), 10, taken_over, ())), BORIS
    )
    assert (
        "has 1 of 2 signatures by the roots of version 5; 1 more needed"
        in draft.describe_signatures()
    )
    assert (
        "has 0 of 2 signatures by the roots of version 6; 2 more needed"
        in draft.describe_signatures()
    )
