"""Names of files are names of files, and an output is written where it is said to be."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest
import yaml

from .attacks import Done, call, called, commit, needs_git, spec

TOP = Path(__file__).parents[3]
HOOKS = {
    each["id"]: each
    for each in yaml.safe_load((TOP / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
}

pytestmark = [needs_git, pytest.mark.slow]


def hooked(identifier: str, *names: str) -> Done:
    """A hook run as pre-commit does, on those of the names that it is for."""
    hook = HOOKS[identifier]
    _, *entry = shlex.split(hook["entry"])
    meant = [name for name in names if re.search(hook["files"], name)]
    return call(*entry, *meant)


@pytest.mark.parametrize("identifier", HOOKS)
def test_a_file_that_looks_like_an_option_is_a_file(root: Path, identifier: str) -> None:
    hidden = "--output=json=x.dp.yaml"
    Path(hidden).write_text(spec("-1"))
    Path("-o=y.dp.yaml").write_text(spec(1))
    done = hooked(identifier, hidden, "-o=y.dp.yaml")
    assert done.returncode == 3
    assert hidden in done.stdout + done.stderr
    assert not Path("x.dp.yaml").exists() and not Path("y.dp.yaml").exists()


def test_hooks_are_for_links_every_spelling_and_settings() -> None:
    for hook in HOOKS.values():
        # The default of `types` leaves links out.
        assert hook["types"] == [] and set(hook["types_or"]) == {"file", "symlink"}
        names = ("a.dp.yaml", "a.dp.yml", "a.DP.YAML", "x/a.dp.Yml", "dpcompose.toml")
        for name in (*names, "a/pyproject.toml"):
            assert re.search(hook["files"], name), name
        for name in ("a.yaml", "a.dp.yaml.orig", "my-dpcompose.toml", "dpcompose.toml.orig"):
            assert not re.search(hook["files"], name), name


@pytest.mark.parametrize("settings", ["dpcompose.toml", "specs/pyproject.toml"])
def test_changed_settings_are_held_against_the_specs_that_they_are_about(
    root: Path, settings: str
) -> None:
    table = "" if settings == "dpcompose.toml" else "[tool.dpcompose]\n"
    Path(settings).write_text(f'{table}require-relation = "user"\n')
    done = hooked("dpcompose-check", settings)
    assert done.returncode == 1 and "specs/a.yaml" in done.stdout and "DPC310" in done.stdout
    Path("none").mkdir()
    Path("none/pyproject.toml").write_text("[project]\n")
    assert hooked("dpcompose-check", "none/pyproject.toml").returncode == 0


# --- outputs -------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["", "json=", "sarif="])
@pytest.mark.parametrize("target", ["../victim", "victim", "nowhere", "../no/such/folder/x"])
def test_nothing_is_written_through_a_link(root: Path, form: str, target: str) -> None:
    for victim in (root.parent / "victim", root / "victim"):
        victim.write_text("mine")
    Path("out").symlink_to(target)
    done = called("check", "specs", "-o", f"{form}out")
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot write out: " in done.stderr and "is a symbolic link" in done.stderr
    assert Path("out").is_symlink()
    for victim in (root.parent / "victim", root / "victim"):
        assert victim.read_text() == "mine"
    assert not Path("nowhere").exists()


def test_no_folder_on_the_way_is_a_link_of_the_pull_request(root: Path) -> None:
    (root.parent / "elsewhere").mkdir()
    Path("reports").symlink_to("../elsewhere")
    Path("deep").mkdir()
    Path("deep/reports").symlink_to("../specs")
    assert called("check", "specs", "-o", "reports/../plain").returncode == 0
    assert Path("plain").exists() and not (root.parent / "plain").exists()
    for name in ("reports/x.json", str(root / "reports/x.json"), "deep/reports/x.json"):
        done = called("check", "specs", "-o", f"json={name}")
        assert done.returncode == 2 and "is a symbolic link" in done.stderr, name
    for arguments in (
        ["diff", "--against=base", "specs", "--format=markdown"], ["total", "--all", "specs"],
        ["fit", "specs/a.yaml"], ["savings", "specs/a.yaml"],
    ):  # fmt: skip
        done = called(*arguments, "-o", "reports/x")
        assert done.returncode == 2 and "is a symbolic link" in done.stderr, arguments
    assert called("init", "reports/x.yaml").returncode == 2
    assert os.listdir(root.parent / "elsewhere") == []


def test_links_above_the_repository_are_nobodys_business(root: Path) -> None:
    (root.parent / "way").symlink_to(root.parent)
    Path("way").mkdir()
    name = str(root.parent / "way" / "repository" / "way" / "x")
    assert called("check", "specs", "-o", name).returncode == 0
    assert Path("way/x").read_text()
    (root.parent / "temp").mkdir()
    (root.parent / "link").symlink_to("temp")
    assert called("check", "specs", "-o", str(root.parent / "link" / "x")).returncode == 0
    (root.parent / "victim").symlink_to("temp/x")
    done = called("check", "specs", "-o", str(root.parent / "victim"))
    assert done.returncode == 2 and "is a symbolic link" in done.stderr


def test_a_further_name_of_a_file_keeps_what_it_holds(root: Path) -> None:
    Path("mine").write_text("mine")
    os.link("mine", "out")
    assert called("check", "specs", "-o", "out").returncode == 0
    assert Path("mine").read_text() == "mine"


def test_files_with_odd_names_are_compared_as_what_they_are(root: Path) -> None:
    names = [
        "a\nb.yaml", "--output=x.yaml", "-q", "'q\".yaml", "\x1b[31m.yaml", ":(top).yaml", "é.yaml",
    ]  # fmt: skip
    for name in names:
        Path(name).write_text(spec())
    commit()
    for name in names:
        Path(name).write_text(spec(2))
    done = call("diff", "--against=HEAD", "--fail-on-increase", "--", *names)
    assert done.returncode == 1 and done.stdout.count("▲ ") == len(names)
    assert "\x1b" not in done.stdout
    assert sorted(os.listdir()) == sorted([*names, "specs", ".git"])
