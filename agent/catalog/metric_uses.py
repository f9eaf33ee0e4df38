"""The key `metrics` of a definition."""

import math
from dataclasses import replace
from pathlib import Path

from agent.catalog.definition_files import DefinitionFiles
from agent.catalog.judges import read_judges, read_quorum
from agent.io.wording import nearest
from agent.io.yaml_map import YamlMap
from agent.jury.rubric import EXPLANATION, read_rubric_block
from agent.metrics import METRICS, MetricUse, Scale

JUDGE_METRIC = "jury_score"
_MOST_GRADE = 1_000


def read_metrics(m: YamlMap, files: DefinitionFiles) -> tuple[MetricUse, ...]:
    """Read the list of metrics; the first is the main one."""
    uses = tuple(_metric(inner, files) for inner in m.maps("metrics"))
    if not uses:
        m.note("metrics", "expected a list with at least one metric, each with a `name`")
    for name in {use.name for use in uses if sum(other.name == use.name for other in uses) > 1}:
        m.note("metrics", f"{name!r} is given twice")
    return uses


def _metric(m: YamlMap, files: DefinitionFiles) -> MetricUse:
    name = m.name("name")
    known = tuple(METRICS)
    if name and name not in known:
        m.note("name", f"unknown metric {name!r}{nearest(name, known)}; known are {', '.join(known)}")
    spec = METRICS.get(name)
    options = {key: _option(m, key, default) for key, default in spec.options.items()} if spec else {}
    helm_name = m.name("helm_name", name)
    if name != JUDGE_METRIC:
        optional = m.flag("optional", False)
        m.finish()
        return MetricUse(name, options, helm_name=helm_name, optional=optional)
    use = _jury(m, files, MetricUse(name, options, helm_name=helm_name))
    m.finish()
    return use


def _jury(m: YamlMap, files: DefinitionFiles, use: MetricUse) -> MetricUse:
    """Read what a jury is asked: criteria with their questions, or a prompt of its own that lists them."""
    criteria = m.pairs("criteria")
    prompt = ""
    fields: dict[str, tuple[str, ...]] = dict.fromkeys(criteria, (EXPLANATION,))
    gold_shown = m.flag("gold_shown", True)
    if m.has("prompt_file"):
        if criteria:
            m.note("criteria", "give either `criteria` or a `prompt_file` that lists them")
        prompt, path = files.text(m, "prompt_file")
        if path is not None and prompt.strip():
            fields = _rubric(m, prompt, path, gold_shown)
            criteria = dict.fromkeys(fields, "")
    elif not criteria:
        m.note("criteria", "expected `criteria` (a map of name and question), or the `prompt_file` of a judge's prompt")
    scale = _scale(m, Scale(0, 5) if prompt else Scale(1, 5))
    judges = read_judges(m)
    return replace(
        use,
        prompt=prompt,
        judges=judges,
        quorum=read_quorum(m, judges),
        scale=scale,
        criteria=criteria,
        fields=fields,
        gold_shown=gold_shown,
    )


def _rubric(m: YamlMap, prompt: str, path: Path, gold_shown: bool) -> dict[str, tuple[str, ...]]:
    if "{RESPONSE}" not in prompt:
        m.note("prompt_file", f"{path}: a judge's prompt needs {{RESPONSE}}, where the answer stands")
    if "{GOLD_RESPONSE}" in prompt and not gold_shown:
        m.note("gold_shown", f"{path} shows {{GOLD_RESPONSE}}; take it out, or leave `gold_shown` away")
    try:
        return read_rubric_block(prompt)
    except ValueError as why:
        m.note("prompt_file", f"{path}: {why}")
        return {}


def _scale(m: YamlMap, default: Scale) -> Scale:
    inner = m.map("scale")
    if inner is None:
        return default
    low, high = _bound(inner, "low"), _bound(inner, "high")
    inner.finish()
    if low is None or high is None:
        return default
    if low >= high:
        m.note("scale", "expected `low` below `high`; more is better")
        return default
    return Scale(low, high)


def _bound(m: YamlMap, key: str) -> float | None:
    text = m.text(key)
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or abs(number) > _MOST_GRADE:
        m.note(key, f"expected a number from {-_MOST_GRADE} to {_MOST_GRADE}")
        return None
    return number


def _option(m: YamlMap, key: str, default: bool | str) -> bool | str:
    return m.flag(key, default) if isinstance(default, bool) else m.text(key, default)
