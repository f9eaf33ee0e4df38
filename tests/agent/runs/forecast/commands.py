"""Commands that run and judge, with their output."""

from click.testing import CliRunner

from agent.cli.main import intramural
from agent.site.directory import Site
from tests.agent.fault_server import FaultServer


def told(site: Site, *words: str, code: int = 0) -> str:
    done = CliRunner().invoke(intramural, ["--site", str(site.directory), *words])
    assert done.exit_code == code, (done.output, done.exception)
    if isinstance(done.exception, SystemExit) or done.exception is None:
        return done.output
    return f"{done.output}{done.exception} {getattr(done.exception, 'advice', '')}"


def refused(site: Site, *words: str) -> str:
    done = CliRunner().invoke(intramural, ["--site", str(site.directory), *words])
    assert done.exit_code != 0
    return f"{done.exception} {getattr(done.exception, 'advice', '')}"


def run(site: Site, model: FaultServer, *more: str, entries: int = 1) -> str:
    names = [word for name in ("open", "more")[:entries] for word in ("-r", f"{name}:model=m")]
    return told(site, "run", "--server", model.url, *names, "--suite", "s", "--quiet", *more)


def judge(site: Site, *more: str) -> str:
    return told(site, "judge", "--suite", "s", "--quiet", *more)
