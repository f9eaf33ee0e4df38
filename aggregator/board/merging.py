"""From a log to the values of its board: the figures that need pooled sites' statements, and all others. Pure."""

from aggregator.board.evidence import Replayed
from aggregator.merge.board_model import AuditedFigures
from aggregator.merge.table import Board, build_board


def merge_audited(whole: Replayed) -> AuditedFigures:
    """Return the figures that pooled sites' statements are needed for."""
    return AuditedFigures(whole.checkpoint.size)


def merge_board(shown: Replayed, audited: AuditedFigures) -> Board:
    """Return the board from the public log and the figures that rest on auditors."""
    del audited
    return build_board(shown.results, shown.registry, shown.withdrawals)
