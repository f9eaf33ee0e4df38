"""The numbered list of bad inputs, A 1 to H 118, and the page of the documents that says which tests try each.

`python -m tests.protocol.bad_inputs` writes the page anew.
"""

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "bad-inputs.md"

SECTIONS = {
    "A": "Bytes and envelope",
    "B": "Type and algorithm",
    "C": "Keys and roles",
    "D": "The payload as JSON",
    "E": "Meaning",
    "F": "Chain and time",
    "G": "Registry, log and receipt",
    "H": "Public board",
}

BAD_INPUTS = {
    "A1": "empty file",
    "A2": "more than 64 KiB; a wrong or missing length; a body that arrives too slowly",
    "A3": "compressed body",
    "A4": "zip, tar or gzip named .json",
    "A5": "byte order mark",
    "A6": "UTF-16 or UTF-32",
    "A7": "invalid UTF-8, overlong form",
    "A8": "trailing bytes, second document",
    "A9": "the same name twice in the envelope",
    "A10": "unknown field",
    "A11": "missing field",
    "A12": "wrong JSON type of a field",
    "A13": "array, string or number in place of the envelope",
    "A14": "spaces, order of names or escapes that are not canonical",
    "A15": "JSON nested 7 or 100,000 levels deep",
    "A16": "integer of 5,000 digits",
    "A17": "URL-safe base64",
    "A18": "base64 with missing or excess padding",
    "A19": "base64 whose last bits are not zero",
    "A20": "newline or space in base64",
    "A21": "empty payload",
    "A22": "no signature, 5 signatures or 100,000",
    "B23": "unknown payload type",
    "B24": "payload type application/json, or in capitals",
    "B25": "the right payload under another type; manipulated lengths in the PAE",
    "B26": "payload signed without the PAE",
    "B27": "signature of another payload",
    "B28": "signature of the base64 text",
    "B29": "JWS, PGP or COSE data in place of a signature",
    "B30": "field `alg`",
    "B31": "key or signature of another algorithm",
    "B32": "ECDSA signature in another form: raw, long DER, trailing bytes, high s, r or s out of range",
    "B33": "Ed25519 signature whose S is not below the order of the group",
    "B34": "signature of 0, 63 or 65 bytes, or all zero",
    "B35": "Ed25519 signature with R of small order or not canonical",
    "B36": "the 14 Ed25519 keys of small order, canonical or not",
    "B37": "Ed25519 key of mixed order",
    "B38": "the identity point as key, with one signature that fits every message",
    "C39": "unknown key id",
    "C40": "known key id, signature by another key",
    "C41": "site A signs for site B",
    "C42": "the agent's key twice instead of agent and steward",
    "C43": "one key in two entries of the registry",
    "C44": "a valid and an invalid signature",
    "C45": "one signature where two are needed",
    "C46": "one valid signature more than needed",
    "C47": "expired key",
    "C48": "key that is not valid yet",
    "C49": "revoked key, before and after the revocation",
    "C50": "root or log key signs a statement",
    "C51": "site key signs a registry or a receipt",
    "C52": "rotation without an old key's signature or the new key's, or to a weak or known key",
    "C53": "key id in capitals, truncated or with a prefix",
    "D54": "the same name twice, at each depth",
    "D55": "NaN, Infinity",
    "D56": "fraction, exponent, -0, leading zero",
    "D57": "boolean or text in place of a number, number in place of a text",
    "D58": "2^53, 2^63, negative number",
    "D59": "extra field at each level",
    "D60": "missing field, null",
    "D61": "lone surrogate, NUL, control character",
    "D62": "trailing newline in a name",
    "D63": "Arabic or full-width digits",
    "D64": "look-alike letters, zero-width or right-to-left characters, decomposed forms",
    "D65": "paths, device names, 300 characters",
    "D66": "URLs; nothing is fetched",
    "D67": "script, template, SQL, LDAP",
    "D68": "spreadsheet formulas",
    "D69": "YAML",
    "D70": "a patient's name as key, metric, reason or model",
    "D71": "a patient's name in hexadecimal, in each digest field",
    "E72": "unknown scorecard, model, agent, policy or dataset",
    "E73": "retired scorecard",
    "E74": "subject swapped, missing, repeated, or with another hash",
    "E75": "predicate type of another kind of statement",
    "E76": "cell, group, spread or benchmark missing, extra, or from another scorecard",
    "E77": "value off the scale or off the grid",
    "E78": "group below the threshold, in no bucket, without figures, larger than its dataset",
    "E79": "subgroups larger than the whole",
    "E80": "a suppressed group that can be computed from the others",
    "E81": "0 % or 100 %, or few successes or failures",
    "E82": "value more precise than the number of units allows",
    "E83": "everything suppressed",
    "E84": "the site's own policy is stricter",
    "E85": "number of scores that disagrees with the number of units",
    "E86": "root of an empty tree, or another site's root",
    "E87": "another site's figures, copied",
    "F88": "exact replay",
    "F89": "replay after a rotation or an epoch",
    "F90": "gap in the sequence",
    "F91": "the same position twice with different content",
    "F92": "wrong previous link",
    "F93": "previous link of another site",
    "F94": "sequence starts again without a new epoch",
    "F95": "skipped epoch; reset without its proofs",
    "F96": "old registry version, or one that does not exist yet",
    "F97": "made for another board",
    "F98": "result without its plan, two for one plan, or a plan of another site, expired or later than the result",
    "F99": "challenge of another plan",
    "F100": "day in the future, too long ago, or from a broken clock",
    "F101": "20 simultaneous submissions for one position; a crash between entry and receipt",
    "F102": "batch of submissions out of order",
    "G103": "registry rolled back, expired, or of a version far ahead",
    "G104": "registry without enough signatures of old and of new roots",
    "G105": "threshold 0, negative, above the number of keys",
    "G106": "the same site or key twice",
    "G107": "intermediate versions that changed the roots left out; 257 rotations",
    "G108": "receipt for another payload, with a wrong index or proof, or with an inner node in place of a leaf",
    "G109": "checkpoint of another log, of a smaller or forked log, malformed, or not signed by the log",
    "G110": "quorum of witnesses reached by counting one key twice",
    "G111": "time of a cosignature in the future",
    "G112": "enrolment with a token that was used, has expired, or is for another site or another key",
    "G113": "redirect, login page, truncated answer, 100 MB",
    "H114": "the same submissions in any other order of arrival",
    "H115": "a withdrawn result, or one signed by a revoked key: removed from the ranks, still in the log",
    "H116": "entries or figures of another deployment's board",
    "H117": "a subgroup that a single pooled site reports",
    "H118": "a pooled cell of fewer than three sites, or one from which a participant could subtract figures",
}

# Files whose tests try these against a real server on SQLite and on PostgreSQL, by the numbers in their names.
AT_THE_CENTRE = (
    "tests/aggregator/test_bad_inputs.py",
    "tests/aggregator/test_bad_inputs_of_the_board.py",
)

# Further tests of the two sides that try one of these with a real server and a real store, by file and name.
WITH_A_STORE = {
    "A2": [
        "tests/aggregator/test_http.py::test_compressed_and_oversize_bodies_are_refused",
        "tests/aggregator/test_http.py::test_a_body_that_drips_is_given_up_after_the_time_limit",
    ],
    "A3": [
        "tests/aggregator/test_http.py::test_a_true_submission_that_says_it_is_compressed_is_refused_unread"
    ],
    "C49": [
        "tests/aggregator/registry/test_stolen_keys.py::test_the_thief_of_both_keys_of_a_machine_counts_for_nothing_and_the_site_goes_on",
        "tests/aggregator/registry/test_stolen_keys.py::test_the_thief_of_a_stewards_key_signs_nothing_more_and_the_site_goes_on",
    ],
    "D66": ["tests/aggregator/test_intake.py::test_no_socket_is_opened_because_of_a_payload"],
    "F88": [
        "tests/aggregator/test_intake.py::test_the_same_payload_again_gets_the_same_receipt_even_after_others"
    ],
    "F91": [
        "tests/aggregator/test_intake.py::test_a_fork_is_kept_as_evidence_and_freezes_the_site",
        "tests/aggregator/test_intake.py::test_a_fork_is_one_whatever_is_wrong_with_the_second_payload",
    ],
    "F101": [
        "tests/aggregator/test_http.py::test_of_twenty_at_once_for_one_place_exactly_one_wins",
        "tests/aggregator/test_http.py::test_killed_around_the_commit_the_receipt_comes_at_the_next_try",
    ],
    "G110": [
        "tests/aggregator/test_watching.py::test_a_witness_again_at_the_same_size_leaves_one_line"
    ],
    "G104": [
        "tests/aggregator/registry/test_stolen_keys.py::test_two_of_three_roots_on_other_machines_change_the_registry_and_one_alone_does_not",
        "tests/aggregator/registry/test_stolen_keys.py::test_the_thief_of_one_root_of_three_is_taken_out_by_the_others",
    ],
    "G106": [
        "tests/aggregator/registry/test_stolen_keys.py::test_a_draft_that_slips_a_key_in_is_refused_by_the_one_who_signs"
    ],
    "G109": [
        "tests/aggregator/registry/test_stolen_keys.py::test_the_thief_of_the_logs_key_signs_no_larger_log_and_old_receipts_stay"
    ],
    "G112": [
        "tests/aggregator/test_registry.py::test_the_database_alone_does_not_prove_a_token",
        "tests/agent/cli/test_enroll.py::test_a_second_site_with_a_used_invite_keeps_nothing_of_it_and_takes_a_new_one",
    ],
    "G113": [
        "tests/agent/delivery/test_transport.py::test_a_redirect_is_never_followed",
        "tests/agent/delivery/test_transport.py::test_a_hundred_megabytes_are_not_read",
    ],
}

NOT_TRIED = {
    "E85": "no statement carries a number of scores; the number of units is a bucket (E78)"
}
REMARKS = {
    "D71": "`scores_root`, `commitment` and the ledger's head look random to everyone outside the site: the gate "
    "determines them, and the site's audit recomputes them",
    "G110": "cosignatures are counted by the witness's name, and a registry cannot contain a key twice",
    "G111": "the time of a cosignature has no effect",
}

_HEADER = """# Bad inputs and their tests

Inputs that the protocol must withstand, by number. Each is refused with its own error code (or ignored, where the last
column says so), and has no other effect. Tests are in `tests/protocol/` unless a path is given. This page is
generated from the collected tests by `python -m tests.protocol.bad_inputs`; a test checks that it is current.
"""


def collect_tests() -> list[str]:
    """Return the ids of all tests of the protocol and of those at the centre, in their order."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-o",
        "addopts=--collect-only -q",
        "-p",
        "no:cacheprovider",
        "tests/protocol",
        *(path for path in AT_THE_CENTRE if (ROOT / path).exists()),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return [line for line in done.stdout.splitlines() if "::" in line]


def find_tests(tests: Iterable[str]) -> dict[str, list[str]]:
    """Return, for each number, the test functions that try it: by their own name, or by that of one of their cases."""
    found: dict[str, list[str]] = {number: [] for number in BAD_INPUTS}
    for test in tests:
        function, _, case = test.removeprefix("tests/protocol/").partition("[")
        named = re.findall(r"(?:::test_|^|_)([A-H])0*(\d+)(?=[-_])", function) or re.findall(
            r"(?:^|-)([A-H])0*(\d+)-", case
        )
        for letter, digits in named:
            functions = found.get(f"{letter}{digits}", [])
            if function not in functions:
                functions.append(function)
    for number, functions in WITH_A_STORE.items():
        found[number] += functions
    return found


def render_page(found: dict[str, list[str]]) -> str:
    """Return the page."""
    lines = [_HEADER]
    for letter, title in SECTIONS.items():
        lines += [f"## {letter}. {title}", "", "| | input | tests |", "| --- | --- | --- |"]
        for number, text in BAD_INPUTS.items():
            if number[0] == letter:
                tests = [f"`{test}`" for test in found[number]]
                notes = [
                    f"{note}." for note in (NOT_TRIED.get(number), REMARKS.get(number)) if note
                ]
                lines.append(f"| {number} | {text} | {'<br>'.join([*tests, *notes])} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(render_page(find_tests(collect_tests())), "utf-8")
