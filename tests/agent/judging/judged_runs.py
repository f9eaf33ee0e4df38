"""A site whose answers a jury of scripted judges grades for real, all on one loopback server."""

import json
import re
from collections.abc import Callable
from pathlib import Path

from agent.site.directory import Site, create_site
from tests.agent.fault_server import Asked, FaultServer, Message
from tests.agent.runs.suites import write_benchmark

CRITERIA = ("accuracy", "clarity")
MORE = (
    "parser: text\ngold: {column: gold, form: text}\nunit_column: patient\nmetrics:\n"
    "  - name: jury_score\n    criteria: {accuracy: Is it right?, clarity: Is it clear?}\n  - name: rouge_l\n"
)
JUDGES = ("judge-one", "judge-two", "judge-three")
ROWS = [
    {"note": f"invented note {n}.", "gold": f"rest for {n} days", "patient": f"p{n // 2}"}
    for n in range(6)
]

Reply = Callable[[int, str], str | None]  # (number of the note, judge) -> what it says


def verdict(accuracy: float, clarity: float) -> str:
    """Return a valid verdict of the two criteria."""
    grades = zip(CRITERIA, (accuracy, clarity), strict=True)
    return json.dumps({name: {"explanation": "invented", "score": grade} for name, grade in grades})


def judged_site(folder: Path) -> Site:
    """Make a site with the benchmark `graded` and a jury of three."""
    site = create_site(folder, "Test")
    write_benchmark(site, "graded", ROWS, MORE)
    (site.directory / "judges.yaml").write_text(
        "judges:\n"
        + "".join(
            f"  - {{name: {one}, model: maker/{one}, model_deployment: local/{one}}}\n"
            for one in JUDGES
        )
    )
    return site


def serve(site: Site, server: FaultServer) -> None:
    """Say in the site's deployments that this server serves everything."""
    (site.directory / "model_deployments.yaml").write_text(
        "model_deployments:\n"
        + "".join(
            f"  - name: local/{model.split('/')[1]}\n    model_name: {model}\n    client_spec:\n"
            "      class_name: VLLMChatClient\n"
            f"      args: {{base_url: '{server.url}', vllm_model_name: {model}}}\n"
            for model in server.models
        )
    )


def judges(
    reply: Reply, answers: Callable[[int], str] = lambda n: f"rest for {n} days, invented note {n}."
) -> Callable[[Asked], Message | None]:
    """Return what the server says: models answer by the note's number, judges by `reply`."""

    def says(asked: Asked) -> Message | None:
        found = re.search(r"invented note (\d+)", asked.prompt)
        if found is None:
            return None
        number, model = int(found[1]), str(asked.body["model"])
        name = model.partition("/")[2]
        said = reply(number, name) if name in JUDGES else answers(number)
        return None if said is None else Message({"role": "assistant", "content": said})

    return says
