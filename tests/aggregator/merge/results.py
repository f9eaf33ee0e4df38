"""Results of many sites with chosen figures, without signatures: what merging takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from aggregator.merge.accepted import Result, Withdrawal
from aggregator.registry.policies import shipped_policies
from protocol.cell_codes import NOT_RUN
from protocol.identity import NONE, agent_digest, model_digest
from protocol.policy import bucket_of
from protocol.predicates import FIRST_EPOCH, Header, ResultPredicate, WithdrawPredicate
from protocol.registry import Publication, RegisteredScorecard, Registry, Site, SiteKey
from protocol.scorecard import BenchmarkEntry, Cell, Scorecard
from tests.aggregator.federation import AGENT_VERSION, MODELS, ORIGIN, digest_of, new_key
from tests.aggregator.test_merge import REGISTRY

STRICT = shipped_policies()["strict"]
WARD = Cell("ward", "exact_match", None, "private", True, 0, 1)
NOTES = Cell("notes", "jury", None, "private", False, 1, 5)
EXAM = Cell("exam", "exact_match", None, "public", True, 0, 1)
CARD = Scorecard(
    "merged",
    1,
    tuple(
        BenchmarkEntry(name, name, "Category", digest_of(name))
        for name in ("ward", "notes", "exam")
    ),
    (WARD, NOTES, EXAM),
)
SPREAD = 8


@dataclass
class Sites:
    """Sites with a key each, and the log of their statements.

    Attributes:
        publications: by site id.
        log: accepted statements, in order.
    """

    publications: dict[str, Publication] = field(default_factory=dict)
    log: list[Result | Withdrawal] = field(default_factory=list)
    _keys: dict[str, SiteKey] = field(default_factory=dict)
    _links: dict[str, int] = field(default_factory=dict)

    def add(self, publication: Publication, *, count: int = 1) -> list[str]:
        """Enrol sites; return their ids."""
        ids = [f"s-{len(self.publications) + number:08d}" for number in range(count)]
        for site in ids:
            self.publications[site] = publication
            self._keys[site] = SiteKey(new_key().public, "agent")
        return ids

    def send(
        self,
        site: str,
        figures: Mapping[Cell, int] | int,
        *,
        model: int = 0,
        units: int = 400,
        outcome: str = "complete",
        assurance: str = "",
    ) -> Result:
        """Have a result accepted: a figure for the ward, or for each given cell; other cells are not run."""
        by_cell = {WARD: figures} if isinstance(figures, int) else figures
        values = {cell.key: by_cell.get(cell, NOT_RUN) for cell in CARD.cells}
        predicate = ResultPredicate(
            header=self._next_header(site),
            scorecard=CARD.digest,
            model=model_digest(MODELS[model].name),
            agent=agent_digest(AGENT_VERSION),
            policy=STRICT.digest,
            data={},
            plan=digest_of("plan", site) if assurance else NONE,
            challenge=NONE,
            scores_root=digest_of("root", len(self.log)),
            day=20_000,
            outcome=outcome,
            approval="two_person",
            groups={
                cell.group: 0 if values[cell.key] == NOT_RUN else bucket_of(units)
                for cell in CARD.cells
            },
            cells=values,
            spreads={NOTES.key: SPREAD if values[NOTES.key] >= 0 else -1},
        )
        position = len(self.log)
        keyids = (self._keys[site].key.keyid,)
        publication = self.publications[site]
        result = Result(
            position, keyids, predicate, digest_of("result", position), publication, assurance
        )
        self.log.append(result)
        return result

    def withdraw(self, result: Result) -> Withdrawal:
        """Have a withdrawal accepted."""
        site = result.predicate.header.site
        predicate = WithdrawPredicate(self._next_header(site), result.digest, "data_error")
        withdrawal = Withdrawal(len(self.log), result.keyids, predicate, self.publications[site])
        self.log.append(withdrawal)
        return withdrawal

    def _next_header(self, site: str) -> Header:
        self._links[site] = self._links.get(site, 0) + 1
        return Header(ORIGIN, site, FIRST_EPOCH, self._links[site], "0" * 64, 1)

    @property
    def results(self) -> list[Result]:
        """All accepted results."""
        return [statement for statement in self.log if isinstance(statement, Result)]

    @property
    def withdrawals(self) -> list[Withdrawal]:
        """All accepted withdrawals."""
        return [statement for statement in self.log if isinstance(statement, Withdrawal)]

    def registry(
        self, *, revoked: Mapping[str, int] | None = None, card: Scorecard = CARD
    ) -> Registry:
        """Return a registry of all sites.

        Args:
            revoked: by site, log position from which its key is revoked.
            card: the one scorecard.
        """
        sites = {}
        for site, publication in self.publications.items():
            key = replace(self._keys[site], revoked_from=(revoked or {}).get(site))
            sites[site] = Site(site, publication, "0" * 64, (key,))
        return replace(
            REGISTRY,
            sites=sites,
            scorecards={card.digest: RegisteredScorecard(card)},
        )


def public_part(log: Sequence[Result | Withdrawal]) -> tuple[list[Result], list[Withdrawal]]:
    """Return the statements that the public log shows: those of named sites."""
    shown = [statement for statement in log if statement.publication == "named"]
    results = [statement for statement in shown if isinstance(statement, Result)]
    withdrawals = [statement for statement in shown if isinstance(statement, Withdrawal)]
    return results, withdrawals
