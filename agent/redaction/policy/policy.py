"""Redaction policies: identifiers to detect, their replacements, and limits beyond which fields are withheld."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final, Literal, cast, get_args

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

# How much is removed: each level is a shipped policy (see `choose_policy`).
Level = Literal["default", "strict", "readable"]

# In place of languages: each text is searched in the languages in which it is written.
AUTO: Final = "auto"

# Every policy must list these entities, and the self-test requires them (see `agent.redaction.self_test`).
NEEDED: tuple[Entity, ...] = ("NAME", "MRN", "PHONE", "EMAIL", "SSN")

_EXPECTED = "See docs/redaction-policies.md for all keys and their values."

NAME_PATTERN = r"^[a-z][a-z0-9_]{0,63}$"


_Location = tuple[int | str, ...]  # position of a value in a policy file: ("models", 0, "path")
_Entry = Annotated[str, Field(min_length=2, max_length=100), AfterValidator(check_entry)]
Entries = Annotated[tuple[_Entry, ...], Field(max_length=50_000)]


# A longer field is allowed more seconds, in proportion to its length.
_CHARACTERS_OF_SECONDS = 200_000


class Limits(BaseModel):
    """The limits beyond which a field is withheld entirely.

    Attributes:
        field_characters: maximum length of a field.
        field_seconds: maximum processor time of each step of the analysis of a field of up to 200,000 characters.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    field_characters: Annotated[int, Field(ge=1, le=10_000_000)]
    field_seconds: Annotated[float, Field(gt=0, le=600)]

    def allow_seconds(self, characters: int) -> float:
        """Return the maximum processor time, in seconds, of each step of the analysis of a field of this length."""
        return self.field_seconds * max(1.0, characters / _CHARACTERS_OF_SECONDS)


class OwnRecognizer(BaseModel):
    """A pattern defined by the site.

    Attributes:
        entity: the entity of every match.
        pattern: a regular expression of the `regex` module. It is case-sensitive unless it begins with (?i), and \\K
            discards the text before it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    entity: Entity
    pattern: Annotated[str, Field(min_length=1, max_length=2000)]

    @field_validator("pattern")
    @classmethod
    def _check_pattern(cls, pattern: str) -> str:
        check_pattern(pattern)
        return pattern


class OtherModel(BaseModel):
    """A model from elsewhere, or one trained on the site's own texts.

    Attributes:
        kind: the library that loads the model; "intramural" for a model written by `redact train`.
        path: absolute path of the model's folder.
        labels: the entity of each label of the model; None for labels that do not identify a person.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: Literal["intramural", "spacy", "transformers", "gliner", "onnx"]
    path: Annotated[str, Field(pattern=r"^/", max_length=1000)]
    labels: dict[str, Entity | None] = {}


class RedactionPolicy(BaseModel):
    """The contents of one policy file.

    Attributes:
        languages: languages of the texts. Every text is analysed by the recognisers of all of them. "auto" alone: each
            text is analysed by the recognisers of the known languages in which it is written.
        operators: by entity, how it is replaced; "default" applies to entities that are not listed. See
            `list_operators`. An entity without an operator is replaced by a tag.
        recognizers: patterns defined by the site.
        models: models whose detections are added to those of the rules. If "shipped", the package's own model, is not
            among them, the models must have been admitted (see `agent.redaction.models.admission`).
        deny: phrases that are always replaced, by entity.
        allow: phrases within which detections are dropped, unless the phrases are known to name one of the people of
            the record.
        threshold: the minimum confidence of a detection, from 0 to 1.
        model_odds: factor for the odds of the bounds of models of kind intramural and onnx. Below 1, models take more
            words, above 1 fewer.
        published: whether the prompts and references of the shipped public benchmarks, whose data is recognised by its
            digest, are shown as they are ("shown") or redacted like other texts ("redacted").
        outside_judges: whether text redacted under this policy may be sent to outside judges
            (`outside_judge_hosts` in site.yaml lists their hosts).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: Annotated[str, Field(pattern=NAME_PATTERN)]
    version: Annotated[int, Field(ge=1)]
    languages: Annotated[tuple[Literal["auto"] | Language, ...], Field(min_length=1)]
    title: Annotated[str, Field(max_length=80)]
    entities: Annotated[tuple[Entity, ...], Field(min_length=1)]
    operators: dict[str, str] = {}
    recognizers: Annotated[tuple[OwnRecognizer, ...], Field(max_length=200)] = ()
    models: Annotated[
        tuple[Literal["shipped"] | OtherModel, ...], Field(min_length=1, max_length=8)
    ] = ("shipped",)
    deny: dict[Entity, Entries] = {}
    allow: Entries = ()
    limits: Limits
    threshold: Annotated[float, Field(ge=0, le=1)]
    model_odds: Annotated[float, Field(ge=0.001, le=1000)] = 1.0
    published: Literal["shown", "redacted"] = "shown"
    outside_judges: bool = False

    @field_validator("languages", mode="before")
    @classmethod
    def _wrap_auto(cls, languages: object) -> object:
        return (AUTO,) if languages == AUTO else languages

    @field_validator("languages")
    @classmethod
    def _check_auto_alone(cls, languages: tuple[str, ...]) -> tuple[str, ...]:
        if AUTO in languages and len(languages) > 1:
            raise ValueError("auto stands for all languages and cannot be combined with one")
        return languages

    @field_validator("languages", "entities")
    @classmethod
    def _check_unique(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        repeated = sorted({value for value in values if values.count(value) > 1})
        if repeated:
            raise ValueError(f"{', '.join(repeated)} is listed twice")
        return values

    @field_validator("entities")
    @classmethod
    def _check_needed(cls, entities: tuple[Entity, ...]) -> tuple[Entity, ...]:
        missing = [entity for entity in NEEDED if entity not in entities]
        if missing:
            raise ValueError(f"every policy must list {', '.join(missing)}")
        return entities

    @field_validator("operators")
    @classmethod
    def _check_operators(cls, operators: dict[str, str]) -> dict[str, str]:
        for entity, operator in operators.items():
            if entity != "default" and entity not in get_args(Entity):
                raise ValueError(f"{entity[:40]} is not an entity")
            if operator not in list_operators(entity):
                raise ValueError(f"{entity}: expected {' or '.join(list_operators(entity))}")
        return operators

    @model_validator(mode="after")
    def _check_entities_named(self) -> "RedactionPolicy":
        named: dict[str, set[str]] = {
            "operators": set(self.operators) - {"default"},
            "recognizers": {recognizer.entity for recognizer in self.recognizers},
            "deny": set(self.deny),
        }
        for key, entities in named.items():
            stray = sorted(entities - set(self.entities))
            if stray:
                raise ValueError(
                    f"{key}: not among the entities of this policy: {', '.join(stray)}"
                )
        return self

    @property
    def chooses_language(self) -> bool:
        """Whether each text is analysed only in the languages in which it is written."""
        return self.languages == (AUTO,)

    @property
    def read_languages(self) -> tuple[Language, ...]:
        """The languages whose recognisers may be applied. The first is that of texts whose language is unclear."""
        languages = get_args(Language) if self.chooses_language else self.languages
        return cast("tuple[Language, ...]", languages)

    @property
    def other_models(self) -> tuple[OtherModel, ...]:
        """The models that are not shipped with the package."""
        return tuple(model for model in self.models if isinstance(model, OtherModel))

    def choose_operator(self, entity: str) -> str:
        """Return the operator for `entity`: one of `list_operators(entity)`."""
        chosen = self.operators.get(entity)
        if chosen is None and self.operators.get("default") == "surrogate":
            chosen = {"DATE": "shift", "AGE": "cap"}.get(entity, "surrogate")
        return chosen if chosen in list_operators(entity) else "tag"

    @property
    def keyed_operators(self) -> bool:
        """Whether any replacement depends on the site's key."""
        return bool(
            {"surrogate", "shift"} & {self.choose_operator(entity) for entity in self.entities}
        )


def list_operators(entity: str) -> tuple[str, ...]:
    """Return the operators that may be chosen for `entity`, which may be "default"."""
    match entity:
        case "DATE":
            return ("tag", "year", "shift")
        case "AGE":
            return ("tag", "cap")
        case (
            "RELATIVE_DATE"
            | "AGE_BELOW_90"
            | "SEX"
            | "FAMILY"
            | "PROFESSION"
            | "NATIONALITY"
            | "UNKNOWN_WORD"
        ):
            return ("tag",)
        case _:
            return ("tag", "surrogate")


def replace_models(policy: RedactionPolicy, models: Sequence[object]) -> RedactionPolicy:
    """Return `policy` with other models, given as in a policy file.

    Raises:
        RedactionError: one of them is not a valid model; the message identifies it.
    """
    try:
        return RedactionPolicy.model_validate({**policy.model_dump(), "models": models})
    except ValidationError as error:
        raise _make_error("models", error) from None


def load_policy(
    name: str, directory: Path | None = None, language: str | None = None
) -> RedactionPolicy:
    """Read the policy that `redaction_policy` in site.yaml names.

    Args:
        name: a shipped policy (`hipaa_safe_harbor`) or a file of the site (`ours.yaml`).
        directory: the site directory, to which the name of a file is relative.
        language: the language of the texts ("es") or "auto", instead of the policy's languages.

    Raises:
        RedactionError: the policy is missing, its file is not a valid policy (the message gives the file and the key),
            or the language is unknown.
    """
    path = _locate_policy(name, directory)
    try:
        content = parse_yaml(path.read_bytes(), Path(path.name), RedactionError)
        policy = RedactionPolicy.model_validate(content)
    except OSError as error:
        known = ", ".join(
            sorted(path.stem for path in (shipped("policies") / "redaction").glob("*.yaml"))
        )
        raise RedactionError(
            f"redaction policy {path.name} cannot be read ({error.strerror})",
            f"Give one of {known}, or a file of your own that ends in .yaml.",
        ) from None
    except ValidationError as error:
        raise _make_error(f"redaction policy {path.name}", error) from None
    if language is None:
        return policy
    return policy.model_copy(update={"languages": (_check_language(language),)})


def choose_policy(level: Level, language: str | None = None) -> str:
    """Return the name of the shipped policy for a level of redaction and a language (None for that of each text).

    For Spanish alone, the levels default and strict both use the GDPR policy, which replaces all entities.
    """
    if level == "readable":
        return "readable"
    if language not in (None, AUTO, "en"):
        return "gdpr"
    return "strict" if level == "strict" else "hipaa_safe_harbor"


def _make_error(subject: str, error: ValidationError) -> RedactionError:
    """Return an error that lists each invalid key.

    Values are not quoted, unlike in pydantic's messages, because one may be a name on a list of the site.
    """
    problems: list[tuple[_Location, str]] = [
        (detail["loc"], detail["msg"]) for detail in error.errors()
    ]
    problems_of_model = [
        (location, message) for location, message in problems if location[2:3] == ("OtherModel",)
    ]
    if problems_of_model:
        # A model may be a word or a mapping, and pydantic reports the problems of both alternatives. Keep only those
        # of the mapping, which was probably intended.
        problems_elsewhere = [
            (location, message) for location, message in problems if location[:1] != ("models",)
        ]
        problems = problems_elsewhere + problems_of_model
    descriptions = [_describe_problem(location, message) for location, message in problems]
    return RedactionError(f"{subject}: " + "; ".join(descriptions), _EXPECTED)


def _describe_problem(location: _Location, message: str) -> str:
    """Return the key and its problem, in this program's own words."""
    message = message.removeprefix("Value error, ")
    message = message.replace(
        "String should match pattern '^/'", "expected the absolute path of a folder"
    )
    message = message.replace("Extra inputs are not permitted", "unknown key")
    key = ".".join(str(part) for part in location if part not in ("[key]", "OtherModel"))
    return f"{key}: {message}" if key else message


def _check_language(name: str) -> Literal["auto"] | Language:
    if name in (AUTO, *get_args(Language)):
        return cast("Language", name)
    raise RedactionError(
        f"texts in the language {name[:20]!r} cannot be redacted",
        f"Known languages: {', '.join((AUTO, *get_args(Language)))}.",
    )


def _locate_policy(name: str, directory: Path | None) -> Path:
    if name.endswith(".yaml"):
        path = Path(name) if directory is None else directory / name
        if not path.is_absolute() and directory is None:
            raise RedactionError(
                f"redaction policy {path.name}: a relative path cannot be resolved here",
                "Give an absolute path.",
            )
        return path
    if not re.fullmatch(NAME_PATTERN, name):
        raise RedactionError(
            f"{name[:40]!r} is not the name of a redaction policy",
            "Give a policy of policies/redaction, or a file of your own that ends in .yaml.",
        )
    return shipped("policies") / "redaction" / f"{name}.yaml"
