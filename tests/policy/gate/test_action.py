"""The Action runs nothing that a pull request brings, and takes its inputs as they are."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from dpcompose.planning.comparison import EVENTS

from .attacks import Done, commit, git, spec

TOP = Path(__file__).parents[3]
ACTION = TOP / ".github" / "actions" / "dpcompose" / "action.yml"
TAKEN = yaml.safe_load(ACTION.read_text(encoding="utf-8"))

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


def steps() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = TAKEN["runs"]["steps"]
    return found


def step(number: int, folder: Path, temp: Path, **inputs: str) -> Done:
    """Run a step as GitHub does, with the defaults of the inputs that are not given."""
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(temp), "RUNNER_TEMP": str(temp),
        "GITHUB_STEP_SUMMARY": str(temp / "summary"), "GITHUB_ACTIONS": "true",
    }  # fmt: skip
    for name, value in steps()[number]["env"].items():
        key = value.split(".")[1].split(" ")[0]
        known = TAKEN["inputs"][key]["default"] if value.startswith("${{ inputs.") else ""
        environment[name] = inputs.pop(name, known)
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", steps()[number]["run"]],
        env=environment | inputs, cwd=folder, capture_output=True, text=True, timeout=600,
        check=False,
    )  # fmt: skip


@pytest.fixture
def temp(tmp_path: Path) -> Path:
    """The folder for temporary files of a runner, which is not in the workspace."""
    folder = tmp_path / "temp"
    folder.mkdir()
    return folder


def stand_in(temp: Path, script: str) -> None:
    program = temp / "dpcompose" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def booby_trapped(root: Path) -> Path:
    """The modules of a pull request that leave a trace where they are imported, and the trace."""
    trace = root.parent / "ran"
    text = f"open({str(trace)!r}, 'w').close()\n"
    for name in (
        "venv", "pip", "ensurepip", "sitecustomize", "usercustomize", "typer", "yaml", "json",
        "site", "runpy", "encodings", "dpcompose/__init__", "dpcompose/__main__",
    ):  # fmt: skip
        path = root / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return trace


def test_no_input_is_put_into_a_script() -> None:
    for each in steps():
        assert "${{" not in each["run"] and each["shell"] == "bash"
        for value in each.get("env", {}).values():
            assert re.fullmatch(r"\$\{\{ (inputs\.[\w-]+|github\.action_path) \}\}", value)


def test_every_input_is_used_and_is_one() -> None:
    used = set(re.findall(r"inputs\.([\w-]+)", ACTION.read_text(encoding="utf-8")))
    assert used == set(TAKEN["inputs"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "python", [pytest.param(sys.executable, marks=pytest.mark.long), "python3", "./given"]
)
def test_modules_of_the_workspace_are_not_run_while_installing(
    root: Path, temp: Path, python: str
) -> None:
    trace = booby_trapped(root)
    if python == "./given":
        (root / "given").symlink_to(sys.executable)
    done = step(
        0, root, temp, PYTHON=python, PYTHONPATH=str(root), PYTHONSTARTUP="venv.py",
        PIP_NO_INDEX="1", ACTION_PATH=str(root), VERSION="0.1.0",
    )  # fmt: skip
    assert done.returncode != 0  # an index without packages
    assert "No matching distribution found for dpcompose==0.1.0" in done.stderr
    assert (temp / "dpcompose" / "bin" / "python").exists() and not trace.exists()


@pytest.mark.parametrize(
    "version", ["--index-url=http://x", "0.1 @ git+https://x", "latest", "1\n2", ">=0", "-e ."]
)
def test_what_is_installed_is_a_version(root: Path, temp: Path, version: str) -> None:
    done = step(0, root, temp, VERSION=version, ACTION_PATH=str(root))
    assert done.returncode == 2 and "is no version" in done.stdout
    assert not (temp / "dpcompose").exists()


@pytest.mark.parametrize("version", ["", "0.1.0"])
def test_the_action_installs_its_own_checkout_or_a_version_by_hashes(
    root: Path, temp: Path, version: str
) -> None:
    log = temp / "log"
    python = temp / "python"
    made = temp / "dpcompose" / "bin"
    script = f'mkdir -p {made}\ncp -n "$0" {made}/python\necho "$PWD $*" >> {log}\n'
    python.write_text(f"#!/bin/sh\n{script}")
    python.chmod(0o755)
    done = step(
        0, root, temp, PYTHON=str(python), ACTION_PATH="/action/at/revision/x", VERSION=version
    )
    assert (done.returncode, done.stderr) == (0, "")
    venv, *installed = log.read_text().splitlines()
    assert venv == f"{temp} -I -m venv --clear {temp}/dpcompose"
    pip = f"{temp} -I -m pip install --quiet --disable-pip-version-check"
    top = "/action/at/revision/x/../../.."
    brought = f"{temp}/dpcompose/lib/python3*/site-packages/dpcompose/requirements.txt"
    assert installed == (
        [
            f"{pip} --no-deps --only-binary :all: -- dpcompose==0.1.0",
            f"{pip} --require-hashes -r {brought}",
        ]
        if version
        else [
            f"{pip} --require-hashes -r {top}/.ci/requirements.txt "
            f"-r {top}/.ci/build-requirements.txt",
            f"{pip} --no-deps --no-index --no-build-isolation -- {top}",
        ]
    )


@pytest.mark.slow
def test_modules_of_the_workspace_are_not_run_while_checking(root: Path, temp: Path) -> None:
    trace = booby_trapped(root)
    (root / "specs" / "a.yaml").write_text(spec(2))
    commit()
    stand_in(temp, f'exec {sys.executable} "$@"')
    quiet = {"MAX_SECONDS": "", "MAX_MEMORY": "", "PYTHONPATH": str(root)}
    done = step(1, root, temp, FILES="specs", **quiet)
    assert (done.returncode, done.stdout) == (0, "dpcompose: passed\n")
    assert done.stderr == "2 specs: 2 within budget\n"
    assert "| <code>specs/a.yaml</code> |" in (temp / "summary").read_text()
    done = step(1, root, temp, FILES="specs", AGAINST="base", **quiet)
    assert done.returncode == 1 and "### ▲ <code>specs/a.yaml</code>: ε  1 → 2" in done.stdout
    assert done.stdout.endswith(
        "dpcompose: failed with exit code 1; annotations and summary say why\n"
    )
    summary = (temp / "summary").read_text()
    assert "### Privacy budgets" in summary and "### ▲ <code>specs/a.yaml</code>" in summary
    git("checkout", "-q", "base")
    done = step(1, root, temp, FILES="specs", AGAINST="base", STRICT="true", **quiet)
    assert done.returncode == 0 and done.stdout.endswith("dpcompose: passed\n")
    assert not trace.exists()


def test_inputs_are_handed_over_as_they_are(root: Path, temp: Path) -> None:
    stand_in(temp, 'for each; do printf "%s\\n" "$each"; done\nexit 3')
    hostile = "specs/a b.yaml\n$(touch pwned).yaml\n\n  *.yaml  \n; touch pwned\n--output=x\n"
    policy = [
        "--settings=a b.toml", "--settings-from=origin/main", "--isolated", "--strict",
        "--max-seconds=7", "--max-memory=9",
    ]  # fmt: skip
    files = [
        "--",
        "specs/a b.yaml",
        "$(touch pwned).yaml",
        "  *.yaml  ",
        "; touch pwned",
        "--output=x",
    ]
    done = step(
        1, root, temp, FILES=hostile, ARGUMENTS="--epsilon\n1\n", SETTINGS="a b.toml",
        SETTINGS_FROM="origin/main", ISOLATED="true", STRICT="true", MAX_SECONDS="7",
        MAX_MEMORY="9", AGAINST="$(touch pwned)",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (3, "")
    dpcompose = ["-I", "-m", "dpcompose"]
    failing = "--fail-on=increase,new-assumption,budget-raised,population-changed"
    assert done.stdout.splitlines() == [
        *dpcompose, "check", "--format", "github", *policy,
        "--output", f"markdown={temp / 'dpcompose.md'}", "--epsilon", "1", *files,
        *dpcompose, "diff", "--against=$(touch pwned)", failing, *policy,
        "--format", "markdown", "--output", f"{temp / 'dpcompose-diff.md'}", *files,
        "dpcompose: failed with exit code 3; annotations and summary say why",
    ]  # fmt: skip
    assert not (root / "pwned").exists()


@pytest.mark.slow
def test_noise_and_sensitivity_that_shrink_together_fail(root: Path, temp: Path) -> None:
    """The bound stays, and what is said of the data does not."""
    text = spec().replace("notion: pure, epsilon: 1", "mechanism: laplace, NOISE")
    path = root / "specs" / "a.yaml"
    path.write_text(text.replace("NOISE", "scale: 100, sensitivity: 100"))
    commit()
    path.write_text(text.replace("NOISE", "scale: 1, sensitivity: 1"))
    stand_in(temp, f'exec {sys.executable} "$@"')
    quiet = {"MAX_SECONDS": "", "MAX_MEMORY": "", "FILES": "specs", "AGAINST": "HEAD"}
    done = step(1, root, temp, **quiet)
    assert done.returncode == 1 and "new-assumption" in done.stdout
    assert step(1, root, temp, FAIL_ON="increase", **quiet).returncode == 0


def test_the_documented_workflow_names_all_that_a_comparison_can_fail_on() -> None:
    text = (TOP / "dpcompose" / "policy" / "IN_CI.md").read_text(encoding="utf-8")
    [workflow] = [
        part for part in re.findall(r"```yml\n(.*?)```", text, re.DOTALL) if "jobs:" in part
    ]
    taken = yaml.safe_load(workflow)
    [job] = taken["jobs"].values()
    named = job["steps"][-1]["with"]["fail-on"].split(",")
    assert tuple(named) == EVENTS and job["timeout-minutes"] <= 30
    triggers = taken[True]  # `on` is a switch in YAML 1.1
    assert set(triggers["pull_request"]["types"]) == {
        "opened", "synchronize", "reopened", "edited"
    }  # fmt: skip
    assert "merge_group" in triggers


def test_limits_have_defaults(root: Path, temp: Path) -> None:
    stand_in(temp, 'echo "$@"')
    done = step(1, root, temp)
    assert "--max-seconds=10 --max-memory=500" in done.stdout
    assert done.stdout.splitlines()[-1] == "dpcompose: passed"
