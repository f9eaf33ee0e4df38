"""Computation of a board's values from a log: the figures that depend on pooled sites' statements,
and all others. Pure.
"""

from aggregator.board.evidence import Replayed
from aggregator.merge.board_model import AuditedFigures, Board
from aggregator.merge.federation import Federation
from aggregator.merge.table import follow_log, make_audited, make_board


def merge_audited(whole: Replayed) -> AuditedFigures:
    """Return the figures that depend on pooled sites' statements."""
    return make_audited(_follow(whole), whole.checkpoint.size)


def merge_board(shown: Replayed, audited: AuditedFigures) -> Board:
    """Return the board computed from the public log and the figures that rely on auditors."""
    return make_board(_follow(shown), audited)


def _follow(log: Replayed) -> Federation:
    if log.federation is not None:
        return log.federation
    return follow_log(log.results, log.registry, log.withdrawals, log.changes)
