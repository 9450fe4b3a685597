"""The package and its generated types."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

from generate import WIRE, wire_types

from .conftest import ROOT

FOLDER = ROOT / "sdk/python"


def test_the_wire_types_are_those_of_the_api_description() -> None:
    """If this fails: npm run openapi:python."""
    assert WIRE.read_text() == wire_types()


def test_the_wheel_contains_the_modules_and_their_types(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=FOLDER, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("debit_collection-*.whl")
    modules = {path.name for path in (FOLDER / "src/debit_collection").iterdir() if path.is_file()}
    with zipfile.ZipFile(wheel) as archive:
        packed = {Path(name).name for name in archive.namelist() if name.startswith("debit_collection/")}
        (metadata,) = (
            archive.read(name).decode() for name in archive.namelist() if name.endswith("METADATA")
        )
    assert packed == {*modules, "CHANGELOG.md"}
    assert "py.typed" in packed
    lines = metadata.splitlines()
    # The twine of the action that publishes knows no later version.
    assert lines[0] == "Metadata-Version: 2.4"
    assert [line for line in lines if line.startswith("Requires-Dist")] == ["Requires-Dist: httpx<1,>=0.27"]


def test_the_build_backend_of_a_clone_is_that_of_a_release() -> None:
    (pinned,) = re.findall("^hatchling==.+$", (FOLDER / "requirements.in").read_text(), re.M)
    assert f'requires = ["{pinned}"]' in (FOLDER / "pyproject.toml").read_text()


def test_no_framework_is_imported_without_its_receiver() -> None:
    code = "import sys, debit_collection.webhooks, debit_collection.bank_server; print(*sys.modules)"
    run = [sys.executable, "-c", code]
    done = subprocess.run(
        run, check=True, capture_output=True, text=True, env={"PYTHONPATH": str(FOLDER / "src")}
    )
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert not {"fastapi", "starlette", "flask", "django", "uvicorn", "typing_extensions"} & loaded
