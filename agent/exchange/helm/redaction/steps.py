"""Steps, each of which transforms one value of HELM's files. `shapes` assigns a step to each field.

A step receives the walk and a value, and returns the value for the new tree, or `OMIT`. The first steps below process
the elements of maps and lists; the others decide about single values. Every value that is not shown is passed to
`Walk.hide`, so that identifiers in it are searched for in the texts that are shown.
"""

import math
import re
from typing import Any, Final

from agent.exchange.helm.redaction.kinds import Kind
from agent.exchange.helm.redaction.names import is_private_setting
from agent.exchange.helm.redaction.vouched import numeric_settings
from agent.exchange.helm.redaction.walk import OMIT, REDACTED, Step, Walk

HIGHEST_FIGURE: Final = 999_999  # in a statistic: patient and telephone numbers have more digits
DEEPEST: Final = 20  # levels of maps and lists in settings, annotations and schemas
_HIGHEST_SETTING = 9_999
_HIGHEST_GRADE = 100
_MAX_TEXT_SHARE = 999_999  # tokens, characters or bytes
_MAX_DECIMALS = 4  # significant digits in a fractional setting
_GRADE = re.compile(r"(?:.*[^a-z])?(?:score|grade|rating|points?|label|rank)s?", re.IGNORECASE)
_MEASURES_TEXT = re.compile(r"(?:.*_)?(?:tokens|length|size|characters|bytes)")
_QUOTES_A_CASE = frozenset({"prompt_text", "explanation"})  # annotations that quote the instance


def take_fields(**steps: Step) -> Step:
    """Return a step for a map with known keys. Other keys are left out."""

    def step(walk: Walk, value: Any) -> Any:
        if not isinstance(value, dict):
            return omit_unknown(walk, value)
        fields: dict[str, Any] = {}
        for key, inner in value.items():
            inner_step = steps.get(key, omit_unknown)
            new = inner_step(walk, inner)
            if new is not OMIT:
                fields[key] = new
        return fields

    return step


def take_each(item_step: Step) -> Step:
    """Return a step for a list of items of the same kind."""

    def step(walk: Walk, value: Any) -> Any:
        if not isinstance(value, list):
            return omit_unknown(walk, value)
        stepped = [item_step(walk, item) for item in value]
        return [new for new in stepped if new is not OMIT]

    return step


def take_named(value_step: Step) -> Step:
    """Return a step for a map from names to values of the same kind."""

    def step(walk: Walk, value: Any) -> Any:
        if not isinstance(value, dict):
            return omit_unknown(walk, value)
        named: dict[str, Any] = {}
        for name, inner in value.items():
            new = value_step(walk, inner)
            if new is not OMIT:
                named[walk.names.show(name)] = new
        return named

    return step


def take_named_runs(value_step: Step) -> Step:
    """Return a step for a map from names of runs to values of the same kind."""

    def step(walk: Walk, value: Any) -> Any:
        if not isinstance(value, dict):
            return omit_unknown(walk, value)
        runs: dict[str, Any] = {}
        for run_name, inner in value.items():
            new = value_step(walk, inner)
            if new is not OMIT:
                runs[walk.names.show_run(run_name)] = new
        return runs

    return step


def take_instance(inner_step: Step, *id_path: str) -> Step:
    """Return a step that treats a value as the texts of one instance, whose id is at `id_path`."""

    def step(walk: Walk, value: Any) -> Any:
        raw_id = value
        for key in id_path:
            raw_id = raw_id.get(key) if isinstance(raw_id, dict) else None
        with walk.instance(raw_id):
            return inner_step(walk, value)

    return step


def keep_one_of(*words: str) -> Step:
    """Return a step that keeps a value if it is one of `words`."""

    def step(walk: Walk, value: Any) -> Any:
        if value is None or value in words:
            return value
        return omit_unknown(walk, value)

    return step


def leave_out(kind: Kind) -> Step:
    """Return a step for a field of HELM's that is never shown, counted as `kind`."""

    def step(walk: Walk, value: Any) -> Any:
        if value not in (None, [], {}, ""):
            walk.hide(value, kind)
        return OMIT

    return step


def put_instead(replacement: Any, kind: Kind) -> Step:
    """Return a step that replaces a field that is never shown but that HELM's tools require."""

    def step(walk: Walk, value: Any) -> Any:
        if value != replacement:
            walk.hide(value, kind)
        return replacement

    return step


def keep_up_to(highest: int) -> Step:
    """Return a step for a number that reveals nothing about a person: a count, a score, a setting.

    A number above `highest` or below `-highest` is left out.
    """

    def step(walk: Walk, value: Any) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if not is_number(value):
            return omit_unknown(walk, value)
        if abs(value) <= highest:
            return value
        walk.hide(value, "numbers")
        return OMIT

    return step


# Steps for single values


keep_figure = keep_up_to(HIGHEST_FIGURE)
keep_size = keep_up_to(_MAX_TEXT_SHARE)
_keep_small = keep_up_to(_HIGHEST_SETTING)


def keep_setting(walk: Walk, value: Any) -> Any:
    """Keep a number that a person could have chosen: small, or a fraction with few digits."""
    is_measured = isinstance(value, float) and float(f"{value:.{_MAX_DECIMALS}g}") != value
    if is_measured:
        walk.hide(value, "numbers")
        return OMIT
    return _keep_small(walk, value)


def keep_flag(walk: Walk, value: Any) -> Any:
    """Keep true or false."""
    if value is None or isinstance(value, bool):
        return value
    return omit_unknown(walk, value)


def redact_text(walk: Walk, value: Any) -> Any:
    """Redact a text that belongs to the benchmark rather than to an instance."""
    if value is None:
        return None
    if not isinstance(value, str):
        return omit_unknown(walk, value)
    return walk.show_text(value)


def blank_text(walk: Walk, value: Any) -> Any:
    """Blank a text from an instance."""
    if value is None:
        return None
    if value != REDACTED:
        walk.hide(value, "texts of cases")
    return REDACTED


def redact_output(walk: Walk, value: Any) -> Any:
    """Redact a text that a model wrote, or blank it if the options require that."""
    if value is None or value == "":
        return value
    if not isinstance(value, str) or walk.options.blank_outputs:
        return blank_text(walk, value)
    return walk.show_text(value)


def show_name(walk: Walk, value: Any) -> Any:
    """Show a name that HELM's tools look up, or replace it with a label."""
    if value is None:
        return None
    if not isinstance(value, str):
        return omit_unknown(walk, value)
    return walk.names.show(value)


def show_name_of_data(walk: Walk, value: Any) -> Any:
    """Show a name that may come from a record, unless it contains a name of a person in the record."""
    if value is None:
        return None
    if not isinstance(value, str):
        return omit_unknown(walk, value)
    return walk.show_name(value)


def show_run_name(walk: Walk, value: Any) -> Any:
    """Show the name of a run, with its settings."""
    if not isinstance(value, str):
        return omit_unknown(walk, value)
    return walk.names.show_run(value)


def hash_id(walk: Walk, value: Any) -> Any:
    """Replace the id of an instance with its keyed hash."""
    if value is None:
        return None
    raw_id = value if isinstance(value, str) else repr(value)
    return walk.names.hash_id(raw_id)


def show_settings(walk: Walk, value: Any, key: str = "", depth: int = 0) -> Any:
    """Redact the arguments of a site-configured class.

    Keep plain names, and numbers in settings that HELM's classes are known to have; remove paths and free text. Any
    other number may come from a record: {"hadm_id": 20000147}.
    """
    if isinstance(value, dict) and depth < DEEPEST:
        return _show_map_of_settings(walk, value, depth)
    if isinstance(value, list) and depth < DEEPEST:
        shown = [show_settings(walk, inner, key, depth + 1) for inner in value]
        return [new for new in shown if new is not OMIT]
    if isinstance(value, str):
        return walk.names.show(value)
    if not is_number(value):
        return keep_flag(walk, value)
    if key not in numeric_settings():
        walk.hide(value, "numbers")
        return OMIT
    if _MEASURES_TEXT.fullmatch(key):
        return keep_size(walk, value)
    return keep_setting(walk, value)


def _show_map_of_settings(walk: Walk, settings: dict[str, Any], depth: int) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    for key, inner in settings.items():
        if is_private_setting(key):
            walk.hide(inner, "settings")
            continue
        new = show_settings(walk, inner, key, depth + 1)
        if new is not OMIT:
            shown[walk.names.show(key)] = new
    return shown


def redact_annotations(walk: Walk, value: Any) -> Any:
    """Redact the annotations of one answer, by annotator."""
    if value is None:
        return None
    if not isinstance(value, dict):
        return omit_unknown(walk, value)
    return redact_annotation(walk, value)


def redact_annotation(walk: Walk, value: Any, key: str = "", depth: int = 0) -> Any:
    """Redact a reply of a judge or another annotator, whatever its structure."""
    if isinstance(value, dict) and depth < DEEPEST:
        return {
            walk.show_name(inner): redact_annotation(walk, value[inner], inner, depth + 1)
            for inner in value
        }
    if isinstance(value, list) and depth < DEEPEST:
        return [redact_annotation(walk, inner, key, depth + 1) for inner in value]
    if isinstance(value, str):
        if walk.options.blank_annotations or key in _QUOTES_A_CASE:
            return blank_text(walk, value)
        return walk.show_text(value)
    if value is None or isinstance(value, bool):
        return value
    if _is_grade(value, key):
        return value
    walk.hide(value, "numbers of annotations")
    return REDACTED


def _is_grade(value: Any, key: str) -> bool:
    """Return whether a number is a grade. Any other number may come from a record: a database row, a year."""
    is_small = is_number(value) and abs(value) <= _HIGHEST_GRADE
    return is_small and _GRADE.fullmatch(key) is not None and not is_private_setting(key)


def omit_unknown(walk: Walk, value: Any) -> Any:
    """Leave out a field that HELM does not have, or a value whose form HELM does not use there."""
    walk.hide(value, "unknown fields")
    return OMIT


def is_number(value: Any) -> bool:
    """Return whether this is a finite number. True and false are not numbers."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)
