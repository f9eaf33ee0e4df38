"""Descriptions of statements for the person who signs them: facts, figures, rules and sentences.

The steward's own tool and the site's page show the same text, all of it written here, in `describe_results` and in
`describe_datasets`. Names come from a verified registry. Everything else comes from the payload, the two policies and
the earlier statements that the reader keeps.
"""

from collections.abc import Mapping
from typing import Final

from protocol.describe_datasets import (
    describe_abandon,
    describe_dataset,
    describe_plan,
    describe_withdraw,
)
from protocol.describe_results import describe_result
from protocol.description import (
    Description,
    DescriptionParts,
    Fact,
    Knowledge,
    count_things,
    name_both,
)
from protocol.envelope import digest
from protocol.errors import Code, ProtocolError
from protocol.keys import load_public
from protocol.predicates import (
    AbandonPredicate,
    DatasetPredicate,
    EnrollPredicate,
    PlanPredicate,
    ResetPredicate,
    ResultPredicate,
    RotatePredicate,
    Statement,
    WithdrawPredicate,
)
from protocol.statements import kind_name, parse_statement

_RESET_WORDS: Final[Mapping[str, str]] = {
    "restored": "the site was restored from a backup",
    "fork": "the chain forked",
    "lost_agent_key": "the agent's key was lost",
    "lost_steward_key": "the steward's key was lost",
    "stolen_key": "a key was stolen",
}
_COMPARE: Final = (
    "Read the fingerprints to the central team, by telephone or face to face. It puts the keys in force "
    "only after comparing them."
)


def describe_statement(payload: bytes, knowledge: Knowledge) -> Description:
    """Describe a statement that the agent and the steward sign.

    Args:
        payload: the exact bytes.
        knowledge: names, policies and earlier statements.

    Raises:
        ProtocolError: as `parse_statement`; WRONG_TYPE for a request about keys; WRONG_DEPLOYMENT; WRONG_SITE;
            UNKNOWN_SCORECARD, RETIRED_SCORECARD, UNKNOWN_MODEL, UNKNOWN_AGENT, UNKNOWN_POLICY or UNKNOWN_BENCHMARK
            for a name that the registry lacks; WRONG_CELLS for cells that do not match the scorecard. A broken rule
            does not raise; it is listed in `faults`.
    """
    statement = parse_statement(payload)
    header, registry = statement.header, knowledge.registry
    if header.deployment != registry.deployment:
        raise ProtocolError(
            Code.WRONG_DEPLOYMENT,
            f"the statement is meant for {header.deployment}, but the registry is for {registry.deployment}",
        )
    site = registry.sites.get(header.site)
    if site is None:
        raise ProtocolError(Code.WRONG_SITE, f"{header.site} is not enrolled in this registry")
    match statement:
        case ResultPredicate():
            parts = describe_result(statement, site, knowledge)
        case DatasetPredicate():
            parts = describe_dataset(statement, knowledge)
        case PlanPredicate():
            parts = describe_plan(statement, knowledge)
        case AbandonPredicate():
            parts = describe_abandon(statement, knowledge)
        case WithdrawPredicate():
            parts = describe_withdraw(statement, knowledge)
        case _:
            raise ProtocolError(
                Code.WRONG_TYPE,
                "this is a request about keys, which is described without a registry",
            )
    return _assemble(payload, statement, name_both(site.display_name, header.site), parts)


def describe_request(payload: bytes) -> Description:
    """Describe a request about keys: an enrolment, a reset or a rotation.

    Raises:
        ProtocolError: WEAK_KEY; WRONG_TYPE for any other statement; or as `parse_statement`.
    """
    statement = parse_statement(payload)
    match statement:
        case EnrollPredicate():
            parts = _describe_enrolment(statement)
        case ResetPredicate():
            parts = _describe_reset(statement)
        case RotatePredicate():
            parts = _describe_rotation(statement)
        case _:
            raise ProtocolError(Code.WRONG_TYPE, "expected an enrolment, a reset or a rotation")
    return _assemble(payload, statement, statement.header.site, parts)


def _describe_enrolment(request: EnrollPredicate) -> DescriptionParts:
    return DescriptionParts(
        title=f"The site asks {request.header.deployment} to enrol it with these two keys.",
        facts=(
            _fingerprint("agent's key", request.agent_key),
            _fingerprint("steward's key", request.steward_key),
        ),
        sentences=(
            _COMPARE,
            "From then on, only statements signed with both keys are accepted from this site.",
            "Also ask whether the site's figures will be published under its name, or only merged with those of "
            "other sites.",
        ),
    )


def _describe_reset(request: ResetPredicate) -> DescriptionParts:
    return DescriptionParts(
        title=f"The site asks to start epoch {request.header.epoch} of its chain, with these two keys.",
        facts=(
            Fact("reason", _RESET_WORDS[request.reason]),
            _fingerprint("agent's key", request.agent_key),
            _fingerprint("steward's key", request.steward_key),
        ),
        sentences=(_COMPARE, "Every other key of the site is revoked."),
        cautions=(
            "Ask at the site what happened. Resets are rare, and an intruder would ask for one too.",
        ),
    )


def _describe_rotation(request: RotatePredicate) -> DescriptionParts:
    return DescriptionParts(
        title=f"The site asks to replace its {request.role}'s key.",
        facts=(_fingerprint(f"new {request.role}'s key", request.new_key),),
        sentences=(
            _COMPARE,
            "Both old keys and the new one sign this request. The replaced key cannot sign anything afterwards.",
        ),
    )


def _fingerprint(name: str, der: bytes) -> Fact:
    return Fact(name, load_public(der).fingerprint)


def _assemble(
    payload: bytes, statement: Statement, site: str, parts: DescriptionParts
) -> Description:
    header = statement.header
    facts = (
        Fact("site", site),
        Fact("sent to", header.deployment),
        *parts.facts,
        Fact("position", f"epoch {header.epoch}, link {header.seq} of the site's chain"),
        Fact("previous link", header.prev),
        Fact(
            "ledger",
            count_things(header.ledger.length, "entry", "entries") + f", head {header.ledger.head}",
        ),
        Fact("registry", f"version {header.registry}"),
    )
    return Description(
        kind=kind_name(statement),
        title=parts.title,
        digest=digest(payload),
        facts=facts,
        payload=payload.decode("ascii"),
        figures=parts.figures,
        rules=parts.rules,
        notes=parts.notes,
        sentences=parts.sentences,
        previous=parts.previous,
        cautions=parts.cautions,
        faults=parts.faults,
    )
