"""Bad inputs D: payloads that two honest keys signed, but that are not the one JSON form of a statement."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.canonical import MAX_INT, canonical, parse, parse_canonical
from protocol.errors import Code, ProtocolError
from protocol.predicates import Header, ResultPredicate
from protocol.statements import build_statement, parse_statement
from tests.protocol.world import RESULT, edited_payload, refused, signed, submit

GOOD = build_statement(RESULT)


def json_faults(good: bytes) -> dict[str, tuple[bytes, Code]]:
    """Return payloads that are not the canonical JSON of the good result `good`, and the code that refuses each."""

    def swapped(old: str, new: str) -> bytes:
        assert old.encode() in good
        return good.replace(old.encode(), new.encode("utf-8", "surrogatepass"), 1)

    def day(text: str) -> bytes:
        return swapped(f'"day":{json.loads(good)["predicate"]["day"]}', f'"day":{text}')

    return {
        "D54-duplicate-at-the-top": (b'{"_type":"x",' + good[1:], Code.DUPLICATE_NAME),
        "D54-duplicate-in-the-predicate": (
            swapped('"agent":', '"agent":"0","agent":'),
            Code.DUPLICATE_NAME,
        ),
        "D54-duplicate-in-the-cells": (
            swapped('"cells":{', '"cells":{"ward/rouge_l":1,'),
            Code.DUPLICATE_NAME,
        ),
        "D54-duplicate-in-the-subject": (
            swapped('"digest":{', '"digest":{"sha256":"0",'),
            Code.DUPLICATE_NAME,
        ),
        "D54-duplicate-by-escape": (swapped('"day":', '"\\u0064ay":1,"day":'), Code.DUPLICATE_NAME),
        "D55-nan": (day("NaN"), Code.BAD_NUMBER),
        "D55-infinity": (day("Infinity"), Code.BAD_NUMBER),
        "D55-minus-infinity": (day("-Infinity"), Code.BAD_NUMBER),
        "D56-1e999": (day("1e999"), Code.BAD_NUMBER),
        "D56-1E2": (day("1E2"), Code.BAD_NUMBER),
        "D56-1.0": (day("1.0"), Code.BAD_NUMBER),
        "D56-0.5": (day("0.5"), Code.BAD_NUMBER),
        "D56-minus-0": (day("-0"), Code.BAD_NUMBER),
        "D56-plus-1": (day("+1"), Code.BAD_JSON),
        "D56-leading-zero": (day("020699"), Code.BAD_JSON),
        "D56-hexadecimal": (day("0x1"), Code.BAD_JSON),
        "D58-2-to-53": (day(str(2**53)), Code.BAD_NUMBER),
        "D58-2-to-63": (day(str(2**63)), Code.BAD_NUMBER),
        "A16-5000-digits": (day("9" * 5000), Code.BAD_NUMBER),
        "A15-depth-7": (day("[[[[[]]]]]"), Code.TOO_DEEP),
        "A15-depth-10000": (b"[" * 10_000 + b"]" * 10_000, Code.TOO_DEEP),
        "A15-brackets-hidden-by-a-quote": (b'"' + b'\\"[' * 10_000, Code.BAD_JSON),
        "D61-lone-surrogate": (swapped('"complete"', '"\\ud800"'), Code.BAD_TEXT),
        "D61-encoded-surrogate": (swapped('"complete"', '"\ud800"'), Code.BAD_JSON),
        "D61-nul": (swapped('"complete"', '"complete\\u0000"'), Code.BAD_TEXT),
        "D61-raw-nul": (swapped('"complete"', '"complete\x00"'), Code.BAD_JSON),
        "D61-control-character": (swapped('"complete"', '"complete\\u0007"'), Code.BAD_TEXT),
        "D61-c1-control": (swapped('"complete"', '"complete\\u0085"'), Code.BAD_TEXT),
        "D61-ansi-escape": (swapped('"complete"', '"\\u001b[31m"'), Code.BAD_TEXT),
        "D62-trailing-newline": (swapped('"complete"', '"complete\\n"'), Code.BAD_TEXT),
        "D63-arabic-digits": (day("٢٠٦٩٩"), Code.BAD_JSON),
        "D63-full-width-digits": (day("２０６９９"), Code.BAD_JSON),
        "D69-yaml": (b"%YAML 1.2\n--- !!python/object:os.system\n", Code.BAD_JSON),
        "D60-null": (day("null"), Code.SCHEMA),
        "D59-name-not-ascii": (swapped('"day":', '"d\\u00e4y":'), Code.BAD_TEXT),
        "A05-byte-order-mark": (b"\xef\xbb\xbf" + good, Code.BAD_JSON),
        "A06-utf-16": (good.decode().encode("utf-16"), Code.BAD_JSON),
        "A08-second-document": (good + good, Code.BAD_JSON),
        "A08-trailing-newline": (good + b"\n", Code.NOT_CANONICAL),
        "A14-space": (good.replace(b":", b": ", 1), Code.NOT_CANONICAL),
        "A14-order": (
            json.dumps(dict(reversed(json.loads(good).items())), separators=(",", ":")).encode(),
            Code.NOT_CANONICAL,
        ),
        "A14-escape": (swapped('"complete"', '"\\u0063omplete"'), Code.NOT_CANONICAL),
        "A14-raw-non-ascii": (swapped('"complete"', '"complété"'), Code.NOT_CANONICAL),
        "A14-capital-hex": (swapped('"complete"', '"compl\\u00E9te"'), Code.NOT_CANONICAL),
        "A21-payload-of-a-space": (b" ", Code.BAD_JSON),
    }


JSON_FAULTS = json_faults(GOOD)


@pytest.mark.parametrize(
    ("payload", "code"), [pytest.param(*case, id=name) for name, case in JSON_FAULTS.items()]
)
def test_a_signed_payload_that_is_not_canonical_json_is_refused(payload: bytes, code: Code):
    assert payload != GOOD
    with refused(code):
        submit(signed(payload))


Edit = Callable[[dict[str, Any]], object]


def put(*path: str | int, value: object) -> Edit:
    def edit(payload: dict[str, Any]) -> None:
        place: Any = payload
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return edit


def take(*path: str) -> Edit:
    def edit(payload: dict[str, Any]) -> None:
        place: Any = payload
        for step in path[:-1]:
            place = place[step]
        del place[path[-1]]

    return edit


PREDICATE_FIELDS = sorted(json.loads(GOOD)["predicate"])
NAMES = {
    "D64-cyrillic-letter": "s-аaaaaaa1",
    "D64-zero-width-space": "s-aaaaaaa\u200b1",
    "D64-decomposed": "s-aaaaaaa\u0301",
    "D64-right-to-left-override": "s-\u202eaaaaaa1",
    "D63-full-width-digit": "s-aaaaaaa１",
    "D65-parent-folder": "../../etc/passwd",
    "D65-backslash": "..\\..\\x",
    "D65-encoded": "%2e%2e%2f",
    "D65-absolute": "/etc/passwd",
    "D65-device": "CON",
    "D65-300-characters": "s" * 300,
    "D66-metadata-service": "http://169.254.169.254/",
    "D66-file": "file:///etc/passwd",
    "D66-no-scheme": "//host/x",
    "D67-script": "<script>alert(1)</script>",
    "D67-javascript": "javascript:alert(1)",
    "D67-svg": "<svg onload=alert(1)>",
    "D67-template": "{{7*7}}",
    "D67-sql": "' OR '1'='1",
    "D67-ldap": "*)(uid=*",
    "D68-formula": "=cmd()",
    "D68-plus": "+1",
    "D68-minus": "-1",
    "D68-at": "@x",
    "D69-yaml-tag": "!!python/object",
    "D70-a-name": "Erika Mustermann, 12.08.1957",
}

SCHEMA_FAULTS: dict[str, tuple[Edit, Code]] = {
    **{f"D60-no-{field}": (take("predicate", field), Code.SCHEMA) for field in PREDICATE_FIELDS},
    **{
        f"D60-no-{field}": (take(field), Code.SCHEMA)
        for field in ("_type", "subject", "predicateType", "predicate")
    },
    **{
        f"D59-extra-{name}": (put(name, value="x"), Code.SCHEMA)
        for name in ("note", "__proto__", "$ref")
    },
    **{
        f"D59-extra-{n}-in-predicate": (put("predicate", n, value=1), Code.SCHEMA)
        for n in ("note", "cells ", "$schema")
    },
    "D59-extra-in-subject": (put("subject", 0, "uri", value="x"), Code.WRONG_SUBJECT),
    "D59-extra-in-digest": (put("subject", 0, "digest", "sha512", value="x"), Code.WRONG_SUBJECT),
    **{
        f"D57-{field}-is-{value!r}": (put("predicate", field, value=value), Code.SCHEMA)
        for field in ("schema", "epoch", "seq", "registry", "day")
        for value in (True, "5", [], {}, -1)
    },
    **{
        f"D57-{field}-is-{value!r}": (put("predicate", field, value=value), Code.SCHEMA)
        for field in (
            "scorecard",
            "model",
            "agent",
            "policy",
            "plan",
            "challenge",
            "scores_root",
            "prev",
            "outcome",
            "approval",
            "site",
            "deployment",
        )
        for value in (1, True, [], {}, "")
    },
    **{
        f"D57-{field}-is-{value!r}": (put("predicate", field, value=value), Code.SCHEMA)
        for field in ("data", "groups", "cells", "spreads")
        for value in (1, "x", [], True)
    },
    "D57-cell-is-true": (put("predicate", "cells", "exam/exact_match", value=True), Code.SCHEMA),
    "D57-cell-is-text": (put("predicate", "cells", "exam/exact_match", value="875"), Code.SCHEMA),
    "D57-group-is-text": (put("predicate", "groups", "exam", value="2"), Code.SCHEMA),
    "D57-predicate-is-list": (put("predicate", value=[]), Code.SCHEMA),
    "D58-negative-day": (put("predicate", "day", value=-1), Code.SCHEMA),
    "D58-2-to-53-minus-1": (put("predicate", "day", value=MAX_INT), Code.SCHEMA),
    **{name: (put("predicate", "site", value=text), Code.SCHEMA) for name, text in NAMES.items()},
    **{
        f"{name}-as-outcome": (put("predicate", "outcome", value=text), Code.SCHEMA)
        for name, text in NAMES.items()
    },
    **{
        f"{name}-as-cell": (put("predicate", "cells", text, value=1), Code.WRONG_CELLS)
        for name, text in NAMES.items()
        if text.isascii()
    },
    **{
        f"{name}-as-cell": (put("predicate", "cells", text, value=1), Code.BAD_TEXT)
        for name, text in NAMES.items()
        if not text.isascii()
    },
    "D70-text-as-reason": (put("predicate", "reason", value="patient died"), Code.SCHEMA),
    "D70-text-as-metric": (
        put("predicate", "cells", "ward/Erika Mustermann", value=720),
        Code.WRONG_CELLS,
    ),
    "D70-text-as-model": (put("predicate", "model", value="Erika Mustermann"), Code.SCHEMA),
    "D71-text-in-hex-as-model": (
        put("predicate", "model", value=b"Erika Mustermann, 12.08.1957, HIV".hex()[:64]),
        Code.WRONG_SUBJECT,
    ),
    "D71-text-in-hex-as-agent": (
        put("predicate", "agent", value=b"Erika Mustermann, 12.08.1957, HIV".hex()[:64]),
        Code.UNKNOWN_AGENT,
    ),
    "D71-text-in-hex-as-policy": (
        put("predicate", "policy", value=b"Erika Mustermann, 12.08.1957, HIV".hex()[:64]),
        Code.UNKNOWN_POLICY,
    ),
    "D71-text-in-hex-as-data": (
        put("predicate", "data", "ward", value=b"Erika Mustermann, 12.08.1957, HIV".hex()[:64]),
        Code.UNKNOWN_DATASET,
    ),
    "D71-text-in-hex-as-plan": (
        put("predicate", "plan", value=b"Erika Mustermann, 12.08.1957, HIV".hex()[:64]),
        Code.UNKNOWN_PLAN,
    ),
    "D71-text-in-hex-as-challenge": (
        put("predicate", "challenge", value=b"Erika Mustermann, 12.08.1957, HIV".hex()[:64]),
        Code.WRONG_PLAN,
    ),
    "D71-text-in-hex-as-prev": (
        put("predicate", "prev", value=b"Erika Mustermann, 12.08.1957, HIV".hex()[:64]),
        Code.WRONG_PREV,
    ),
    "E74-subject-swapped": (lambda p: p["subject"].reverse(), Code.WRONG_SUBJECT),
    "E74-third-subject": (lambda p: p["subject"].append(p["subject"][0]), Code.WRONG_SUBJECT),
    "E74-one-subject": (lambda p: p["subject"].pop(), Code.WRONG_SUBJECT),
    "E74-no-subject": (put("subject", value=[]), Code.WRONG_SUBJECT),
    "E74-other-hash": (
        lambda p: p["subject"][0].update(digest={"sha512": p["predicate"]["model"]}),
        Code.WRONG_SUBJECT,
    ),
    "E74-capital-hex": (
        lambda p: p["subject"][0]["digest"].update(sha256=p["predicate"]["model"].upper()),
        Code.WRONG_SUBJECT,
    ),
    "E74-capital-hex-in-predicate": (
        lambda p: p["predicate"].update(model=p["predicate"]["model"].upper()),
        Code.SCHEMA,
    ),
    "E75-result-v2": (put("predicateType", value="urn:intramural:result/v2"), Code.WRONG_TYPE),
    "E75-plan-with-the-body-of-a-result": (
        put("predicateType", value="urn:intramural:plan/v1"),
        Code.SCHEMA,
    ),
    "E75-enroll-with-the-body-of-a-result": (
        put("predicateType", value="urn:intramural:enroll/v1"),
        Code.SCHEMA,
    ),
    "E75-type-is-a-list": (
        put("predicateType", value=["urn:intramural:result/v1"]),
        Code.WRONG_TYPE,
    ),
    "E75-other-statement-version": (
        put("_type", value="https://in-toto.io/Statement/v0.1"),
        Code.WRONG_TYPE,
    ),
    "E77-above-the-scale": (put("predicate", "cells", "exam/exact_match", value=1001), Code.SCHEMA),
    "E77-below-every-code": (put("predicate", "cells", "exam/exact_match", value=-5), Code.SCHEMA),
    "E77-spread-above-the-scale": (
        put("predicate", "spreads", "ward/rouge_l", value=26),
        Code.SCHEMA,
    ),
    "E78-no-such-bucket": (put("predicate", "groups", "ward", value=64), Code.SCHEMA),
    "E78-negative-bucket": (put("predicate", "groups", "ward", value=-1), Code.SCHEMA),
    "F94-result-at-the-enrolments-place": (put("predicate", "seq", value=0), Code.SCHEMA),
    "F95-epoch-0": (put("predicate", "epoch", value=0), Code.SCHEMA),
}


@pytest.mark.parametrize(
    ("edit", "code"), [pytest.param(*case, id=name) for name, case in SCHEMA_FAULTS.items()]
)
def test_a_signed_payload_outside_the_closed_schema_is_refused(edit: Edit, code: Code):
    with refused(code):
        submit(signed(edited_payload(edit)))


def test_no_error_quotes_a_text_that_came_in():
    secret = "Erika Mustermann"
    for edit in (
        put("predicate", secret, value=1),
        put("predicate", "outcome", value=secret),
        put("predicate", "cells", secret, value=secret),
        put("predicate", "groups", secret, value=1),
        put("predicate", "data", secret, value="none"),
        put("predicateType", value=secret),
        put("subject", value=secret),
    ):
        with pytest.raises(ProtocolError) as caught:
            submit(signed(edited_payload(edit)))
        assert secret not in str(caught.value)


def test_the_statement_comes_out_as_it_went_in():
    assert parse_statement(GOOD) == RESULT
    assert edited_payload(lambda _: None) == GOOD


digests = st.binary(min_size=32, max_size=32).map(bytes.hex)
keys = st.text("abcxyz_/.-019", min_size=1, max_size=12)
results = st.builds(
    ResultPredicate,
    header=st.builds(
        Header,
        deployment=st.sampled_from(["board.example", "127.0.0.1:8080", "b"]),
        site=st.text("0123456789abcxyz", min_size=8, max_size=8).map(lambda tail: f"s-{tail}"),
        epoch=st.integers(1, 2**31 - 1),
        seq=st.integers(1, 2**31 - 1),
        prev=digests,
        registry=st.integers(1, 2**31 - 1),
    ),
    **dict.fromkeys(["scorecard", "model", "agent", "policy", "scores_root"], digests),
    **dict.fromkeys(["plan", "challenge"], digests | st.just("none")),
    data=st.dictionaries(keys, digests | st.just("none"), max_size=3),
    day=st.integers(0, 2**31 - 1),
    outcome=st.sampled_from(["complete", "partial"]),
    approval=st.sampled_from(["two_person", "exception"]),
    groups=st.dictionaries(keys, st.integers(0, 63), max_size=3),
    cells=st.dictionaries(keys, st.integers(-4, 1000), max_size=3),
    spreads=st.dictionaries(keys, st.integers(-1, 25), max_size=3),
)


@given(results)
def test_every_statement_comes_out_as_it_went_in(result: ResultPredicate):
    payload = build_statement(result)
    assert parse_statement(payload) == result
    assert build_statement(parse_statement(payload)) == payload


@given(st.integers(0, len(GOOD) - 1), st.binary(min_size=1, max_size=2))
def test_a_changed_payload_is_refused_or_means_something_else(place: int, insert: bytes):
    bent = GOOD[:place] + insert + GOOD[place + len(insert) :]
    try:
        found = parse_statement(bent)
    except ProtocolError:
        return
    assert (found == RESULT) == (bent == GOOD)


names = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), min_size=1, max_size=8)
texts = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=8)
values = st.recursive(
    st.integers(-MAX_INT, MAX_INT) | st.booleans() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)


@given(values)
def test_canonical_json_is_one_value_one_encoding(value: object):
    data = canonical(value)
    assert data.isascii()
    assert parse_canonical(data, max_depth=20) == value
    assert canonical(parse(data, max_depth=20)) == data


@given(
    st.dictionaries(
        names, st.integers(-MAX_INT, MAX_INT) | st.text('abc XYZ/\\"{}[]:,~', max_size=6)
    )
)
def test_for_ascii_it_is_what_rfc_8785_says(value: dict[str, object]):
    def jcs(item: object) -> str:
        """RFC 8785 for ASCII text and integers, written without json: minimal escapes, names by code unit."""
        if isinstance(item, dict):
            return "{" + ",".join(f"{jcs(name)}:{jcs(item[name])}" for name in sorted(item)) + "}"
        if isinstance(item, str):
            return '"' + item.replace("\\", "\\\\").replace('"', '\\"') + '"'
        return str(item)

    assert canonical(value).decode() == jcs(value)


@given(st.binary(max_size=60) | st.text('{}[]",:0-9truefalsn eE.\\', max_size=40).map(str.encode))
def test_arbitrary_bytes_parse_or_are_refused_with_a_code(data: bytes):
    try:
        value = parse(data)
    except ProtocolError:
        return
    assert parse(canonical(value)) == value


@pytest.mark.parametrize("text", ["null", "[null]", '"\\ud800"', '{"\\u0000":1}', '["\\u0007"]'])
def test_what_has_no_canonical_form_is_not_parsed_either(text: str):
    with pytest.raises(ProtocolError):
        parse(text.encode())


@pytest.mark.parametrize(
    "value",
    [
        1.5,
        [1.5],
        [[None]],
        {"a": [2.0]},
        None,
        b"x",
        {1: 2},
        {"": 1},
        {"é": 1},
        2**53,
        -(2**53),
        "\ud800",
        "\x7f",
    ],
    ids=repr,
)
def test_what_has_no_canonical_form_is_not_encoded(value: object):
    with pytest.raises(ProtocolError):
        canonical(value)
