"""install.sh of an air-gap kit: what it refuses, and what it leaves when it is done or was interrupted."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from intramural_release.errors import KitError, LicenceError
from intramural_release.kit import EXTRAS, KitOrder, assemble_kit, build_kit, choose_pins
from intramural_release.variants import PYTHONS
from intramural_release.wheel_files import hash_file
from tests.release.kits import EPOCH, PYTHON, SmallKit, make_key, make_small_kit, pin, write_wheel

ROOT = Path(__file__).parents[2]
SCRIPTS = ("deploy/airgap/install.sh", "deploy/airgap/build.sh", "tests/airgap/run.sh")
pytestmark = pytest.mark.skipif(
    any(shutil.which(name) is None for name in ("ssh-keygen", "sha256sum", "flock")),
    reason="OpenSSH, coreutils or util-linux is not installed",
)


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make_key(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, key: tuple[Path, Path]) -> SmallKit:
    return make_small_kit(tmp_path_factory.mktemp("built"), "0.1.0", key)


@pytest.fixture
def kit(built: SmallKit, tmp_path: Path) -> SmallKit:
    """Return a kit that the test may change."""
    folder = tmp_path / built.folder.name
    shutil.copytree(built.folder, folder)
    return SmallKit(folder, built.signers, built.built)


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    return tmp_path / "opt"


def run_program(prefix: Path) -> str:
    return subprocess.run(
        [prefix / "bin/intramural"], capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_scripts_pass_shellcheck(script: str):
    shellcheck = Path(sys.executable).parent / "shellcheck"
    subprocess.run([shellcheck, ROOT / script], check=True)


def test_install_add_an_extra_upgrade_and_return(
    kit: SmallKit, prefix: Path, key: tuple[Path, Path], tmp_path: Path
):
    done = kit.install("--prefix", str(prefix))
    assert done.returncode == 0, done.stderr
    assert run_program(prefix) == "intramural, version 0.1.0"
    record = json.loads((prefix / "current/intramural-kit.json").read_text())
    assert record["folder"] == str(kit.folder)
    assert record["extras"] == ["parquet"]
    assert kit.install("--prefix", str(prefix)).stdout.startswith("Already installed")

    added = kit.install("--prefix", str(prefix), "--add", "parquet", origin=False)
    assert added.returncode == 0, added.stderr
    assert run_program(prefix) == "intramural, version 0.1.0 with left_pad"

    newer = make_small_kit(tmp_path / "newer", "0.2.0", key)
    assert newer.install("--prefix", str(prefix)).returncode == 0
    assert run_program(prefix) == "intramural, version 0.2.0 with left_pad"  # the extra stays
    assert len(list((prefix / "releases").iterdir())) == 2  # in use, and the one before

    assert newer.install("--prefix", str(prefix), "--rollback", origin=False).returncode == 0
    assert run_program(prefix) == "intramural, version 0.1.0 with left_pad"
    assert newer.install("--prefix", str(prefix), "--rollback", origin=False).returncode == 0
    assert run_program(prefix) == "intramural, version 0.2.0 with left_pad"


def change_file(kit: SmallKit) -> None:
    wheel = next(kit.folder.glob("wheels/left_pad*"))
    wheel.write_bytes(wheel.read_bytes().replace(b"MIT", b"BSD"))


def plant_file(kit: SmallKit) -> None:
    shutil.copy(
        next(kit.folder.glob("wheels/left_pad*")),
        kit.folder / "wheels/left_pad-9.0-py3-none-any.whl",
    )


def remove_file(kit: SmallKit) -> None:
    next(kit.folder.glob("wheels/left_pad*")).unlink()


def replace_by_link(kit: SmallKit) -> None:
    wheel = next(kit.folder.glob("wheels/left_pad*"))
    wheel.rename(kit.folder.parent / wheel.name)
    wheel.symlink_to(kit.folder.parent / wheel.name)


def forge_list(kit: SmallKit) -> None:
    change_file(kit)
    wheel = next(kit.folder.glob("wheels/left_pad*"))
    path = kit.folder / "SHA256SUMS"
    lines = path.read_text().splitlines()
    path.write_text(
        "".join(
            f"{hash_file(wheel)}  wheels/{wheel.name}\n" if wheel.name in line else f"{line}\n"
            for line in lines
        )
    )


def remove_signature(kit: SmallKit) -> None:
    (kit.folder / "SHA256SUMS.sig").unlink()


def sign_anew(kit: SmallKit) -> None:
    key, _ = make_key(kit.folder.parent, "forgers-key")
    remove_signature(kit)
    subprocess.run(
        [
            "ssh-keygen",
            "-q",
            "-Y",
            "sign",
            "-f",
            key,
            "-n",
            "intramural-release",
            kit.folder / "SHA256SUMS",
        ],
        check=True,
    )


def open_to_everyone(kit: SmallKit) -> None:
    (kit.folder / "wheels").chmod(0o777)


@pytest.mark.parametrize(
    ("attack", "told"),
    [
        (change_file, "changed: wheels/left_pad-1.0"),
        (plant_file, "not on the kit's list: wheels/left_pad-9.0"),
        (remove_file, "missing from the kit: wheels/left_pad-1.0"),
        (replace_by_link, "neither a file nor a folder: ./wheels/left_pad-1.0"),
        (forge_list, "the signature of the kit is not valid"),
        (remove_signature, "the kit is not signed"),
        (sign_anew, "the signature of the kit is not valid"),
        (open_to_everyone, "every account of this machine can change the kit"),
    ],
)
def test_a_kit_that_is_not_as_it_was_built_installs_nothing(
    attack, told: str, kit: SmallKit, prefix: Path
):
    attack(kit)
    for mode in ([], ["--verify"]):
        done = kit.install("--prefix", str(prefix), *mode)
        assert done.returncode == 1
        assert told in done.stderr
    assert not (prefix / "bin").exists()
    assert list(prefix.glob("releases/*")) == []


def test_a_kit_of_unknown_origin_is_refused(kit: SmallKit, prefix: Path):
    done = kit.install("--prefix", str(prefix), origin=False)
    assert (done.returncode, "nothing says where the kit comes from" in done.stderr) == (1, True)
    done = kit.install("--prefix", str(prefix), "--digest", "0" * 64, origin=False)
    assert (done.returncode, "another one than --digest names" in done.stderr) == (1, True)
    done = kit.install("--prefix", str(prefix), "--digest", kit.built.digest, origin=False)
    assert done.returncode == 0, done.stderr


def test_extras_are_added_only_from_the_kit_that_is_installed(
    kit: SmallKit, prefix: Path, key: tuple[Path, Path], tmp_path: Path
):
    assert kit.install("--prefix", str(prefix)).returncode == 0
    other = make_small_kit(tmp_path / "other", "0.1.1", key)
    done = other.install("--prefix", str(prefix), "--add", "parquet", origin=False)
    assert (done.returncode, "not the kit that is installed" in done.stderr) == (1, True)
    assert run_program(prefix) == "intramural, version 0.1.0"


def test_an_extra_that_the_kit_lacks_is_named_with_those_it_has(kit: SmallKit, prefix: Path):
    done = kit.install("--prefix", str(prefix), "--extras", "onnx")
    assert done.returncode == 1
    assert "the kit has no extra onnx for this Python; it has: parquet" in done.stderr
    done = kit.install("--prefix", str(prefix), "--extras", "../../secrets")
    assert "this is no extra" in done.stderr


def test_an_upgrade_whose_program_does_not_start_leaves_the_release_in_use(
    kit: SmallKit, prefix: Path, key: tuple[Path, Path], tmp_path: Path
):
    assert kit.install("--prefix", str(prefix)).returncode == 0
    newer = make_small_kit(tmp_path / "newer", "0.2.0", key, program="raise SystemExit(1)\n")
    done = newer.install("--prefix", str(prefix))
    assert (done.returncode, "the installed program does not start" in done.stderr) == (1, True)
    assert run_program(prefix) == "intramural, version 0.1.0"
    assert len(list((prefix / "releases").iterdir())) == 1


def test_a_run_that_was_killed_is_made_up_for_by_the_next(kit: SmallKit, prefix: Path):
    assert kit.install("--prefix", str(prefix)).returncode == 0
    (release,) = (prefix / "releases").iterdir()
    for path in ("bin/intramural", "intramural-kit.json"):  # written last
        (release / path).unlink()
    done = kit.install("--prefix", str(prefix))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Installed")
    assert run_program(prefix) == "intramural, version 0.1.0"


def test_two_at_once(kit: SmallKit, prefix: Path):
    prefix.mkdir()
    with (prefix / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = kit.install("--prefix", str(prefix))
    assert (done.returncode, "another install.sh is at work" in done.stderr) == (1, True)


def test_an_installation_that_no_kit_made_is_left_alone(kit: SmallKit, prefix: Path):
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin/intramural").write_text("by hand")
    done = kit.install("--prefix", str(prefix))
    assert (done.returncode, "holds an installation that no kit made" in done.stderr) == (1, True)
    assert (prefix / "bin/intramural").read_text() == "by hand"


def test_a_python_without_wheels_in_the_kit_is_refused(kit: SmallKit, prefix: Path):
    done = kit.install("--prefix", str(prefix), "--python", "/bin/true")
    assert done.returncode == 1
    assert (
        f"no Python for this kit, which has wheels for: py{PYTHON.replace('.', '')}" in done.stderr
    )


@pytest.mark.parametrize(
    "words", [["--frobnicate"], ["--prefix", "relative"], ["--signers"], ["--add", ""]]
)
def test_a_wrong_option_is_refused(kit: SmallKit, words: list[str]):
    done = kit.install(*words)
    assert done.returncode == 1
    assert done.stderr.startswith("install.sh: ")


def test_settings_of_the_machine_do_not_reach_the_kits_pip(
    kit: SmallKit, prefix: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    planted = tmp_path / "planted"
    planted.mkdir()
    write_wheel(planted, "left_pad", "1.0", {"left_pad.py": "raise SystemExit"})
    monkeypatch.setenv("PIP_FIND_LINKS", str(planted))
    monkeypatch.setenv("PIP_TARGET", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("PYTHONPATH", str(planted))
    done = kit.install("--prefix", str(prefix), "--extras", "parquet")
    assert done.returncode == 0, done.stderr
    assert run_program(prefix) == "intramural, version 0.1.0 with left_pad"


def test_the_same_wheels_give_the_same_archive(
    built: SmallKit, key: tuple[Path, Path], tmp_path: Path
):
    os.utime(ROOT / "deploy/airgap/README.md")
    again = make_small_kit(tmp_path, "0.1.0", key)
    assert hash_file(again.built.archive) == hash_file(built.built.archive)
    assert again.built.digest == built.built.digest


def test_the_archive_lists_what_it_holds(built: SmallKit):
    manifest = json.loads((built.folder / "kit.json").read_text())
    assert manifest["name"] == built.folder.name
    listed = {entry["path"]: entry["sha256"] for entry in manifest["contents"]}
    present = {
        path.relative_to(built.folder).as_posix(): hash_file(path)
        for path in built.folder.rglob("*")
        if path.is_file() and path.name not in ("kit.json", "SHA256SUMS", "SHA256SUMS.sig")
    }
    assert listed == present
    assert {"LICENCES.md", "LICENSE", "README.md", "install.sh"} <= listed.keys()
    with tarfile.open(built.built.archive) as archive:
        assert {(member.uid, member.mtime) for member in archive} == {(0, EPOCH)}


def test_data_of_a_gated_benchmark_is_not_passed_on(key: tuple[Path, Path], tmp_path: Path):
    for benchmark, told in (
        ("mimic_bhc", "may not be passed on"),
        ("no_such", "there is no benchmark"),
    ):
        order = KitOrder((), (PYTHON,), "x86_64", datasets={benchmark: tmp_path}, key=key[0])
        with pytest.raises(KitError, match=told):
            make_small_kit(tmp_path / benchmark, "0.1.0", key, order)


def test_datasets_models_and_images_are_carried_as_they_were_given(
    key: tuple[Path, Path], tmp_path: Path
):
    data, model, image = tmp_path / "med_qa", tmp_path / "weights", tmp_path / "agent.tar"
    data.mkdir()
    (data / "test.jsonl").write_text("{}\n")
    (data / ".dataset.json").write_text("the record of another site")
    model.mkdir()
    (model / "model.safetensors").write_bytes(b"weights")
    image.write_bytes(b"image")
    order = KitOrder(
        ("parquet",), (PYTHON,), "x86_64", {"med_qa": data}, (model,), (image,), key[0]
    )
    kit = make_small_kit(tmp_path / "kit", "0.1.0", key, order).folder
    assert (kit / "datasets/med_qa/test.jsonl").read_text() == "{}\n"
    assert not (kit / "datasets/med_qa/.dataset.json").exists()
    assert (kit / "models/weights/model.safetensors").read_bytes() == b"weights"
    assert (kit / "images/agent.tar").read_bytes() == b"image"


def test_a_package_under_another_licence_gets_into_no_kit(tmp_path: Path):
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    wheel = write_wheel(wheels, "left_pad", "1.0", {"left_pad.py": ""})
    wheel.write_bytes(wheel.read_bytes().replace(b"Expression: MIT", b"Expression: XYZ"))
    order = KitOrder((), (PYTHON,), "x86_64")
    with pytest.raises((LicenceError, KitError)):
        assemble_kit(order, wheels, {PYTHON: {"base": (pin(wheel),)}}, tmp_path, EPOCH)


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("extra", sorted(set(EXTRAS)))
def test_every_extra_can_be_put_into_a_kit(extra: str, python: str):
    chosen = choose_pins((extra,), python)
    assert set(chosen) == {"base", extra}
    assert {pin.name for pin in chosen["base"]} >= {"click", "numpy", "spacy"}


def test_an_unknown_extra_and_vllm_beside_others_are_refused(tmp_path: Path):
    with pytest.raises(KitError, match="no such extra: left-pad"):
        choose_pins(("left-pad",), "3.12")
    with pytest.raises(KitError, match="does not fit into a kit with vllm"):
        build_kit(KitOrder(("llamacpp", "vllm"), ("3.12",), "x86_64"), tmp_path)
