"""Two models, of which one answers all and one only what it knows, and what is said of their runs."""

from collections.abc import Sequence

from click.testing import CliRunner, Result

from agent.cli.run import run
from agent.cli.summarize import summarize
from agent.site.directory import Site
from tests.agent.fault_server import Asked, FaultServer, Message
from tests.agent.runs.suites import write_benchmark

METRICS = (
    "parser: option_letter\nchoices: [yes, no]\ngold: {column: "
    "gold, form: text}\nmetrics:\n  - name: exact_match\n"
)
BOLD, SHY = "test/bold", "test/shy"


def says(asked: Asked) -> Message | None:
    _, found, rest = asked.prompt.partition("invented note ")
    if not found:
        return None
    number = int(rest.partition(".")[0])
    knows = number < 10
    if asked.body["model"] == "bold":
        return Message({"role": "assistant", "content": "A" if number < 24 else "B"})
    return Message({"role": "assistant", "content": "A" if knows else "I would rather not say."})


def write(site: Site, notes: Sequence[int], name: str = "own") -> None:
    folder = write_benchmark(
        site, name, [{"note": f"invented note {n}.", "gold": "yes"} for n in notes], METRICS
    )
    (folder / "prompt.txt").write_text("Note: {note}\n{options}\nAnswer:")


def asked(site: Site, *entries: str, more: Sequence[str] = ()) -> Result:
    with FaultServer(models=["bold", "shy"], fault=says) as server:
        (site.directory / "model_deployments.yaml").write_text(
            "model_deployments:\n"
            + "".join(
                f"  - name: {model}\n    currency: EUR\n"
                f"    client_spec: {{class_name: VLLMChatClient, args: {{base_url: '{server.url}'}}}}\n"
                "    gpu_hour_rate: 100000\n    gpus: 1\n"
                for model in (BOLD, SHY)
            )
        )
        words = [word for entry in entries for word in ("-r", entry)]
        done = CliRunner().invoke(run, [*words, "--suite", "s", "--quiet", *more], obj=site)
    assert done.exit_code == 0, (done.output, done.exception)
    return done


def shown(site: Site, *words: str) -> str:
    done = CliRunner().invoke(summarize, ["--suite", "s", *words], obj=site)
    assert done.exit_code == 0, done.output
    return done.stdout
