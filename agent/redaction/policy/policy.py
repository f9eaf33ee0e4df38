"""Redaction policies: what must be found, and the limits past which a field is withheld."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, cast, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from agent.errors import RedactionError
from agent.io.packaged import shipped
from agent.io.strict_yaml import parse_yaml
from agent.redaction.entities import Entity
from agent.redaction.policy.site_patterns import check_entry, check_pattern

Language = Literal["en", "es"]

# Every policy must ask for these, and the self-test demands them under each (see `agent.redaction.self_test`).
NEEDED: tuple[Entity, ...] = ("NAME", "MRN", "PHONE", "EMAIL", "SSN")

_EXPECTED = "docs/redaction-policies.md has every key and what it may hold."

NAME_PATTERN = r"^[a-z][a-z0-9_]{0,63}$"


_Entry = Annotated[str, Field(min_length=2, max_length=100), AfterValidator(check_entry)]
Entries = Annotated[tuple[_Entry, ...], Field(max_length=50_000)]


class Limits(BaseModel):
    """Past these a field is withheld whole."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    field_characters: Annotated[int, Field(ge=1, le=10_000_000)]
    field_seconds: Annotated[float, Field(gt=0, le=600)]


class OwnRecognizer(BaseModel):
    """A pattern of the site's own.

    Attributes:
        entity: what a match is.
        pattern: a regular expression of the `regex` module; case counts unless it begins with (?i), and \\K drops what
            is before it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    entity: Entity
    pattern: Annotated[str, Field(min_length=1, max_length=2000)]

    @field_validator("pattern")
    @classmethod
    def _works(cls, pattern: str) -> str:
        check_pattern(pattern)
        return pattern


class OtherModel(BaseModel):
    """A model made elsewhere, or trained here on the site's own texts.

    Attributes:
        kind: what loads it; "intramural" is one that `redact train` wrote.
        path: its folder, absolute.
        labels: what its labels mean here; None: nothing that identifies.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: Literal["intramural", "spacy", "transformers", "gliner"]
    path: Annotated[str, Field(pattern=r"^/", max_length=1000)]
    labels: dict[str, Entity | None] = {}


class RedactionPolicy(BaseModel):
    """One policy file.

    Attributes:
        languages: of the texts; the recognisers of all of them look at every text.
        operators: what is written for an entity, by entity, and by "default" for those that are not named: see
            `operators_of`. Tags where nothing is said.
        recognizers: patterns of the site's own.
        models: whose findings are united with those of the rules. Without "shipped", the package's own, the others
            must have been admitted (see `agent.redaction.models.admission`).
        deny: words that are always taken out, by what they are.
        allow: words that no finding may consist of, unless they are known to name one of the record's people.
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
    operators: dict[str, str] = {}
    recognizers: Annotated[tuple[OwnRecognizer, ...], Field(max_length=200)] = ()
    models: Annotated[tuple[Literal["shipped"] | OtherModel, ...], Field(min_length=1, max_length=8)] = ("shipped",)
    deny: dict[Entity, Entries] = {}
    allow: Entries = ()
    limits: Limits
    threshold: Annotated[float, Field(ge=0, le=1)]
    outside_judges: bool = False

    @field_validator("languages", "entities")
    @classmethod
    def _once(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        if twice := sorted({value for value in values if values.count(value) > 1}):
            raise ValueError(f"{', '.join(twice)} is listed twice")
        return values

    @field_validator("entities")
    @classmethod
    def _needed(cls, entities: tuple[Entity, ...]) -> tuple[Entity, ...]:
        if missing := [entity for entity in NEEDED if entity not in entities]:
            raise ValueError(f"every policy must ask for {', '.join(missing)}")
        return entities

    @field_validator("operators")
    @classmethod
    def _known(cls, operators: dict[str, str]) -> dict[str, str]:
        for entity, operator in operators.items():
            if entity != "default" and entity not in get_args(Entity):
                raise ValueError(f"{entity[:40]} is no entity")
            if operator not in operators_of(entity):
                raise ValueError(f"{entity}: expected {' or '.join(operators_of(entity))}")
        return operators

    @model_validator(mode="after")
    def _asked_for(self) -> "RedactionPolicy":
        named: dict[str, set[str]] = {
            "operators": set(self.operators) - {"default"},
            "recognizers": {own.entity for own in self.recognizers},
            "deny": set(self.deny),
        }
        for key, used in named.items():
            if stray := sorted(used - set(self.entities)):
                raise ValueError(f"{key}: {', '.join(stray)} is not among the entities of this policy")
        return self

    @property
    def other_models(self) -> tuple[OtherModel, ...]:
        """The models that are not the package's own."""
        return tuple(model for model in self.models if isinstance(model, OtherModel))

    def operator(self, entity: str) -> str:
        """Return what is done to `entity`: one of `operators_of(entity)`."""
        chosen = self.operators.get(entity)
        if chosen is None and self.operators.get("default") == "surrogate":
            chosen = {"DATE": "shift", "AGE": "cap"}.get(entity, "surrogate")
        return chosen if chosen in operators_of(entity) else "tag"

    @property
    def keyed_operators(self) -> bool:
        """Whether anything written depends on the site's key."""
        return bool({"surrogate", "shift"} & {self.operator(entity) for entity in self.entities})


def operators_of(entity: str) -> tuple[str, ...]:
    """Return the operators that `entity` can have; "default" is an entity here."""
    match entity:
        case "DATE":
            return ("tag", "year", "shift")
        case "AGE":
            return ("tag", "cap")
        case "RELATIVE_DATE" | "AGE_BELOW_90" | "SEX" | "FAMILY" | "PROFESSION" | "NATIONALITY" | "UNKNOWN_WORD":
            return ("tag",)
        case _:
            return ("tag", "surrogate")


def with_models(policy: RedactionPolicy, models: Sequence[object]) -> RedactionPolicy:
    """Return `policy` with other models, written as in a policy file.

    Raises:
        RedactionError: one of them is none; names it.
    """
    try:
        return RedactionPolicy.model_validate({**policy.model_dump(), "models": models})
    except ValidationError as error:
        raise _wrong("models", error) from None


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
        known = ", ".join(sorted(path.stem for path in (shipped("policies") / "redaction").glob("*.yaml")))
        raise RedactionError(
            f"redaction policy {path.name} cannot be read ({error.strerror})",
            f"Name one of {known}, or a file of your own that ends in .yaml.",
        ) from None
    except ValidationError as error:
        raise _wrong(f"redaction policy {path.name}", error) from None
    return policy if language is None else policy.model_copy(update={"languages": (_language(language),)})


def policy_for(level: Literal["default", "strict"], language: str | None = None) -> str:
    """Return the name of the shipped policy for texts in `language` (None: English), by how much it takes.

    What is not English is held to the GDPR, which takes all that can be found there, at either level.
    """
    if language not in (None, "en"):
        return "gdpr"
    return "strict" if level == "strict" else "hipaa_safe_harbor"


def _wrong(what: str, error: ValidationError) -> RedactionError:
    """Say what is wrong, and where. What is wrong may be a name on a list of the site's: pydantic would quote it."""
    found = [(one["loc"], one["msg"]) for one in error.errors()]
    # Of a model that is none pydantic tells how it is not each of the two things that it could be.
    model = [(place, message) for place, message in found if place[2:3] == ("OtherModel",)]
    found = [one for one in found if one[0][:1] != ("models",) or not model] + model
    return RedactionError(f"{what}: " + "; ".join(_problem(place, message) for place, message in found), _EXPECTED)


def _problem(place: tuple[int | str, ...], message: str) -> str:
    where = ".".join(str(part) for part in place if part not in ("[key]", "OtherModel"))
    message = message.replace("String should match pattern '^/'", "expected the absolute path of a folder")
    message = message.replace("Extra inputs are not permitted", "there is no such key")
    return f"{f'{where}: ' if where else ''}{message.removeprefix('Value error, ')}"


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
            f"{name[:40]!r} is not the name of a redaction policy",
            "Name a policy of policies/redaction, or a file of your own that ends in .yaml.",
        )
    return shipped("policies") / "redaction" / f"{name}.yaml"
