"""From a log to the values of its board: the figures that need pooled sites' statements, and all others. Pure."""

from aggregator.board.evidence import Replayed
from aggregator.merge.board_model import AuditedFigures, Board
from aggregator.merge.table import build_board, follow_log, make_audited


def merge_audited(whole: Replayed) -> AuditedFigures:
    """Return the figures that pooled sites' statements are needed for."""
    federation = follow_log(whole.results, whole.registry, whole.withdrawals)
    return make_audited(federation, whole.checkpoint.size)


def merge_board(shown: Replayed, audited: AuditedFigures) -> Board:
    """Return the board from the public log and the figures that rest on auditors."""
    return build_board(shown.results, shown.registry, shown.withdrawals, audited)
