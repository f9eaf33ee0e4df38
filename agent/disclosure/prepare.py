"""Preparing: from the findings of a suite to unsigned statements, and to drafts with the agent's signature.

The drafts form the end of the site's chain, each naming the one before, so they are approved and sent in this order.
Preparing the same scores again gives the same bytes; other scores replace the draft, and those that follow it. Where
the bytes are those of a submission that became void, it takes its place again, with both its signatures: nothing new
leaves, so nobody is asked again and the ledger is not debited again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from agent import __version__
from agent.delivery.outbox import LIVE, Outbox, State, Submission
from agent.disclosure.commitment import scores_root
from agent.disclosure.findings import Finding
from agent.disclosure.gate import Release, decide
from agent.disclosure.ledger import (
    Entry,
    Fingerprints,
    Ledger,
    ledger_key,
    missing_submissions,
    open_entry,
    read_ledger,
    seal_entry,
)
from agent.errors import DisclosureError, StoreError
from agent.keys import derive_key
from protocol import envelope
from protocol.disclosure import check_result
from protocol.errors import Code, ProtocolError
from protocol.identity import NONE, agent_digest, model_digest
from protocol.keys import Signer
from protocol.policy import DisclosurePolicy, stricter
from protocol.registry import Registry
from protocol.scorecard import Scorecard
from protocol.statements import ENROLL_SEQ, FIRST_EPOCH, Header, ResultPredicate, build_statement


@dataclass(frozen=True, slots=True)
class Gate:
    """What preparing needs besides findings: who signs, what the federation registered, what the site allows.

    Attributes:
        policy: the site's own; the stricter of it and the federation's is applied.
        data_key: the site's; salts, fingerprints and the ledger's seal are derived from it.
        today_day: days since 1970-01-01 UTC.
    """

    outbox: Outbox
    registry: Registry
    policy: DisclosurePolicy
    signer: Signer
    data_key: bytes
    today_day: int
    agent_version: str = __version__


@dataclass(frozen=True, slots=True)
class Prepared:
    """What came of one call: `submissions` in the order of the models; `new` of them were made by this call.

    `dropped` are the digests of drafts that were replaced, or that followed a replaced one.
    """

    submissions: tuple[Submission, ...]
    new: frozenset[str]
    dropped: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Link:
    """Where the next statement of the chain goes."""

    epoch: int
    seq: int
    prev: str

    def then(self, submission: Submission) -> "_Link":
        return _Link(self.epoch, self.seq + 1, submission.digest)

    def leads_to(self, submission: Submission) -> bool:
        header = submission.result.header
        return (header.epoch, header.seq, header.prev) == (self.epoch, self.seq, self.prev)


@dataclass(frozen=True, slots=True)
class _Job:
    """One model's submission to be made."""

    model: str
    findings: Sequence[Finding]
    root: str


def prepare(gate: Gate, scorecard: Scorecard, findings: Mapping[str, Sequence[Finding]]) -> Prepared:
    """Prepare one submission for each model.

    Args:
        gate: who and where.
        scorecard: a registered one.
        findings: by the model's registered name.

    Raises:
        DisclosureError: the gate refuses, the site, scorecard, a model or this agent is not registered, or the ledger
            or a submission was changed. Nothing was signed then, except for models before the one that failed.
        StoreError: a file cannot be read or written.
    """
    site = enrolled_site(gate.registry, gate.signer.public.keyid)
    named, policy = effective_policy(gate.registry, gate.policy)
    _check_registered(gate, scorecard, findings)
    with gate.outbox.held():
        submissions = gate.outbox.all()
        ledger = read_ledger(gate.outbox.ledger, ledger_key(gate.data_key))
        check_ledger(ledger, submissions)
        head = _settle_chain(gate, site, submissions)
        live = [s for s in gate.outbox.all() if s.state in LIVE]
        jobs = {job.model: job for job in _jobs(gate, scorecard, findings)}
        done = {model: same for model, job in jobs.items() if (same := _released(live, scorecard, job)) is not None}
        waiting = {model: job for model, job in jobs.items() if model not in done}
        drafts = [s for s in submissions if s.state is State.PREPARED]
        kept = _kept_drafts(gate, drafts, head, scorecard, waiting, policy)
        dropped = [draft.digest for draft in drafts[len(kept) :]]
        for digest in reversed(dropped):
            gate.outbox.drop_draft(digest)
        for draft, entry in kept:
            head = head.then(draft)
            # An approval that was cut short has written its entry already.
            ledger = ledger if entry in ledger.entries else ledger.followed_by(entry)
            if draft.result.model in waiting and draft.result.scorecard == scorecard.digest:
                done[draft.result.model] = draft
        new = set()
        for model, job in waiting.items():
            if model in done:
                continue
            draft, ledger = _draft(gate, job, scorecard, site, head, ledger, named, policy)
            head, done[model] = head.then(draft), draft
            if draft.state is State.PREPARED:
                new.add(draft.digest)
        return Prepared(tuple(done[model] for model in jobs), frozenset(new), tuple(dropped))


def enrolled_site(registry: Registry, agent_keyid: str) -> str:
    """Return the id of the site that this agent's key belongs to. Raises DisclosureError."""
    found = registry.site_of(agent_keyid)
    if found is None or found[1].role != "agent" or found[1].revoked_from is not None:
        raise DisclosureError(
            "the registry does not know this site's agent key, or it was revoked",
            "After the aggregator's people have enrolled the site, run `intramural registry update`.",
        )
    return found[0]


def effective_policy(registry: Registry, own: DisclosurePolicy) -> tuple[str, DisclosurePolicy]:
    """Return the digest of the policy a submission names, and the one that is applied: the stricter of both.

    A site may tighten with a policy that is registered nowhere; its submissions then name the federation's floor.
    """
    named = own.digest if own.digest in registry.policies else registry.policy_floor
    try:
        return named, stricter(own, registry.policy_for(named))
    except ProtocolError:
        raise DisclosureError("the registry's own disclosure policy is missing from it") from None


def _check_registered(gate: Gate, scorecard: Scorecard, findings: Mapping[str, Sequence[Finding]]) -> None:
    known = gate.registry.scorecards.get(scorecard.digest)
    if known is None or known.retired:
        raise DisclosureError(f"scorecard {scorecard.name} is not registered, or was retired")
    if agent_digest(gate.agent_version) not in gate.registry.agents:
        raise DisclosureError(
            f"version {gate.agent_version} of the agent is not registered with the aggregator",
            "Install a registered version, or ask the aggregator's people to register this one.",
        )
    unknown = sorted(name for name in findings if model_digest(name) not in gate.registry.models)
    if unknown:
        raise DisclosureError(
            f"not registered with the aggregator: {', '.join(unknown)}",
            "Ask the aggregator's people to register the model, then run `intramural registry update`; "
            "or name the models to submit with --model.",
        )
    for name in sorted(findings):
        said_none = any(not finding.language_model for finding in findings[name])
        if said_none and gate.registry.models[model_digest(name)].is_language_model:
            raise DisclosureError(
                f"{name}: the registry has it as a language model, but its server says that it is none",
                "Ask the aggregator's people to register it with --not-a-language-model, then run "
                "`intramural registry update`; or name the models to submit with --model.",
            )


def check_ledger(ledger: Ledger, submissions: Sequence[Submission]) -> None:
    """Check that the ledger has an entry for every submission that was ever approved. Raises DisclosureError."""
    approved = [s.digest for s in submissions if s.state is not State.PREPARED]
    if missing_submissions(ledger, approved):
        raise DisclosureError(
            "the ledger of releases lacks submissions that were approved: it was cut, or restored from an old back-up",
            "Nothing leaves until the folder submissions/ledger is restored.",
        )


def _settle_chain(gate: Gate, site: str, submissions: Sequence[Submission]) -> _Link:
    """Return the chain's end. A refused link, and what was approved after it, becomes void: it will not be sent."""
    end = _Link(FIRST_EPOCH, ENROLL_SEQ + 1, gate.registry.sites[site].enrolment)
    for submission in submissions:
        if submission.state not in LIVE:
            continue
        if submission.state is State.REFUSED or not end.leads_to(submission):
            if submission.state is State.RECEIPTED:
                raise DisclosureError(
                    "a submission with a receipt does not follow from the one before it",
                    "The folder submissions was restored from an old back-up, or mixed with another site's.",
                )
            gate.outbox.make_void(submission.digest)
        else:
            end = end.then(submission)
    return end


def _jobs(gate: Gate, scorecard: Scorecard, findings: Mapping[str, Sequence[Finding]]) -> list[_Job]:
    """Return what is asked for, in the order of the models' names, with the root over the scores that count."""
    wanted = {(cell.benchmark, cell.metric, cell.subgroup) for cell in scorecard.cells}
    secret = derive_key(gate.data_key, "score-records/v1")
    jobs = []
    for name in sorted(findings):
        used = [f for f in findings[name] if f.asked and (f.benchmark, f.metric, f.subgroup) in wanted]
        if not any(finding.scores for finding in used):
            raise DisclosureError(f"{name}: no benchmark of the scorecard was run", "Run one, then prepare again.")
        model = model_digest(name)
        root = scores_root(used, model=model, scorecard=scorecard.digest, site_secret=secret)
        jobs.append(_Job(model, used, root))
    return jobs


def _released(live: Sequence[Submission], scorecard: Scorecard, job: _Job) -> Submission | None:
    """Return the model's newest submission if it is about exactly these scores: the same release again."""
    of_model = [s for s in live if (s.result.model, s.result.scorecard) == (job.model, scorecard.digest)]
    return of_model[-1] if of_model and of_model[-1].result.scores_root == job.root else None


def _kept_drafts(
    gate: Gate,
    drafts: Sequence[Submission],
    head: _Link,
    scorecard: Scorecard,
    waiting: Mapping[str, _Job],
    policy: DisclosurePolicy,
) -> list[tuple[Submission, Entry]]:
    """Return the drafts that would come out the same, up to the first that would not, with their ledger entries."""
    kept: list[tuple[Submission, Entry]] = []
    for draft in drafts:
        result = draft.result
        job = waiting.get(result.model) if result.scorecard == scorecard.digest else None
        fits = (
            head.leads_to(draft)
            and result.header.registry == gate.registry.version
            and result.agent == agent_digest(gate.agent_version)
            and gate.outbox.verdicts(draft.digest).get("policy") == policy.digest
            and (job is None or job.root == result.scores_root)
        )
        entry = _release_of(gate, draft) if fits else None
        if entry is None:
            break
        kept.append((draft, entry))
        head = head.then(draft)
    return kept


def _release_of(gate: Gate, draft: Submission) -> Entry | None:
    """Return what the ledger will keep of a draft; None if it was lost or changed, so the draft is made anew."""
    try:
        return open_entry(gate.outbox.release(draft.digest), ledger_key(gate.data_key))
    except (DisclosureError, StoreError):
        return None


def _draft(
    gate: Gate,
    job: _Job,
    scorecard: Scorecard,
    site: str,
    link: _Link,
    ledger: Ledger,
    named: str,
    policy: DisclosurePolicy,
) -> tuple[Submission, Ledger]:
    """Decide, build, sign and keep one submission; return it with the ledger as it will be once approved.

    A void submission of exactly these bytes takes its place again instead; the ledger has its entry already.
    """
    fingerprints = Fingerprints(derive_key(gate.data_key, "release-fingerprints/v1"))
    release = decide(
        scorecard,
        policy,
        job.findings,
        model=job.model,
        scores_root=job.root,
        day=gate.today_day,
        ledger=ledger,
        fingerprints=fingerprints,
    )
    header = Header(gate.registry.deployment, site, link.epoch, link.seq, link.prev, gate.registry.version)
    result = _result(gate, job, scorecard, header, release, named)
    try:
        check_result(result, scorecard, policy)
    except ProtocolError as error:
        raise _refusal(error) from None
    data = envelope.sign(build_statement(result), [gate.signer])
    digest = envelope.decode(data).digest
    if gate.outbox.restore(digest):
        return gate.outbox.get(digest), ledger
    entry = Entry(ledger.head, digest, job.model, scorecard.digest, job.root, gate.today_day, release.footprint)
    verdicts = {
        "policy": policy.digest,
        "cells": {key: rule.value for key, rule in release.verdicts.items()},
        "data": {f.benchmark: asdict(f.extent) for f in job.findings if not f.extent.everything},
    }
    gate.outbox.put_draft(digest, data, verdicts, seal_entry(entry, ledger_key(gate.data_key)))
    return gate.outbox.get(digest), ledger.followed_by(entry)


def _result(
    gate: Gate, job: _Job, scorecard: Scorecard, header: Header, release: Release, named: str
) -> ResultPredicate:
    return ResultPredicate(
        header=header,
        scorecard=scorecard.digest,
        model=job.model,
        agent=agent_digest(gate.agent_version),
        policy=named,
        data={entry.id: NONE for entry in scorecard.benchmarks},
        plan=NONE,
        challenge=NONE,
        scores_root=job.root,
        day=gate.today_day,
        outcome="complete" if release.complete else "partial",
        approval="two_person",
        groups=release.groups,
        cells=release.cells,
        spreads=release.spreads,
    )


def _refusal(error: ProtocolError) -> DisclosureError:
    if error.code is Code.NOTHING_PUBLISHED:
        return DisclosureError(
            "every figure is suppressed or was not run, so there is nothing to submit",
            "The benchmarks have too few units for the disclosure policy; run more of them.",
        )
    return DisclosureError(f"the figures do not obey the disclosure policy ({error.code}: {error.detail})")
