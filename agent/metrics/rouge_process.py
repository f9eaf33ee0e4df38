"""A process that computes ROUGE for another: a line of JSON with comparisons in, a line with their figures out.

It ends with its input, however the process that started it ends.
"""

import json
import signal
import sys
from typing import TextIO

from agent.metrics.rouge import RougeComparison


def serve(requests: TextIO, replies: TextIO) -> None:
    """Answer requests until there are no more."""
    for line in requests:
        figures: list[float] = []
        for kind, stemmer, golds, answer in json.loads(line):
            comparison = RougeComparison(kind, stemmer, tuple(golds), answer)
            figures.append(comparison.compute_best())
        replies.write(json.dumps(figures) + "\n")
        replies.flush()


if __name__ == "__main__":
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C is for the agent, which then closes this process's input
    serve(sys.stdin, sys.stdout)
