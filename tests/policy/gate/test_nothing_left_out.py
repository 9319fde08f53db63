"""Every spec has a result, and what has none is counted, or a failure."""

from __future__ import annotations

import json
import os
import shutil
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from contracts import checked

from dpcompose.render.json.result_schema import result_schema
from dpcompose.source import is_spec

from .attacks import called, commit, directions, git, needs_git, since, spec

pytestmark = pytest.mark.slow

SARIF = json.loads(
    (Path(__file__).parents[2] / "schemas" / "sarif-2.1.0-reduced.json").read_text("utf-8")
)
LATER = spec().partition("\n")[2]


@pytest.mark.parametrize(
    "text",
    [
        spec(),
        "﻿" + spec(),
        f'"dpcompose": 1\n{LATER}',
        f"'dpcompose' : 1\n{LATER}",
        f'"\\x64pcompose": 1\n{LATER}',
        f'"dpcom\\u0070ose": 1\n{LATER}',
        f'"dpcompos\\U00000065": 1\n{LATER}',
        f'? "dpcom\\\n  pose"\n: 1\n{LATER}',
        f"? dpcompose\n: 1\n{LATER}",
        f"? >-\n  dpcompose\n: 1\n{LATER}",
        f"!!str dpcompose: 1\n{LATER}",
        f"&key dpcompose: 1\n{LATER}",
        f"title: &key dpcompose\n*key : 1\n{LATER}",
        "{title: x, 'dpcompose': 1}",
        '{title: x, "\\x64pcompose": 1}',
        "--- {dpcompose: 1}",
        f"  dpcompose: 1\n  {LATER}",
        f"%YAML 1.2\n---\ndpcompose: 1\n{LATER}",
        f"a: [\n---\n{spec()}",
        f"a: 1\n--- # other\n...\n# more\n---\n{spec()}",
        f'a: [\n---\n"\\x64pcompose": 1\n{LATER}',
        f'{LATER}broken: [\n"\\x64pcompose": 1\n',
        f"{LATER}broken: [\n? dpcompose\n: 1\n",
        f"broken: ]\n&x dpcompose: 1\n{LATER}",
        spec().replace("\n", "\r"),
        spec().replace("\n", "\r\n"),
        "title: x\x85dpcompose: 1",
    ],
)
def test_a_file_is_a_spec_when_its_top_has_the_key(text: str) -> None:
    assert is_spec(text.encode())


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
def test_other_encodings_hide_no_key(encoding: str) -> None:
    assert is_spec(spec().encode(encoding))
    assert not is_spec("title: x\n".encode(encoding))


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\n",
        "",
        "# dpcompose: 1\n",
        "a: {dpcompose: 1}\n",
        "services:\n  dpcompose:\n    image: x\n",
        "- dpcompose: 1\n",
        "a: dpcompose\n",
        "dpcompose\n",
        "dpcomposer: 1\n",
        'a: "\\x64pcompose"\n',
        "text: |\n  dpcompose: 1\n",
        "{{ helm }}:\n  dpcompose: 1\n  a: [\n",
    ],
)
def test_other_files_are_none(text: str) -> None:
    assert not is_spec(text.encode())


def test_bytes_that_are_no_text_hide_no_key() -> None:
    assert is_spec(b"\xff: 1\n" + spec().encode())
    assert is_spec(b'title: \xe9\n"\\x64pcompose": 1\n')


def test_a_spec_behind_more_than_can_be_read_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpcompose.source.detection.MAX_BYTES", 1000)
    assert is_spec(b"# " + b"x" * 2000 + b"\n{dpcompose: 1}")


@needs_git
@pytest.mark.parametrize("name", ["x.yaml", "x.yml", "x.YAML", "x.Yml", "x.dp.yAmL"])
def test_every_spelling_of_the_ending_is_found(root: Path, name: str) -> None:
    Path("specs", name).write_text(spec(3))
    done = called("check", "specs", "--format", "jsonl")
    files = [json.loads(line)["file"] for line in done.stdout.splitlines()]
    assert sorted(files) == sorted(["specs/a.yaml", "specs/b.yaml", f"specs/{name}"])
    assert done.returncode == 1
    assert directions(since("base", "."))[f"specs/{name}"] == "increased"


# --- counted -------------------------------------------------------------------------------------

SAYS = "1 other YAML file skipped; 1 dangling link; 1 link to folders elsewhere"


@pytest.fixture
def hidden(root: Path) -> Path:
    """Beside two specs: a file that is none, a link to nothing, and one to a hidden folder."""
    shutil.copytree("specs", ".hidden")
    Path("specs/values.yaml").write_text("a: 1\n")
    Path("specs/gone.YAML").symlink_to("nowhere")
    Path("specs/folder").symlink_to("../.hidden")
    return root


def counted(form: str, output: str) -> bool:
    match form:
        case "json":
            if "changes" not in json.loads(output):
                checked("result", output)
            counts = json.loads(output)["left_out"]
        case "jsonl":
            jsonschema.validate(json.loads(output.splitlines()[-1]), result_schema())
            counts = json.loads(output.splitlines()[-1])["left_out"]
        case "sarif":
            jsonschema.Draft202012Validator(SARIF).validate(json.loads(output))
            (told,) = json.loads(output)["runs"][0]["invocations"]
            return SAYS in told["toolExecutionNotifications"][0]["message"]["text"]
        case "github":
            return f"title=dpcompose DPC306::{SAYS}: specs/folder" in output
        case "junit":
            (case,) = ElementTree.fromstring(output).iterfind(
                "testsuite[@name='nothing left out']/testcase"
            )
            return SAYS in (case[0].get("message") or "")
        case _:
            return SAYS in output
    names = ["specs/folder", "specs/gone.YAML", "specs/values.yaml"]
    return bool(counts == {"unread": 0, "skipped": 1, "dangling": 1, "folders": 1, "names": names})


@needs_git
@pytest.mark.parametrize(
    "form", ["text", "concise", "csv", "json", "jsonl", "sarif", "github", "junit", "markdown"]
)
def test_what_is_left_out_is_counted_in_every_format(hidden: Path, form: str) -> None:
    for command in ("analyze", "check"):
        done = called(command, "specs", "--format", form)
        assert done.returncode == 0 and SAYS in done.stderr
        assert counted(form, done.stdout or done.stderr) or form in ("text", "concise", "csv")
        strict = called(command, "specs", "--format", form, "--strict")
        assert strict.returncode == 2 and SAYS in strict.stderr
        assert called(command, "specs", "--strict", "--exit-zero").returncode == 2
        assert called(command, "specs/a.yaml", "specs/b.yaml", "--strict").returncode == 0
        called(command, "specs", "-o", f"{form}=out")
        assert form in ("text", "concise", "csv") or counted(form, Path("out").read_text())


@needs_git
@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_what_a_comparison_leaves_out_is_counted(hidden: Path, form: str) -> None:
    for flags, code in (([], 0), (["--strict"], 2)):
        done = called("diff", "--against=base", "specs", "--format", form, *flags)
        assert (done.returncode, SAYS in done.stderr) == (code, True)
        assert form == "text" or counted(form, done.stdout)


@needs_git
def test_a_sum_with_less_than_all_fails_where_that_is_asked(hidden: Path) -> None:
    planned = ("--fixed", "planned together in one protocol")
    assert called("total", "--all", "specs", *planned).returncode == 0
    done = called("total", "--all", "specs", "--strict", *planned)
    assert done.returncode == 2 and SAYS in done.stderr and done.stdout == ""


@needs_git
def test_a_link_to_a_folder_that_is_looked_into_hides_nothing(root: Path) -> None:
    Path("specs/loop").symlink_to(".")
    Path("again").symlink_to("specs")
    assert called("check", ".", "--strict").returncode == 0


@needs_git
@pytest.mark.parametrize("folder", [".x", "node_modules", "a/.b/c"])
def test_a_spec_in_a_folder_that_is_not_looked_into_is_counted(root: Path, folder: str) -> None:
    Path("specs", folder).mkdir(parents=True)
    Path("specs", folder, "h.yaml").write_text(spec(9))
    Path("specs", folder, "other.yaml").write_text("a: 1\n")
    done = called("check", "specs", "--format", "json")
    assert done.returncode == 0 and "1 hidden spec not analysed" in done.stderr
    counts = checked("result", done.stdout)["left_out"]
    assert counts["hidden"] == 1 and counts["names"] == [f"specs/{folder}/h.yaml"]
    assert called("check", "specs", "--strict").returncode == 2


@needs_git
def test_a_folder_of_python_hides_nothing(root: Path) -> None:
    Path("specs/__pycache__").mkdir()
    Path("specs/__pycache__/a.yaml").write_text(spec(9))
    assert called("check", "specs").returncode == 1
    assert directions(since("base", "specs"))["specs/__pycache__/a.yaml"] == "increased"


@needs_git
def test_a_submodule_that_is_not_there_is_counted(root: Path) -> None:
    Path("specs/sub").mkdir()
    assert called("check", "specs", "--strict").returncode == 0
    Path(".gitmodules").write_text('[submodule "x"]\npath = specs/sub\nurl = ../x\n')
    done = called("check", "specs", "--strict", "--format", "json")
    assert done.returncode == 2 and "1 submodule or other folder without files" in done.stderr
    assert checked("result", done.stdout)["left_out"]["absent"] == 1


@needs_git
@pytest.mark.parametrize("command", [("check",), ("analyze",), ("diff", "--against", "base")])
def test_a_link_to_another_repository_is_counted_without_its_gitmodules(
    root: Path, command: tuple[str, ...]
) -> None:
    Path("specs/sub").mkdir()
    Path("specs/empty").mkdir()
    git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},specs/sub")
    done = called(*command, "specs", "--strict")
    assert done.returncode == 2
    told = done.stderr + done.stdout
    assert "1 submodule or other folder without files" in " ".join(told.split())
    git("update-index", "--force-remove", "specs/sub")
    assert called(*command, "specs", "--strict").returncode == 0


def test_nested_folders_are_looked_at_once_each(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def counting(real: Callable[..., Any], *given: Any, **named: Any) -> Any:
        calls.append(1)
        return real(*given, **named)

    for name in ("lstat", "stat", "open"):
        monkeypatch.setattr(os, name, partial(counting, getattr(os, name)))
    counts = []
    for depth in (40, 80):
        folder = Path(f"deep{depth}", *"a" * depth)
        folder.mkdir(parents=True)
        for each in (folder, *folder.parents[:depth]):
            (each / "s.yaml").write_text(spec())
        calls.clear()
        assert called("check", f"deep{depth}", "--jobs", "1").returncode == 0
        counts.append(len(calls))
    assert counts[1] < 2.2 * counts[0]


# --- changed since -------------------------------------------------------------------------------


@needs_git
def test_only_changed_specs_are_looked_at(root: Path) -> None:
    Path("specs/a.yaml").write_text(spec(1.5))
    Path("specs/new.yaml").write_text(spec())
    done = called("check", "specs", "--changed-since", "base", "--format", "jsonl")
    files = [json.loads(line)["file"] for line in done.stdout.splitlines()]
    assert (files, done.returncode) == (["specs/a.yaml", "specs/new.yaml"], 0)
    done = called("analyze", ".", "--changed-since", "base")
    assert done.stderr == "1 file unchanged\n"
    git("stash", "-qu")
    done = called("check", "specs", "--changed-since", "base")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "2 files unchanged\n"


@needs_git
def test_a_failure_of_git_is_a_failure(root: Path) -> None:
    """`git diff … | dpcompose check --files-from -` passed where git failed."""
    for revision, says in (
        ("nothing", "git knows no such revision"), ("", "the revision is empty"),
        ("-x", "does not start with a hyphen"), ("base:specs", "git knows no such revision"),
    ):  # fmt: skip
        done = called("check", "specs", f"--changed-since={revision}")
        assert done.returncode == 2 and f"--changed-since {revision}".strip() in done.stderr
        assert says in done.stderr and done.stdout == ""
    Path("empty").mkdir()
    for arguments in (["check", "--changed-since=no"], ["diff", "--against=no"]):
        done = called(*arguments, "empty", "--allow-empty")
        assert done.returncode == 2 and "git knows no such revision" in done.stderr
    shutil.rmtree(".git")
    done = called("check", "specs", "--changed-since=base")
    assert done.returncode == 2 and "in no git repository" in done.stderr


@needs_git
def test_links_and_modes_do_not_make_a_changed_spec_the_old_one(root: Path) -> None:
    Path("specs/c.yaml").write_text(spec(1.5))
    Path("specs/link.yaml").symlink_to("a.yaml")
    commit()
    Path("specs/link.yaml").unlink()
    Path("specs/link.yaml").symlink_to("c.yaml")
    git("update-index", "--assume-unchanged", "specs/b.yaml")
    Path("specs/b.yaml").write_text(spec(3))
    times = os.stat("specs/a.yaml")
    Path("specs/b.yaml").touch()
    os.utime("specs/b.yaml", (times.st_atime, times.st_mtime))
    names = ("specs/b.yaml", "specs/link.yaml")
    done = called("check", *names, "--changed-since=HEAD", "--format=jsonl")
    files = [json.loads(line)["file"] for line in done.stdout.splitlines()]
    assert files == list(names) and done.returncode == 1
    assert directions(since("HEAD", "specs"))["specs/b.yaml"] == "increased"
