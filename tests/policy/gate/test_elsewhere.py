"""GitLab, a container and the package index: what is run exists, and takes inputs as they are."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import yaml

from dpcompose.planning.comparison import EVENTS

from .attacks import Done, commit, git, needs_git, spec

TOP = Path(__file__).parents[3]
INPUTS, JOBS = yaml.safe_load_all((TOP / ".ci" / "gitlab.yml").read_text(encoding="utf-8"))
[JOB] = JOBS.values()
CONTAINER = (TOP / ".ci" / "Containerfile").read_text(encoding="utf-8")
IN_CI = (TOP / "dpcompose" / "policy" / "IN_CI.md").read_text(encoding="utf-8")

needs_shell = pytest.mark.skipif(shutil.which("sh") is None, reason="needs sh")


def run(folder: Path, temp: Path, program: str, **more: str) -> Done:
    """Run the job as GitLab does, with the default inputs; `program` stands in for Python."""
    temp.mkdir(exist_ok=True)
    python = temp / "python3"
    # It makes an environment of itself, and installs nothing.
    python.write_text(
        "#!/bin/sh\n"
        'if [ "$3" = venv ]; then mkdir -p venv/bin && cp "$0" venv/bin/python; exit; fi\n'
        f'if [ "$3" = pip ]; then echo "$PWD $*" >> {temp}/installed; exit; fi\n{program}\n'
    )
    python.chmod(0o755)
    known = INPUTS["spec"]["inputs"]
    environment = {"PATH": f"{temp}:{os.environ['PATH']}", "TMPDIR": str(temp), "HOME": str(temp)}
    for name, value in JOB["variables"].items():
        key = re.fullmatch(r"\$\[\[ inputs\.([\w-]+) \]\]", value)
        environment[name] = str(known[key[1]].get("default", "dpcompose==0.1.0")) if key else value
    [script] = JOB["script"]
    return subprocess.run(
        ["sh", "-c", script], env=environment | more, cwd=folder, capture_output=True, text=True,
        timeout=600, check=False,
    )  # fmt: skip


def test_every_input_is_used_and_none_is_put_into_the_script() -> None:
    text = json.dumps(JOBS)
    assert set(re.findall(r"\$\[\[ inputs\.([\w-]+) \]\]", text)) == set(INPUTS["spec"]["inputs"])
    assert "$[[" not in "".join(JOB["script"])
    assert tuple(INPUTS["spec"]["inputs"]["fail-on"]["default"].split(",")) == EVENTS
    # A limit, and the whole history for the revision to compare with.
    assert JOB["timeout"].endswith("minutes") and JOB["variables"]["GIT_DEPTH"] == "0"


@needs_shell
def test_inputs_are_handed_over_as_they_are(tmp_path: Path) -> None:
    folder, temp = tmp_path / "work", tmp_path / "temp"
    folder.mkdir()
    hostile = {"BUDGETS_FILES": "$(touch pwned) *.yaml", "BUDGETS_PACKAGE": "--x; touch pwned"}
    done = run(folder, temp, 'for each; do printf "%s\\n" "$each"; done\nexit 3', **hostile)
    assert (done.returncode, done.stderr) == (3, "")
    assert done.stdout.splitlines() == [
        "-I", "-m", "dpcompose", "check", "--strict", "--max-seconds=10", "--max-memory=500",
        "--output", "junit=dpcompose.xml", "--", "$(touch pwned) *.yaml",
    ]  # fmt: skip
    package, dependencies = (temp / "installed").read_text().splitlines()
    assert package.endswith(" --no-deps --only-binary :all: -- --x; touch pwned")
    assert dependencies.endswith(
        " --require-hashes -r venv/lib/python3*/site-packages/dpcompose/requirements.txt"
    )
    assert not package.startswith(str(folder)) and not dependencies.startswith(str(folder))
    assert not list(folder.iterdir())


def forked(root: Path, tmp_path: Path, **files: str) -> dict[str, str]:
    """Makes the repository the clone of a fork, and returns what GitLab tells a job of it.

    `files`: what the specs of the target project are; the fork has that as its `main`, too.
    """
    for name, text in files.items():
        (root / "specs" / f"{name}.yaml").write_text(text)
    git("add", "-A")
    git("commit", "-q", "--no-verify", "--allow-empty", "-m", "Base")
    for name in ("target", "fork"):
        git("clone", "-q", "--bare", ".", str(tmp_path / name))
        git("branch", "-f", "main", folder=tmp_path / name)
    git("remote", "add", "origin", str(tmp_path / "fork"))
    git("checkout", "-q", "-b", "change")
    return {
        "CI_MERGE_REQUEST_PROJECT_URL": str(tmp_path / "target"),
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
        "BUDGETS_FILES": "specs",
        "PYTHONPATH": str(root),
    }


REAL = f'exec {sys.executable} "$@"'


@pytest.mark.slow
@needs_git
@needs_shell
def test_a_merge_request_is_checked_with_the_policy_of_its_target(
    root: Path, tmp_path: Path
) -> None:
    """A bound that grows fails, and so does what the target's settings forbid."""
    temp = tmp_path / "temp"
    (root / "dpcompose.toml").write_text("max-budget = {epsilon = 1.5}\n")
    more = forked(root, tmp_path, a=spec(1))
    (root / "dpcompose.py").write_text("raise SystemExit('the merge request was run')")
    done = run(root, temp, REAL, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "<testsuite" in (root / "dpcompose.xml").read_text()
    (root / "specs" / "a.yaml").write_text(spec(1.2))
    (root / "dpcompose.toml").write_text("")
    done = run(root, temp, REAL, **more)
    assert done.returncode == 1 and "Fails by --fail-on" in done.stdout, done.stdout + done.stderr
    (root / "specs" / "a.yaml").write_text(spec(1.6))
    done = run(root, temp, REAL, **more, BUDGETS_FAIL_ON="removed-spec")
    assert done.returncode == 1 and "DPC31" in done.stdout, done.stdout + done.stderr


@pytest.mark.slow
@needs_git
@needs_shell
def test_a_fork_is_compared_with_the_target_project_whatever_its_own_branches_are(
    root: Path, tmp_path: Path
) -> None:
    temp = tmp_path / "temp"
    more = forked(root, tmp_path, a=spec(1))
    (root / "specs" / "a.yaml").write_text(spec(50, budget=60))
    commit()
    # The fork has the change as its own `main`, and calls a branch and a tag as the base is called.
    git("push", "-q", "--force", "origin", "HEAD:main")
    git("fetch", "-q", "origin")
    git("update-ref", "refs/remotes/target/main", "HEAD")
    git("tag", "target/main")
    done = run(root, temp, REAL, **more)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "increase\nbudget-raised\n" in done.stdout


@pytest.mark.slow
@needs_git
@needs_shell
def test_what_the_target_did_since_is_no_part_of_a_change(root: Path, tmp_path: Path) -> None:
    """A branch that is behind has neither raised nor removed anything; the settings are the new
    ones."""
    temp = tmp_path / "temp"
    more = forked(root, tmp_path, a=spec(1), b=spec(1))
    more["BUDGETS_FAIL_ON"] = "increase,removed-spec"
    (root / "specs" / "b.yaml").write_text(spec(0.5))
    commit()
    git("checkout", "-q", "-b", "since", "change~1")
    (root / "specs" / "a.yaml").write_text(spec(0.1))
    (root / "specs" / "c.yaml").write_text(spec(1))
    commit()
    git("push", "-q", str(tmp_path / "target"), "HEAD:main")
    git("checkout", "-q", "change")
    done = run(root, temp, REAL, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    git("checkout", "-q", "since")
    (root / "dpcompose.toml").write_text("max-budget = {epsilon = 0.3}\n")
    commit()
    git("push", "-q", str(tmp_path / "target"), "HEAD:main")
    git("checkout", "-q", "change")
    done = run(root, temp, REAL, **more)
    assert done.returncode == 1 and "increase" not in done.stdout


@needs_git
@needs_shell
@pytest.mark.parametrize("why", ["no address", "no project", "another history"])
def test_a_merge_request_without_a_base_is_a_failure(root: Path, tmp_path: Path, why: str) -> None:
    more = forked(root, tmp_path, a=spec(1))
    match why:
        case "no address":
            del more["CI_MERGE_REQUEST_PROJECT_URL"]
        case "no project":
            more["CI_MERGE_REQUEST_PROJECT_URL"] += "-that-is-gone"
        case _:
            git("checkout", "-q", "--orphan", "unrelated")
            commit()
    done = run(root, tmp_path / "temp", "echo started", **more)
    assert done.returncode != 0 and "started" not in done.stdout and done.stderr


def instructions() -> list[tuple[str, str]]:
    text = re.sub(r"\\\n", " ", re.sub(r"(?m)^#.*\n", "", CONTAINER))
    return [(each.split()[0], each.split(None, 1)[1]) for each in text.splitlines() if each]


def test_the_container_has_all_that_a_wheel_is_built_from() -> None:
    said = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = said["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {"pyproject.toml", "README.md", *said["project"]["license-files"]}
    needed |= {*wheel["packages"], *wheel["force-include"]}
    needed |= {said["tool"]["hatch"]["metadata"]["hooks"]["custom"]["path"], *PINS}
    copied = {path for name, rest in instructions() if name == "COPY" for path in rest.split()[:-1]}
    assert copied == needed and all((TOP / path).exists() for path in copied)


def test_the_container_installs_nothing_without_a_hash() -> None:
    calls = re.findall(r"pip (?:install|download|wheel)[^&]*", CONTAINER)
    assert len(calls) == 4
    for each in calls:
        assert "--require-hashes" in each or "--no-index" in each


#: What pins versions, and the path in pyproject.toml of what it pins.
PINS = {
    ".ci/requirements.txt": ("project", "dependencies"),
    ".ci/build-requirements.txt": ("build-system", "requires"),
}


@pytest.mark.parametrize("path", PINS)
def test_dependencies_in_ci_are_pinned_by_hash(path: str) -> None:
    """For each that pyproject.toml names, and in versions that it allows."""
    text = (TOP / path).read_text(encoding="utf-8")
    options, *lines = re.sub(r" \\\n +", " ", text).splitlines()
    assert options == "--only-binary :all:" and "://" not in text
    pinned: dict[str, set[str]] = {}
    for each in filter(None, lines):
        found = re.fullmatch(
            r"([a-z0-9-]+)==([\w.]+)( ; [^-]+)?((?: --hash=sha256:[0-9a-f]{64})+)", each
        )
        assert found, each
        pinned.setdefault(found[1], set()).add(found[2])
    table, key = PINS[path]
    said = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))
    for each in said[table][key]:
        allowed = re.match(r"([\w-]+)>=([\d.]+),<([\d.]+)", each)
        assert allowed
        for version in pinned[allowed[1].lower()]:
            assert numbers(allowed[2]) <= numbers(version) < numbers(allowed[3])


def numbers(version: str) -> list[int]:
    return [int(each) for each in version.split(".")]


def test_what_the_container_runs_is_dpcompose() -> None:
    said = dict(instructions())
    entry, default = json.loads(said["ENTRYPOINT"]), json.loads(said["CMD"])
    assert entry[0] == "python" and said["USER"] != "root"
    done = subprocess.run(
        [sys.executable, *entry[1:], *default], capture_output=True, text=True, check=True
    )
    assert "dpcompose" in done.stdout
    # Both stages are of one image that the caller can pin, and none is the latest of its name.
    sources = [rest for name, rest in instructions() if name == "FROM"]
    assert {each.split()[0] for each in sources} == {"${PYTHON}"}
    assert re.fullmatch(r"PYTHON=\S+:\d\.\d+-slim", said["ARG"])


def test_the_documents_pin_every_way_and_name_files_that_are_there() -> None:
    for path in (".ci/gitlab.yml", ".ci/Containerfile", ".pre-commit-hooks.yaml"):
        assert f"`{path}`" in IN_CI and (TOP / path).is_file()
    blocks = [yaml.safe_load(each) for each in re.findall(r"```yml\n(include:.*?)```", IN_CI, re.S)]
    [[include]] = [each["include"] for each in blocks]
    assert include["file"] == "/.ci/gitlab.yml" and include["ref"] == "REVISION"
    assert set(include["inputs"]) <= set(INPUTS["spec"]["inputs"])


def test_the_readme_of_the_index_has_no_link_that_leads_nowhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By the hook that a build calls, whose library is not installed here."""
    interface = ModuleType("interface")
    vars(interface)["MetadataHookInterface"] = SimpleNamespace
    monkeypatch.setitem(sys.modules, "hatchling.metadata.plugin.interface", interface)
    hook = runpy.run_path(str(TOP / ".ci" / "readme.py"))["CustomMetadataHook"](root=str(TOP))
    metadata: dict[str, Any] = {}
    hook.update(metadata)
    readme = metadata["readme"]
    assert readme["content-type"] == "text/markdown"
    assert not re.search(r"\]\((?!https?:|#)", readme["text"])
    paths = re.findall(r"\(`((?:dpcompose|specs)/[^`]+)`\)", readme["text"])
    assert len(paths) > 5 and all((TOP / path).exists() for path in paths)
