"""Read a server's own figures about its work from the text of its `/metrics` (vLLM, llama.cpp). No input/output.

The figures count the requests of everybody who uses the server since it was started. The difference of two readings
tells about the time between them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# A line of the Prometheus text format: name, labels, value and perhaps a timestamp.
_SAMPLE = re.compile(
    r"([A-Za-z_:][A-Za-z0-9_:]*)(?:\{[^\n]*\})?[ \t]+(\S+)(?:[ \t]+-?\d+)?[ \t\r]*"
)
_MAX_CHARACTERS = 4_000_000
_MAX_VALUE = (
    1e15  # no server has done as much; sums of higher values could exceed what a number holds
)
_MAX_VALUE = 1e15  # no server counts higher; sums of larger values would not be finite


@dataclass(frozen=True, slots=True)
class _Names:
    """The names under which an engine reports its figures; of several, the first that is there is used.

    Attributes:
        read: prompt tokens, with those from the cache if `reads_cached`.
        cached: prompt tokens taken from the cache of prefixes.
        written: tokens of answers.
        running, waiting: requests being answered now, and requests that wait for a place.
        queue_s, queued: seconds that requests waited, and the number of these requests.
    """

    read: tuple[str, ...]
    cached: tuple[str, ...]
    written: tuple[str, ...]
    running: str
    waiting: str
    queue_s: str
    queued: str
    reads_cached: bool


_ENGINES = {
    "vLLM": _Names(
        read=("vllm:prompt_tokens_total",),
        cached=(
            "vllm:prefix_cache_hits_total",
            "vllm:prefix_cache_hits",
            "vllm:gpu_prefix_cache_hits_total",
            "vllm:prompt_tokens_cached_total",
        ),
        written=("vllm:generation_tokens_total",),
        running="vllm:num_requests_running",
        waiting="vllm:num_requests_waiting",
        queue_s="vllm:request_queue_time_seconds_sum",
        queued="vllm:request_queue_time_seconds_count",
        reads_cached=True,
    ),
    "llama.cpp": _Names(
        read=("llamacpp:prompt_tokens_total",),
        cached=("llamacpp:prompt_tokens_cached_total",),
        written=("llamacpp:tokens_predicted_total",),
        running="llamacpp:requests_processing",
        waiting="llamacpp:requests_deferred",
        queue_s="",
        queued="",
        reads_cached=False,
    ),
}


@dataclass(frozen=True, slots=True)
class ServerFigures:
    """One reading of a server's figures, or the difference of two.

    Attributes:
        engine: the server's name, for people.
        prompt_tokens: tokens of prompts, including those from the cache.
        cached_tokens: tokens of prompts that the server had in its cache; None if it does not say.
        completion_tokens: tokens of answers.
        running, waiting: requests that are answered, and that wait, at the moment of the (last) reading.
        queue_s, queued: seconds that requests waited in total, and their number; None if it does not say.
    """

    engine: str
    prompt_tokens: float
    cached_tokens: float | None
    completion_tokens: float
    running: int
    waiting: int
    queue_s: float | None = None
    queued: float | None = None

    @property
    def cached_share(self) -> float | None:
        """The share of the tokens of prompts that came from the cache; None if it is not known."""
        if self.cached_tokens is None or not self.prompt_tokens:
            return None
        return min(1.0, self.cached_tokens / self.prompt_tokens)


def parse_metrics(text: str) -> ServerFigures | None:
    """Return the figures in the text of `/metrics`; None if it is not that of a known engine."""
    values = _read_samples(text[:_MAX_CHARACTERS])
    for engine, names in _ENGINES.items():
        read, written = _pick(values, names.read), _pick(values, names.written)
        if read is None or written is None:
            continue
        cached = _pick(values, names.cached)
        return ServerFigures(
            engine=engine,
            prompt_tokens=read if names.reads_cached else read + (cached or 0.0),
            cached_tokens=cached,
            completion_tokens=written,
            running=round(values.get(names.running, 0.0)),
            waiting=round(values.get(names.waiting, 0.0)),
            queue_s=values.get(names.queue_s),
            queued=values.get(names.queued),
        )
    return None


def _read_samples(text: str) -> dict[str, float]:
    """Return the values by name, added up over their labels. Lines that are no samples are skipped."""
    values: dict[str, float] = {}
    for line in text.split("\n"):
        sample = _SAMPLE.fullmatch(line)
        if sample is None:
            continue
        try:
            value = float(sample[2])
        except ValueError:
            continue
        if 0 <= value <= _MAX_VALUE:  # not so for nan
            values[sample[1]] = values.get(sample[1], 0.0) + value
    return values


def _pick(values: Mapping[str, float], names: tuple[str, ...]) -> float | None:
    for name in names:
        if name in values:
            return values[name]
    return None


def subtract_figures(
    after: ServerFigures | None, before: ServerFigures | None
) -> ServerFigures | None:
    """Return the work between two readings; None if one is missing, or if the server was started in between."""
    if after is None or before is None or after.engine != before.engine:
        return None
    difference = ServerFigures(
        engine=after.engine,
        prompt_tokens=after.prompt_tokens - before.prompt_tokens,
        cached_tokens=_subtract(after.cached_tokens, before.cached_tokens),
        completion_tokens=after.completion_tokens - before.completion_tokens,
        running=after.running,
        waiting=after.waiting,
        queue_s=_subtract(after.queue_s, before.queue_s),
        queued=_subtract(after.queued, before.queued),
    )
    # Counters begin at 0 again when the server is started again.
    was_restarted = difference.prompt_tokens < 0 or difference.completion_tokens < 0
    return None if was_restarted else difference


def _subtract(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else max(0.0, after - before)


def add_figures(replicas: Sequence[ServerFigures | None]) -> ServerFigures | None:
    """Return the sum over the replicas of a server; None if one has no figures, or if the engines differ."""
    known = [figures for figures in replicas if figures is not None]
    if not known or len(known) < len(replicas) or len({each.engine for each in known}) > 1:
        return None
    return ServerFigures(
        engine=known[0].engine,
        prompt_tokens=sum(each.prompt_tokens for each in known),
        cached_tokens=_add_known([each.cached_tokens for each in known]),
        completion_tokens=sum(each.completion_tokens for each in known),
        running=sum(each.running for each in known),
        waiting=sum(each.waiting for each in known),
        queue_s=_add_known([each.queue_s for each in known]),
        queued=_add_known([each.queued for each in known]),
    )


def _add_known(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def describe_work(figures: ServerFigures, seconds: float) -> str:
    """Return a line for the user with the work that the server did in these seconds; "" if it did none."""
    if not figures.prompt_tokens or seconds <= 0:
        return ""
    cached = ""
    if figures.cached_share is not None:
        cached = f" ({figures.cached_share:.0%} from its cache)"
    parts = [
        f"{figures.prompt_tokens / seconds:,.0f} tokens/s of prompts{cached}",
        f"{figures.completion_tokens / seconds:,.0f} tokens/s of answers",
    ]
    if figures.queued and figures.queue_s is not None:
        parts.append(f"{figures.queue_s / figures.queued:,.2f} s in its queue per request")
    return f"by {figures.engine}'s own figures: {', '.join(parts)}"


def describe_load(figures: ServerFigures) -> str:
    """Return a line for the user about requests of others that the server handles now; "" if there are none."""
    if not figures.running and not figures.waiting:
        return ""
    return (
        f"the server is used by others: {figures.running:,} running and {figures.waiting:,} waiting requests; "
        "expect longer times"
    )


def describe_cache(figures: ServerFigures) -> str:
    """Return a line with the share of prompts from the cache since the server was started; "" if it is not known."""
    if figures.cached_share is None:
        return ""
    return f"since its start the server had {figures.cached_share:.0%} of the tokens of prompts in its cache"
