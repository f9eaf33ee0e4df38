"""Redaction policies: what must be found, and the limits past which a field is withheld."""

import re
from pathlib import Path
from typing import Annotated, Literal, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent.catalog.strict_yaml import parse_yaml
from agent.errors import RedactionError
from agent.redaction.entities import Entity
from agent.shipped import shipped

Language = Literal["en", "es"]

NAME_PATTERN = r"^[a-z][a-z0-9_]{0,63}$"


class Limits(BaseModel):
    """Past these a field is withheld whole."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    field_characters: Annotated[int, Field(ge=1, le=10_000_000)]
    field_seconds: Annotated[float, Field(gt=0, le=600)]


class RedactionPolicy(BaseModel):
    """One policy file.

    Attributes:
        languages: of the texts; the recognisers of all of them look at every text.
        threshold: the confidence, 0 to 1, that a finding must reach.
        outside_judges: whether text redacted by this policy may be sent to judges outside (`outside_judge_hosts` in
            site.yaml names them).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: Annotated[str, Field(pattern=NAME_PATTERN)]
    version: Annotated[int, Field(ge=1)]
    languages: Annotated[tuple[Language, ...], Field(min_length=1)]
    title: Annotated[str, Field(max_length=80)]
    entities: Annotated[tuple[Entity, ...], Field(min_length=1)]
    limits: Limits
    threshold: Annotated[float, Field(ge=0, le=1)]
    outside_judges: bool = False


def load_policy(name: str, directory: Path | None = None, language: str | None = None) -> RedactionPolicy:
    """Read the policy that `redaction_policy` in site.yaml names.

    Args:
        name: a shipped policy (`hipaa_safe_harbor`), or a file of the site's own (`ours.yaml`).
        directory: the site's, from which the name of a file is read.
        language: of the texts ("es"), in place of those that the policy names.

    Raises:
        RedactionError: there is no such policy, its file is not a policy (names the file and the key), or nothing here
            reads that language.
    """
    path = _policy_path(name, directory)
    try:
        content = parse_yaml(path.read_bytes(), Path(path.name), RedactionError)
        policy = RedactionPolicy.model_validate(content)
    except OSError as error:
        raise RedactionError(f"redaction policy {path.name} cannot be read: {type(error).__name__}") from error
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'file'}: {e['msg']}" for e in error.errors())
        raise RedactionError(f"redaction policy {path.name}: {problems}") from error
    if len(set(policy.entities)) != len(policy.entities):
        raise RedactionError(f"redaction policy {path.name}: entities: an entity is listed twice")
    return policy if language is None else policy.model_copy(update={"languages": (_language(language),)})


def policy_for(level: Literal["default", "strict"], language: str | None = None) -> str:
    """Return the name of the shipped policy for texts in `language` (None: English), by how much it takes."""
    if level == "strict":
        return "strict"
    return "hipaa_safe_harbor" if language in (None, "en") else "gdpr"


def _language(name: str) -> Language:
    for known in get_args(Language):
        if name == known:
            return cast("Language", known)
    raise RedactionError(
        f"texts in the language {name[:20]!r} cannot be redacted", f"Known languages: {', '.join(get_args(Language))}."
    )


def _policy_path(name: str, directory: Path | None) -> Path:
    if name.endswith(".yaml"):
        path = Path(name) if directory is None else directory / name
        if not path.is_absolute() and directory is None:
            raise RedactionError(f"redaction policy {path.name}: it is not said from which folder its name is read")
        return path
    if not re.fullmatch(NAME_PATTERN, name):
        raise RedactionError(
            "redaction_policy in site.yaml is not the name of a policy",
            "Name a policy of policies/redaction, or a file in the site directory that ends in .yaml.",
        )
    return shipped("policies") / "redaction" / f"{name}.yaml"
