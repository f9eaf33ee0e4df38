"""Serialisation of a federation's state to JSON values and arrays, so that the next publication can
continue from it. Pure.

JSON values refer to the arrays by number. Data that can be derived from the rest is not stored.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final

import numpy
from numpy.typing import NDArray

from aggregator.merge.accepted import Withdrawal
from aggregator.merge.board_model import MergedCell, State, Why
from aggregator.merge.federation import Federation, Merged, MergedKey, ModelState, Taken
from aggregator.merge.ranges import MainFigures
from aggregator.merge.site_cell import Integers
from aggregator.merge.steps import Past
from protocol.policy import DisclosurePolicy
from protocol.predicates import WithdrawPredicate
from protocol.registry import Registry
from protocol.statements import build_statement, parse_statement

Array = NDArray[Any]
Put = Callable[[Array], int]
"""A function that stores an array and returns its number."""

_TEXTS: Final = (
    *("site", "model", "scorecard", "agent", "policy", "plan", "assurance", "outcome", "approval"),
)  # fields of a result that have few distinct values
_NUMBERS: Final = ("position", "day", "flags")
_ROWS: Final = (
    "present",
    "shown",
    "marks",
    "weight",
    "shown_result",
    "present_result",
    "was_shown",
    "is_fresh",
)
_COLUMNS: Final = ("since", "taken", "fresh")
_STATES: Final = tuple(State)
_REASONS: Final = (None, *Why)
_CELL_NUMBERS: Final = tuple(
    field.name for field in fields(MergedCell) if field.name not in {"state", "why"}
)
_DIGEST: Final = 64  # hexadecimal digits
_NONE: Final = -(2**31)  # represents None among the numbers of a merged cell


class _Texts:
    """Numbered texts and rows of texts, each stored once."""

    def __init__(self, texts: Sequence[str] = ()) -> None:
        self.texts = list(texts)
        self.rows: dict[tuple[str, ...], int] = {}
        self._numbers = {text: number for number, text in enumerate(self.texts)}

    def write(self, texts: Iterable[str]) -> Array:
        """Return the numbers of the given texts."""
        numbers = []
        for text in texts:
            number = self._numbers.get(text)
            if number is None:
                number = self._numbers[text] = len(self.texts)
                self.texts.append(text)
            numbers.append(number)
        return numpy.array(numbers, dtype=numpy.int64)

    def write_row(self, row: tuple[str, ...]) -> int:
        """Return the number of a row of texts."""
        return self.rows.setdefault(row, len(self.rows))

    def read(self, numbers: Array) -> list[str]:
        """Return the texts with the given numbers."""
        return [self.texts[number] for number in numbers.tolist()]


def store_federation(federation: Federation, put: Put) -> dict[str, Any]:
    """Return the state as JSON values. Arrays are stored with `put`."""
    texts = _Texts()
    stored = {
        "results": _store_results(federation.results, texts, put),
        "models": [
            _store_model(key, state, texts, put) for key, state in federation.models.items()
        ],
        "policies": list(federation.policies),
        "unknown": federation.unknown,
        "withdrawals": [
            [number, *_store_withdrawal(found)] for number, found in federation.withdrawals.items()
        ],
        "counts": put(federation.counts),
    }
    stored["rows"] = [put(texts.write(row)) for row in texts.rows]
    stored["texts"] = texts.texts
    return stored


def restore_federation(
    stored: Mapping[str, Any], arrays: Sequence[Array], registry: Registry
) -> Federation:
    """Restore a stored state under a registry that contains everything to which the state refers.

    Raises:
        LookupError, TypeError, ValueError: the values are inconsistent, or do not match the
            registry.
    """
    federation = Federation(registry)
    texts = _Texts(stored["texts"])
    for digest in stored["policies"]:
        federation.policies[digest] = len(federation.policies)
    for taken in _restore_results(stored["results"], texts, arrays, federation):
        federation.file(taken)
    federation.unknown = list(stored["unknown"])
    federation.withdrawals = {
        number: _restore_withdrawal(*found) for number, *found in stored["withdrawals"]
    }
    federation.counts = arrays[stored["counts"]].copy()
    if [[key[0], key[1]] for key in federation.models] != [
        model["key"] for model in stored["models"]
    ]:
        raise ValueError("models without results")
    rows = [tuple(texts.read(arrays[row])) for row in stored["rows"]]
    for state, model in zip(federation.models.values(), stored["models"], strict=True):
        _restore_model(state, model, texts, arrays, federation)
        if model["merged"] is not None:
            state.merged = _restore_merged(model["merged"], rows, arrays, registry)
    return federation


def _store_results(results: Sequence[Taken], texts: _Texts, put: Put) -> dict[str, Any]:
    stored: dict[str, Any] = {}
    for name in _TEXTS:
        stored[name] = put(texts.write([getattr(taken, name) for taken in results]))
    for name in _NUMBERS:
        stored[name] = put(
            numpy.array([getattr(taken, name) for taken in results], dtype=numpy.int64)
        )
    digests = bytes.fromhex("".join(taken.digest for taken in results))
    stored["digest"] = put(numpy.frombuffer(digests, dtype=numpy.uint8))
    stored["keyids"] = put(texts.write([" ".join(taken.keyids) for taken in results]))
    stored["is_hidden"] = put(
        numpy.array([taken.is_hidden for taken in results], dtype=numpy.bool_)
    )
    stored["place"] = put(
        numpy.array([taken.place for taken in results], dtype=numpy.int64).reshape(-1, 2)
    )
    stored["codes"] = put(_join([taken.codes for taken in results]))
    return stored


def _restore_results(
    stored: Mapping[str, Any], texts: _Texts, arrays: Sequence[Array], federation: Federation
) -> list[Taken]:
    columns: dict[str, list[Any]] = {name: texts.read(arrays[stored[name]]) for name in _TEXTS}
    for name in (*_NUMBERS, "is_hidden"):
        columns[name] = arrays[stored[name]].tolist()
    columns["digest"] = _restore_digests(arrays[stored["digest"]])
    signers = {
        text: tuple(text.split(" ")) for text in texts.texts
    }  # results of the same site share one tuple
    columns["keyids"] = [signers[text] for text in texts.read(arrays[stored["keyids"]])]
    columns["place"] = [(epoch, seq) for epoch, seq in arrays[stored["place"]].tolist()]
    columns["codes"] = _restore_codes(arrays[stored["codes"]], columns["scorecard"], federation)
    order = [field.name for field in fields(Taken)]
    return [Taken(*values) for values in zip(*(columns[name] for name in order), strict=True)]


def _restore_digests(array: Array) -> list[str]:
    digits = array.tobytes().hex()
    return [digits[start : start + _DIGEST] for start in range(0, len(digits), _DIGEST)]


def _restore_codes(array: Array, scorecards: Sequence[str], federation: Federation) -> list[Any]:
    """Split the array of all codes by result. A result has as many codes as its scorecard has cells."""
    cells = {digest: len(federation.lay_out(digest).keys) for digest in set(scorecards)}
    codes = _Pieces(array.astype(numpy.int64))
    return [codes.take(cells[digest]) for digest in scorecards]


def _store_withdrawal(withdrawal: Withdrawal) -> list[Any]:
    payload = build_statement(withdrawal.predicate).decode("ascii")
    return [withdrawal.position, list(withdrawal.keyids), payload, withdrawal.publication]


def _restore_withdrawal(
    position: int, keyids: list[str], payload: str, publication: Any
) -> Withdrawal:
    predicate = parse_statement(payload.encode("ascii"))
    if not isinstance(predicate, WithdrawPredicate):
        raise TypeError("not a withdrawal")
    return Withdrawal(position, tuple(keyids), predicate, publication)


def _store_model(
    key: tuple[str, str], state: ModelState, texts: _Texts, put: Put
) -> dict[str, Any]:
    steps = state.steps
    rows = len(steps.sites)
    past = [
        [row, put(one.marks), put(one.was_shown)]
        for row, earlier in steps.past.items()
        for one in earlier
    ]
    return {
        "key": list(key),
        "sites": put(texts.write(list(steps.sites))),
        "rows": {name: put(getattr(steps, name)[:rows]) for name in _ROWS},
        "columns": {name: put(getattr(steps, name)) for name in _COLUMNS},
        "past": past,
        "named": put(numpy.array(list(state.named.values()), dtype=numpy.int64)),
        "replaced": put(texts.write(sorted(state.replaced))),
        "changes": state.changes,
        "merged": None if state.merged is None else _store_merged(state.merged, texts, put),
    }


def _restore_model(
    state: ModelState,
    stored: Mapping[str, Any],
    texts: _Texts,
    arrays: Sequence[Array],
    federation: Federation,
) -> None:
    steps = state.steps
    steps.sites = {site: row for row, site in enumerate(texts.read(arrays[stored["sites"]]))}
    for name in _ROWS:
        rows: Array = getattr(steps, name)
        setattr(
            steps,
            name,
            _check(arrays[stored["rows"][name]], (len(steps.sites), *rows.shape[1:]), rows),
        )
    for name in _COLUMNS:
        column: Array = getattr(steps, name)
        setattr(steps, name, _check(arrays[stored["columns"][name]], column.shape, column))
    for row, marks, was_shown in stored["past"]:
        earlier = Past(
            _check(arrays[marks], steps.since.shape, steps.marks),
            _check(arrays[was_shown], steps.since.shape, steps.was_shown),
        )
        steps.past.setdefault(row, []).append(earlier)
    for number in arrays[stored["named"]].tolist():
        state.named[federation.results[number].site] = number
    state.replaced = set(texts.read(arrays[stored["replaced"]]))
    state.changes = stored["changes"]


def _check(array: Array, shape: tuple[int, ...], like: Array) -> Array:
    """Return a writable copy. Raises ValueError if the array has another shape."""
    if array.shape != shape:
        raise ValueError("an array has an unexpected shape")
    return array.astype(like.dtype)


def _store_merged(merged: Merged, texts: _Texts, put: Put) -> dict[str, Any]:
    key = merged.key
    cells = numpy.array([_cell_numbers(cell) for cell in merged.cells.values()], dtype=numpy.int64)
    return {
        "replaced": list(key.replaced),
        "changes": key.changes,
        "floor": key.floor.digest,
        "policies": [policy.digest for policy in key.policies],
        "columns": put(numpy.array(list(merged.cells), dtype=numpy.int64)),
        "cells": put(cells.reshape(len(merged.cells), 2 + len(_CELL_NUMBERS))),
        "main": None if merged.main is None else _store_main(merged.main, texts, put),
    }


def _restore_merged(
    stored: Mapping[str, Any],
    site_rows: Sequence[tuple[str, ...]],
    arrays: Sequence[Array],
    registry: Registry,
) -> Merged | None:
    """Restore cached merged cells. Return None if they depend on a policy that is no longer registered."""
    policies: list[DisclosurePolicy | None] = [
        registry.policies.get(digest) for digest in [stored["floor"], *stored["policies"]]
    ]
    known = [policy for policy in policies if policy is not None]
    if len(known) < len(policies):
        return None
    merged = Merged(
        MergedKey(stored["changes"], tuple(stored["replaced"]), known[0], tuple(known[1:]))
    )
    rows = arrays[stored["cells"]].tolist()
    for column, row in zip(arrays[stored["columns"]].tolist(), rows, strict=True):
        merged.cells[column] = _restore_cell(*row)
    if stored["main"] is not None:
        merged.main = _restore_main(stored["main"], site_rows, arrays)
    return merged


def _cell_numbers(cell: MergedCell) -> list[int]:
    numbers = [getattr(cell, name) for name in _CELL_NUMBERS]
    written = [_NONE if number is None else int(number) for number in numbers]
    return [_STATES.index(cell.state), _REASONS.index(cell.why), *written]


def _restore_cell(state: int, why: int, *numbers: int) -> MergedCell:
    read: dict[str, Any] = {}
    for name, number in zip(_CELL_NUMBERS, numbers, strict=True):
        read[name] = None if number == _NONE else number
    read["rests_on_audit"] = bool(read["rests_on_audit"])
    return MergedCell(_STATES[state], _REASONS[why], **read)


def _store_main(main: MainFigures, texts: _Texts, put: Put) -> dict[str, Any]:
    return {
        "sites": [texts.write_row(sites) for sites in main.sites],
        "weights": put(_join(main.weights)),
        "doubled": put(_join(main.doubled)),
        "is_language_model": main.is_language_model,
    }


def _restore_main(
    stored: Mapping[str, Any], rows: Sequence[tuple[str, ...]], arrays: Sequence[Array]
) -> MainFigures:
    sites = tuple(rows[number] for number in stored["sites"])
    weights = _Pieces(arrays[stored["weights"]].astype(numpy.int64))
    doubled = _Pieces(arrays[stored["doubled"]].astype(numpy.int64))
    return MainFigures(
        sites=sites,
        weights=tuple(weights.take(len(behind)) for behind in sites),
        doubled=tuple(doubled.take(len(behind)) for behind in sites),
        is_language_model=bool(stored["is_language_model"]),
    )


def _join(arrays: Sequence[Integers]) -> Integers:
    return numpy.concatenate(arrays) if arrays else numpy.zeros(0, dtype=numpy.int64)


class _Pieces:
    """A reader that splits a joined array into its parts."""

    def __init__(self, joined: Integers) -> None:
        self._joined, self._taken = joined, 0

    def take(self, length: int) -> Integers:
        """Return the next part. Raises ValueError if too few numbers remain."""
        piece = self._joined[self._taken : self._taken + length]
        if len(piece) != length:
            raise ValueError("an array is too short")
        self._taken += length
        return piece
