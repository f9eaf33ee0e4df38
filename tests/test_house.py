"""The house stays as it was drawn: who imports whom, what is pure, what the documents say."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest

from agent.errors import AgentError

ROOT = Path(__file__).parents[1]
PACKAGES = ("protocol", "agent", "aggregator")
ROOMS = (
    *(
        "errors",
        "vocabulary",
        "statistics",
        "io",
        "cluster",
        "monitoring",
        "keys",
        "reading",
        "own_metrics",
        "metrics",
        "inference",
        "delivery",
        "store",
        "site",
        "access",
        "jury",
    ),
    *(
        "scoring",
        "catalog",
        "model_servers",
        "redaction",
        "datasets",
        "review",
        "results",
        "plots",
        "calibration",
        "judging",
        "runs",
    ),
    *("exchange", "disclosure", "backup", "alerts", "jobs", "service", "notebook", "cli"),
)
"""The rooms of the agent in the order of its imports. docs/architecture.md says what each is for."""


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


@pytest.mark.parametrize(
    ("package", "forbidden"),
    [("protocol", {"agent", "aggregator"}), ("agent", {"aggregator"}), ("aggregator", {"agent"})],
)
def test_imports_go_one_way(package: str, forbidden: set[str]):
    wrong = [
        str(path)
        for path in modules(package)
        if {name.split(".")[0] for name in imports(path)} & forbidden
    ]
    assert wrong == []


def test_each_room_of_the_agent_imports_only_rooms_above_it_in_this_list():
    wrong = []
    for path in modules("agent"):
        room = path.relative_to(ROOT / "agent").parts[0].removesuffix(".py")
        if room.startswith("__"):
            continue
        imported = {name.split(".")[1] for name in imports(path) if name.startswith("agent.")}
        below = set(ROOMS[ROOMS.index(room) + 1 :])
        wrong += [
            f"{path.relative_to(ROOT)} imports agent.{name}" for name in sorted(imported & below)
        ]
    assert wrong == []


def test_the_agents_top_level_holds_its_rooms_and_three_modules():
    inside = {path.name for path in (ROOT / "agent").iterdir() if path.name != "__pycache__"}
    modules_here = {
        "__init__.py",
        "__main__.py",
        "errors.py",
        "vocabulary.py",
        "keys.py",
        "py.typed",
    }
    assert inside == modules_here | (set(ROOMS) - {"errors", "vocabulary", "keys"})


@pytest.mark.parametrize("package", ["agent", "aggregator", "protocol"])
def test_a_name_means_one_thing_within_a_package(package: str):
    modules_by_class: dict[str, list[str]] = {}
    for path in sorted((ROOT / package).rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules_by_class.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    twice = {name: paths for name, paths in modules_by_class.items() if len(paths) > 1}
    if package == "agent":
        # The notebook's site is what a data scientist calls one; the other is its folder.
        assert twice.pop("Site") == ["agent/notebook/site.py", "agent/site/directory.py"]
    assert twice == {}


def test_every_loader_that_a_definition_may_name_is_there():
    from agent.catalog.data_section import BY_ENDING, LOADERS
    from agent.datasets.formats import FORMATS

    assert tuple(FORMATS) == LOADERS
    assert set(BY_ENDING.values()) <= set(LOADERS)


def test_protocol_has_no_clock_disk_network_or_randomness():
    impure = {
        "time",
        "datetime",
        "os",
        "pathlib",
        "io",
        "socket",
        "ssl",
        "httpx",
        "random",
        "secrets",
        "tempfile",
    }
    wrong = {str(path): found for path in modules("protocol") if (found := imports(path) & impure)}
    assert wrong == {}


def test_only_the_named_rooms_and_modules_open_connections_from_the_agent():
    clients = {"httpx", "requests", "urllib.request", "http.client", "aiohttp", "smtplib", "ftplib"}
    listeners = {"agent/service/server.py", "agent/service/web/serve.py"}
    wrong = []
    for path in modules("agent"):
        name, found = path.relative_to(ROOT).as_posix(), imports(path)
        # loopback.py: is the server ready that the agent itself started on this machine?
        # oidc.py: a person signs in at the site's own OpenID provider, on the host of oidc_issuer alone
        # webhook.py, mail.py: codes and counts go to the receivers of alerts in site.yaml
        # fetch.py: `intramural datasets fetch` downloads a public set from its pinned address, and only when asked.
        if name.startswith(("agent/inference/", "agent/delivery/")) or name in (
            "agent/access/oidc.py",
            "agent/alerts/mail.py",
            "agent/alerts/webhook.py",
            "agent/datasets/manage/fetch.py",
            "agent/model_servers/loopback.py",
        ):
            continue
        if found & clients or ("socket" in found and name not in listeners):
            wrong.append(name)
    assert wrong == []


def test_help_costs_no_heavy_import():
    script = (
        "import sys; import agent.cli.main; "
        "heavy = {'numpy','presidio_analyzer','spacy','httpx','rich','pydantic','fastapi','uvicorn','jinja2',"
        "'smtplib','sqlalchemy','prometheus_client','rouge_score','nltk','pyhocon','argon2','authlib','joserfc',"
        "'pandas'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", script], text=True).strip() == "[]"


def test_every_setting_is_documented():
    from agent.site.settings import Settings

    page = (ROOT / "docs/settings.md").read_text("utf-8").split("## From the environment")[0]
    assert [name for name in Settings.model_fields if f"| `{name}` |" not in page] == []
    assert [
        name
        for name in re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
        if name not in Settings.model_fields
    ] == []


@pytest.mark.parametrize(
    "attempt",
    [
        "socket.create_connection(('192.0.2.1', 80), timeout=5)",
        "socket.getaddrinfo('board.example', 443)",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))",
    ],
    ids=["connection", "name", "datagram"],
)
def test_an_attempt_to_go_online_is_refused_and_noted_in_every_process(
    attempt: str, tmp_path: Path
):
    note = tmp_path / "note"
    script = f"import socket\ntry:\n    {attempt}\nexcept ConnectionRefusedError as error:\n    print(error)"
    environment = {**os.environ, "REFUSED_CONNECTIONS": str(note)}
    said = subprocess.check_output([sys.executable, "-c", script], text=True, env=environment)
    assert "refuse connections beyond loopback" in said
    assert note.read_text().startswith("socket.")


def commands(
    group: click.Group, path: tuple[str, ...] = ()
) -> dict[tuple[str, ...], click.Command]:
    found: dict[tuple[str, ...], click.Command] = {}
    for name, command in group.commands.items():
        found[*path, name] = command
        if isinstance(command, click.Group):
            found.update(commands(command, (*path, name)))
    return found


def test_every_command_the_documents_quote_exists():
    from agent.cli.main import intramural
    from aggregator.cli import cli
    from intramural_steward.cli import cli as steward

    known = {
        "intramural": commands(intramural),
        "intramural-aggregator": commands(cli),
        "intramural-steward": commands(steward),
    }
    wrong = []
    pages = [ROOT / "README.md", ROOT / "deploy/README.md", ROOT / "deploy/steward/README.md"]
    pages += [ROOT / "benchmarks/README.md"]
    pages += sorted((ROOT / "docs").rglob("*.md"))
    for page in pages:
        for line in re.findall(
            r"^\s*(?:\$ )?(intramural(?:-aggregator|-steward)? .*)$",
            page.read_text("utf-8"),
            re.MULTILINE,
        ):
            program, *words = line.split("#")[0].split()
            path: tuple[str, ...] = ()
            for word in words:
                if (*path, word) in known[program]:
                    path = (*path, word)
            options = {word.split("=")[0] for word in words if word.startswith("--")}
            groups = {"--site", "--dir", "--log-level", "--log-format", "--help", "--version"}
            command = known[program].get(path)
            accepted = (
                {name for option in command.params for name in option.opts} if command else set()
            )
            if not path or options - accepted - groups:
                wrong.append(f"{page.name}: {line}")
    assert wrong == []


def list_leaves(error: type[AgentError]) -> list[type[AgentError]]:
    return [error] + [leaf for child in error.__subclasses__() for leaf in list_leaves(child)]


def test_help_names_the_exit_codes_of_every_error():
    from agent.cli.main import intramural

    codes = {str(error.exit_code) for error in list_leaves(AgentError)} | {"0", "9", "130"}
    for text in (intramural.help or "", sys.modules["agent.cli.main"].__doc__ or ""):
        listed = re.sub(r"\s+", " ", text).split("Exit codes: ")[1].split(". ")[0]
        assert codes == set(re.findall(r"(?:^|, |: )(\d+) ", listed)), listed


def read_tables(page: str) -> list[list[list[str]]]:
    """Return the tables of a document, each a list of rows of cells without its head."""
    text = (ROOT / page).read_text("utf-8")
    tables = re.findall(r"^\|[-|]+\|\n((?:\|.*\n)+)", text, re.MULTILINE)
    return [
        [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in table.splitlines()]
        for table in tables
    ]


def test_the_page_of_errors_lists_every_exit_code_reason_and_refusal():
    from agent.delivery.transport import SubmissionRefusedError
    from agent.vocabulary import Reason
    from protocol.errors import Code

    exits, reasons, refusals = read_tables("docs/errors.md")
    classes = {name: int(code) for code, name, *_ in exits if name}
    assert classes == {
        error.__name__: error.exit_code
        for error in (AgentError, *AgentError.__subclasses__())
        if error is AgentError or error.exit_code != AgentError.exit_code
    }
    assert [code for code, name, *_ in exits if not name] == ["0", "9", "130"]
    assert [row[0] for row in reasons] == [reason.value for reason in Reason]
    assert [row[0] for row in refusals] == [code.value for code in Code]
    kept = {row[0] for row in refusals if row[3] == "yes"}
    assert kept == {code.value for code in Code if not SubmissionRefusedError(code, 0).final}


def test_the_page_of_commands_is_what_the_programs_say():
    from tests.commands_page import PAGE, make_page

    assert PAGE.read_text("utf-8") == make_page(), "run `make commands`"


def test_every_message_of_the_page_on_trouble_is_one_of_the_programs():
    code = "\n".join(path.read_text("utf-8") for path in (ROOT / "agent").rglob("*.py"))
    joined = re.sub(r'"\s*\n\s*f?"', "", code)
    messages = [
        row[0]
        for table in read_tables("docs/troubleshooting.md")
        for row in table
        if "` in" not in row[0]
    ]
    assert len(messages) > 20
    assert [message for message in messages if message not in joined] == []


def test_every_test_that_the_privacy_pack_names_exists():
    page = (ROOT / "docs/privacy.md").read_text("utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", page)
    assert len(named) > 20
    assert [
        (path, name)
        for path, name in named
        if f"def {name}(" not in (ROOT / path).read_text("utf-8")
    ] == []


def test_every_link_between_documents_leads_somewhere():
    pages = [page for page in ROOT.glob("*.md") if page.name != "CHANGELOG.md"]
    pages += [*(ROOT / "docs").rglob("*.md"), *(ROOT / "deploy").rglob("*.md")]
    pages += [*(ROOT / "benchmarks").glob("*.md"), *(ROOT / "tests").rglob("*.md")]
    broken = []
    for page in pages:
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
            if target.startswith(("http:", "https:", "mailto:")):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if not file.exists() or (anchor and anchor not in list_anchors(file)):
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert broken == []


def list_anchors(page: Path) -> set[str]:
    """Return the anchors of a document's headings, as forges make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_readme_fits_three_screens():
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 130


def test_every_decision_is_listed():
    listing = (ROOT / "docs/decisions/README.md").read_text("utf-8")
    pages = [page.name for page in (ROOT / "docs/decisions").glob("0*.md")]
    assert [page for page in pages if f"({page})" not in listing] == []


def test_every_dependency_is_imported_and_has_a_reason():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    declared = {re.split(r"[<>=]", line)[0] for line in project["dependencies"]}
    reasons = (ROOT / "docs/decisions/0002-dependencies.md").read_text("utf-8")
    assert [name for name in sorted(declared) if name not in reasons] == []
    known = {
        "argon2": "argon2-cffi",
        "yaml": "pyyaml",
        "rouge_score": "rouge-score",
        "docx": "python-docx",
        "nacl": "pynacl",
    }
    found = {
        name.split(".")[0]
        for package in PACKAGES
        for path in modules(package)
        for name in imports(path)
    }
    outside = {
        known.get(name, name.replace("_", "-"))
        for name in found - set(PACKAGES) - set(sys.stdlib_module_names)
    }
    extras = project["optional-dependencies"]
    optional = {
        re.split(r"[<>=\[]", line)[0]
        for extra in extras
        for line in extras[extra]
        if extra != "test"
    }
    # Starlette imports it to read forms, and does not require it.
    assert outside - optional | {"python-multipart"} == declared
