"""`from intramural import Site` works from a built wheel and from an editable install, and costs others nothing."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
# The tests' own environment may contain an editable install, which must not stand in for the built one.
FORGET_CHECKOUT = (
    f"import site, sys; sys.path = [part for part in sys.path if part not in ('', {str(ROOT)!r})]; "
)
SHOW = (
    "import intramural, agent; assert intramural.Site is agent.Site; "
    "print(intramural.__file__, agent.__file__, sep='\\n')"
)


def build(folder: Path, kind: str) -> Path:
    """Build a wheel as pip does, and return the folder of its contents."""
    script = (
        f"from hatchling.build import build_{kind} as build; print(build({str(folder)!r}), end='')"
    )
    name = subprocess.check_output([sys.executable, "-c", script], cwd=ROOT, text=True)
    contents = folder / "contents"
    zipfile.ZipFile(folder / name).extractall(contents)
    return contents


def run(script: str, folder: Path) -> list[str]:
    command = [sys.executable, "-c", script]
    return subprocess.check_output(command, cwd=folder, text=True).splitlines()


def test_a_built_wheel_contains_the_module(tmp_path: Path):
    contents = build(tmp_path, "wheel")
    places = run(f"{FORGET_CHECKOUT}sys.path.insert(0, {str(contents)!r}); {SHOW}", tmp_path)
    assert places == [
        str(contents / "intramural/__init__.py"),
        str(contents / "agent/__init__.py"),
    ]
    assert (contents / "intramural/py.typed").exists()


def test_an_editable_install_contains_the_module(tmp_path: Path):
    contents = build(tmp_path, "editable")
    script = f"{FORGET_CHECKOUT}sys.path.insert(0, {str(contents)!r}); site.addsitedir({str(contents)!r}); {SHOW}"
    assert run(script, tmp_path) == [
        str(contents / "intramural/__init__.py"),
        str(ROOT / "agent/__init__.py"),
    ]


@pytest.mark.parametrize("module", ["agent", "agent.cli.main", "agent.service.pages"])
def test_other_parts_of_the_agent_do_not_import_pandas(module: str):
    script = f"import sys, {module}; print('pandas' in sys.modules)"
    assert run(script, ROOT) == ["False"]


def test_a_name_that_the_agent_does_not_have_raises():
    script = (
        "import agent\ntry:\n    agent.Sight\nexcept AttributeError as error:\n    print(error)"
    )
    assert run(script, ROOT) == ["module 'agent' has no attribute 'Sight'"]


def test_the_interface_is_typed_for_those_who_use_it(tmp_path: Path):
    page = tmp_path / "analysis.py"
    page.write_text(
        "import pandas as pd\n"
        "from agent import Site\n\n"
        'site = Site("site")\n'
        'frame: pd.DataFrame = site.instances(site.runs("try").iloc[0], reveal=False)\n'
        'text: str = site.plot_dots("try").svg\n'
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", str(page)]
    environment = {"MYPYPATH": str(ROOT)}
    checked = subprocess.run(
        [*command, "--follow-imports=silent", "--ignore-missing-imports"],
        cwd=tmp_path,
        env=environment,
        text=True,
        capture_output=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout
