"""The columns of exported tables: one schema for all their forms, explained in docs/exchange.md."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "integer", "number", "yes_no", "json"]


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column. The value of a `json` column is a list or map in JSON Lines, and JSON text in other forms."""

    name: str
    kind: Kind


# One row per run and metric.
RUNS = (
    TableColumn("suite", "text"),
    TableColumn("run", "text"),
    TableColumn("benchmark", "text"),
    TableColumn("benchmark_name", "text"),
    TableColumn("category", "text"),
    TableColumn("access", "text"),
    TableColumn("model", "text"),
    TableColumn("deployment", "text"),
    TableColumn("language_model", "yes_no"),
    TableColumn("answer_mode", "text"),
    TableColumn("metric", "text"),
    TableColumn("helm_name", "text"),
    TableColumn("scoring", "text"),
    TableColumn("main", "yes_no"),
    TableColumn("n", "integer"),
    TableColumn("units", "integer"),
    TableColumn("unscored", "integer"),
    TableColumn("unscored_reasons", "json"),
    TableColumn("mean", "number"),
    TableColumn("floor", "number"),
    TableColumn("low", "number"),
    TableColumn("high", "number"),
    TableColumn("interval", "text"),
    TableColumn("normalised", "number"),
    TableColumn("bound_low", "number"),
    TableColumn("bound_high", "number"),
    TableColumn("cut_off", "number"),
    TableColumn("scale_low", "number"),
    TableColumn("scale_high", "number"),
    TableColumn("quorum", "integer"),
    TableColumn("judges", "json"),
    TableColumn("seats", "integer"),
    TableColumn("seats_filled", "integer"),
    TableColumn("seats_repaired", "integer"),
    TableColumn("seat_faults", "json"),
    TableColumn("criteria", "json"),
    TableColumn("family_judges", "json"),
    TableColumn("without_family", "number"),
    TableColumn("data", "text"),
    TableColumn("imported", "yes_no"),
    TableColumn("state", "text"),
    TableColumn("notes", "text"),
    TableColumn("prompt_tokens", "integer"),
    TableColumn("completion_tokens", "integer"),
    TableColumn("requests", "integer"),
    TableColumn("asked_seconds", "number"),
)

# One row per instance of a run.
INSTANCES = (
    TableColumn("suite", "text"),
    TableColumn("run", "text"),
    TableColumn("benchmark", "text"),
    TableColumn("model", "text"),
    TableColumn("deployment", "text"),
    TableColumn("position", "integer"),
    TableColumn("instance", "text"),
    TableColumn("id", "text"),
    TableColumn("messages", "json"),
    TableColumn("references", "json"),
    TableColumn("answer", "text"),
    TableColumn("reasoning", "text"),
    TableColumn("finish_reason", "text"),
    TableColumn("likelihoods", "json"),
    TableColumn("prompt_tokens", "integer"),
    TableColumn("completion_tokens", "integer"),
    TableColumn("shortened", "integer"),
    TableColumn("scores", "json"),
    TableColumn("judgements", "json"),
)
