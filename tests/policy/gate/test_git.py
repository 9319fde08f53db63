"""`diff --against` believes no configuration that a pull request brings, and runs nothing of it."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tables import tables

from dpcompose.commands.repository.revision import Past

from .attacks import call, called, commit, directions, git, needs_git, since, spec

TABLES = tables(__file__)

pytestmark = [needs_git, pytest.mark.slow]

GREW = {"specs/a.yaml": "increased", "specs/b.yaml": "same"}


def canary(root: Path, name: str = "ran") -> tuple[str, Path]:
    """A command that leaves a trace, and the trace."""
    trace = root.parent / name
    program = root.parent / f"{name}.sh"
    program.write_text(f"#!/bin/sh\ntouch {trace}\ncat\n")
    program.chmod(0o755)
    return str(program), trace


def grow(root: Path) -> None:
    (root / "specs" / "a.yaml").write_text(spec(2))


def evil_bare(root: Path, folder: Path, command: str) -> None:
    """A bare repository as ordinary files in a folder, in which the specs are as they are now."""
    made = root.parent / "evil"
    made.mkdir()
    git("init", "-q", "-b", "main", folder=made)
    (made / "a.yaml").write_text(spec(2))
    (made / "b.yaml").write_text(spec())
    commit(folder=made)
    git("tag", "base", folder=made)
    git("update-ref", "refs/remotes/origin/main", "HEAD", folder=made)
    for name in ("HEAD", "objects", "refs", "index"):
        source = made / ".git" / name
        if source.is_dir():
            shutil.copytree(source, folder / name)
        else:
            shutil.copy(source, folder / name)
    (folder / "config").write_text(
        f"[core]\nrepositoryformatversion = 1\nbare = false\nworktree = {folder}\n"
        f"fsmonitor = {command}\nsshCommand = {command}\npager = {command}\n"
        f'[diff]\nexternal = {command}\n[filter "x"]\nclean = {command}\nsmudge = {command}\n'
        f'[diff "x"]\ntextconv = {command}\ncommand = {command}\n[extensions]\n'
        f'partialClone = evil\n[remote "evil"]\nurl = ext::{command}\npromisor = true\n'
        "[protocol]\nallow = always\n"
    )
    (folder / ".gitattributes").write_text("*.yaml filter=x diff=x\n")


@pytest.mark.parametrize("working", [".", "specs"])
def test_a_bare_repository_among_the_files_is_no_repository(
    root: Path, monkeypatch: pytest.MonkeyPatch, working: str
) -> None:
    command, trace = canary(root)
    evil_bare(root, root / "specs", command)
    grow(root)
    commit()
    monkeypatch.chdir(root / working)
    prefix = "" if working == "specs" else "specs/"
    done = since("base", f"{prefix}a.yaml", f"{prefix}b.yaml", run=call)
    assert done.returncode == 1, done.stderr
    assert directions(done) == {f"{prefix}a.yaml": "increased", f"{prefix}b.yaml": "same"}
    assert not trace.exists()


def test_what_git_is_configured_to_run_is_not_run(root: Path) -> None:
    """As where `include.path` names a file of the work tree: what it says is the attacker's."""
    command, trace = canary(root)
    lines = (
        f"core.fsmonitor {command}", f"core.sshCommand {command}", f"core.pager {command}",
        f"diff.external {command}", f"filter.x.clean {command}", f"filter.x.smudge {command}",
        f"filter.x.process {command}", f"diff.x.textconv {command}", f"diff.x.command {command}",
        f"core.hooksPath {root.parent}", f"credential.helper {command}",
        f"core.alternateRefsCommand {command}", f"uploadpack.packObjectsHook {command}",
        f"gpg.program {command}", "log.showSignature true", "protocol.allow always",
        "pager.ls-tree true", "pager.cat-file true", f"alias.cat-file !{command}",
        f"core.gitProxy {command}", f"core.askPass {command}", f"core.editor {command}",
    )  # fmt: skip
    config = root / "config-of-strangers"
    for line in lines:
        git("config", "-f", str(config), *line.split(" ", 1))
    git("config", "include.path", "../config-of-strangers")
    git("config", "includeIf.gitdir:/.path", "../config-of-strangers")
    (root / ".gitattributes").write_text("*.yaml filter=x diff=x working-tree-encoding=UTF-16\n")
    for hook in ("post-index-change", "fsmonitor-watchman", "reference-transaction"):
        shutil.copy(command, root / ".git" / "hooks" / hook)
    grow(root)
    shutil.move("specs/b.yaml", "specs/c.yaml")
    for arguments in (["specs"], ["."], ["specs/*.yaml"]):
        done = since("base", *arguments)
        assert done.returncode == 1, done.stderr
        assert directions(done)["specs/a.yaml"] == "increased"
    assert called("check", "--changed-since=base", "specs").returncode == 0
    assert not trace.exists()


def test_a_partial_clone_fetches_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command, trace = canary(root)
    git("config", "uploadpack.allowFilter", "true")
    git("clone", "-q", "--no-local", "--filter=blob:none", root.as_uri(), "../clone")
    clone = root.parent / "clone"
    (clone / "specs" / "a.yaml").write_text(spec(2))
    commit(folder=clone)
    for path in (clone / ".git" / "objects" / "pack").glob("*"):
        path.chmod(0o644)
    git("config", "remote.origin.uploadpack", command, folder=clone)
    git("config", "remote.origin.url", f"ext::{command} %S", folder=clone)
    git("config", "protocol.ext.allow", "always", folder=clone)
    blob = git("rev-parse", "base:specs/b.yaml", folder=clone).stdout.strip()
    # Both files of the base are one object: without it the base cannot be read.
    for pack in (clone / ".git" / "objects" / "pack").glob("*.pack"):
        if blob in git("verify-pack", "-v", str(pack.with_suffix(".idx"))).stdout:
            for each in pack.parent.glob(f"{pack.stem}.*"):
                each.unlink()
    monkeypatch.chdir(clone)
    done = since("base", "specs/a.yaml", "specs/b.yaml")
    assert done.returncode == 2 and not trace.exists()
    assert "git has no such object here; a partial clone lacks some" in done.stderr


def test_a_file_of_git_that_names_files_of_the_pull_request_is_refused(root: Path) -> None:
    command, trace = canary(root)
    evil_bare(root, root / "specs", command)
    grow(root)
    inner = root / "specs" / ".git"
    inner.write_text("gitdir: .\n")  # no commit can have it
    done = since("base", "a.yaml", folder=root / "specs")
    assert done.returncode == 2 and not trace.exists() and "unchanged" not in done.stdout
    done = since("base", "specs/a.yaml")
    assert done.returncode == 2 and "is in another repository, specs" in done.stderr
    inner.unlink()
    (root / "kept").mkdir()
    shutil.move(root / ".git", root / "kept" / "git")
    (root / ".git").write_text("gitdir: kept/git\n")
    done = since("base", "specs/a.yaml")
    assert done.returncode == 2 and "stands among the files of" in done.stderr


def test_a_link_called_git_is_followed_out_of_the_files_only(root: Path) -> None:
    grow(root)
    shutil.move(root / ".git", root.parent / "store")
    (root / ".git").symlink_to(root.parent / "store")
    assert directions(since("base", "specs")) == GREW
    (root / ".git").unlink()
    shutil.move(root.parent / "store", root / "specs" / "store")
    (root / ".git").symlink_to("specs/store")
    done = since("base", "specs")
    assert done.returncode == 2 and "stands among the files of" in done.stderr


def test_further_work_trees_and_separate_folders_of_git_are_fine(root: Path) -> None:
    git("worktree", "add", "-q", "../tree")
    tree = root.parent / "tree"
    (tree / "specs" / "a.yaml").write_text(spec(2))
    assert directions(since("base", "specs", folder=tree)) == GREW
    git("init", "-q", "--separate-git-dir", str(root.parent / "apart"))
    grow(root)
    assert directions(since("base", "specs")) == GREW


def test_files_elsewhere_by_configuration_are_refused(root: Path) -> None:
    (root.parent / "other").mkdir()
    git("config", "core.worktree", str(root.parent / "other"))
    done = since("base", "specs/a.yaml")
    assert done.returncode == 2 and "elsewhere" in done.stderr


@pytest.mark.parametrize(
    "variables",
    TABLES["variables of git name no other repository"],
    ids=lambda each: ",".join(each),
)
def test_variables_of_git_name_no_other_repository(root: Path, variables: dict[str, str]) -> None:
    command, trace = canary(root)
    evil_bare(root, root / "specs", command)
    grow(root)
    given = {
        key: value.replace("COMMAND", command).replace("TRACE", str(trace))
        for key, value in variables.items()
    }
    run = call if "GIT_DIR" in variables else called
    done = since("base", "specs/a.yaml", "specs/b.yaml", run=run, **given)
    assert directions(done) == GREW if done.returncode != 2 else "elsewhere" in done.stderr
    assert not trace.exists()


def test_a_submodule_is_another_repository(root: Path) -> None:
    """Its own `origin/main` is what the pull request says it is."""
    library = root.parent / "library"
    library.mkdir()
    git("init", "-q", "-b", "main", folder=library)
    (library / "a.yaml").write_text(spec(2))
    commit(folder=library)
    git("submodule", "--quiet", "add", str(library), "sub")
    git("update-ref", "refs/remotes/origin/main", "base")
    commit()
    assert git("rev-parse", "origin/main", folder=root / "sub").returncode == 0
    for name in ("sub/a.yaml", "sub", "sub/*.yaml"):
        done = since("origin/main", name)
        assert done.returncode == 2 and directions(done) == {}
        assert "sub/a.yaml is in another repository, sub" in done.stderr
    shutil.rmtree("specs")  # and one in the place of specs hides none of them
    git("rm", "-rq", "--cached", "specs")
    git("submodule", "--quiet", "add", str(library), "specs")
    done = since("base", "specs")
    assert done.returncode == 2 and "specs/b.yaml" in done.stderr


def test_replaced_objects_change_no_base(root: Path) -> None:
    base = git("rev-parse", "base").stdout.strip()
    grow(root)
    commit("Grown")
    git("replace", base, "HEAD")
    blobs = [git("rev-parse", f"{each}:specs/a.yaml").stdout.strip() for each in (base, "HEAD")]
    git("replace", *blobs)
    assert directions(since(base, "specs")) == GREW
    assert directions(since("base", "specs")) == GREW


def test_names_of_several_things_are_told_apart(root: Path) -> None:
    git("update-ref", "refs/remotes/origin/main", "base")
    grow(root)
    commit()
    git("tag", "origin/main")
    done = since("origin/main", "specs")
    assert done.returncode == 2 and "git knows several of this name" in done.stderr
    assert directions(since("refs/remotes/origin/main", "specs")) == GREW


def test_programs_of_the_work_tree_are_no_git(root: Path) -> None:
    command, trace = canary(root)
    for folder in (root, root / "bin"):
        folder.mkdir(exist_ok=True)
        shutil.copy(command, folder / "git")
    grow(root)
    path = os.pathsep.join([".", "bin", str(root / "bin"), os.environ["PATH"]])
    assert directions(since("base", "specs", run=call, PATH=path)) == GREW
    assert not trace.exists()


def test_files_outside_of_the_repository_are_in_no_revision(root: Path) -> None:
    outside = root.parent / "outside.yaml"
    outside.write_text(spec())
    other = root.parent / "other"
    other.mkdir()
    git("init", "-q", folder=other)
    (other / "a.yaml").write_text(spec())
    for name in (outside, other / "a.yaml"):
        done = since("base", str(name))
        assert done.returncode == 2
        assert "is not in the repository of the working folder" in done.stderr


def test_a_repository_of_another_user_is_left_to_git(root: Path) -> None:
    """Git refuses what others own; to name the folder of git must not go around that."""
    if os.geteuid() != 0:
        pytest.skip("needs to give files away")
    for folder, _, files in os.walk(root):
        for each in (folder, *(os.path.join(folder, name) for name in files)):
            os.chown(each, 12345, 12345)
    done = since("base", "specs")
    assert done.returncode == 2 and "dubious ownership" in done.stderr


# --- paths that links lead through ---------------------------------------------------------------


def test_a_link_turned_to_another_folder_is_compared_with_what_it_was(root: Path) -> None:
    for version, epsilon in (("v1", 1), ("v2", 2)):
        (root / version).mkdir()
        (root / version / "x.yaml").write_text(spec(epsilon))
    Path("current").symlink_to("v1")
    commit()
    git("tag", "-f", "base")
    Path("current").unlink()
    Path("current").symlink_to("v2")
    for name in ("current/x.yaml", "current", "current/*.yaml"):
        assert directions(since("base", name)) == {"current/x.yaml": "increased"}, name


def test_a_folder_made_a_link_hides_no_spec(root: Path) -> None:
    shutil.move("specs", ".hidden")
    Path("specs").symlink_to(".hidden")
    Path(".hidden/a.yaml").write_text(spec(2))
    for name in (".", "specs", "**/*.yaml"):
        done = since("base", name)
        assert (done.returncode, directions(done)) == (1, GREW), name


KEYED = spec(2).replace("{", "{{").replace("}", "}}").replace("dpcompose:", "{}:")
Change = Callable[[Path], object]


@pytest.mark.parametrize(
    ("change", "direction", "code"),
    [
        (lambda path: path.write_text("a: 1\n"), "invalid", 3),
        (lambda path: path.write_bytes(spec(2).encode("utf-16")), "invalid", 3),
        (lambda path: path.write_text(KEYED.format('"\\x64pcompose"')), "increased", 1),
        (lambda path: path.write_text(KEYED.format("? dpcompose\n")), "increased", 1),
        (lambda path: path.write_text("a: [\n---\n" + spec(2)), "increased", 3),
        (lambda path: path.rename(path.with_suffix(".YAML")), "same", 0),
        (lambda path: path.rename(path.with_suffix(".txt")), "decreased", 0),
        (Path.unlink, "decreased", 0),
    ],
    ids=["no-spec", "utf-16", "escape", "question", "broken-first", "YAML", "txt", "gone"],
)  # fmt: skip
def test_every_spec_of_the_revision_has_a_result(
    root: Path, change: Change, direction: str, code: int
) -> None:
    change(root / "specs" / "a.yaml")
    git("add", "-A")
    done = since("base", "specs")
    told = directions(done)
    name = "specs/a.YAML" if Path("specs/a.YAML").exists() else "specs/a.yaml"
    assert (done.returncode, told[name], told["specs/b.yaml"]) == (code, direction, "same")


@pytest.mark.parametrize("kind", ["file", "dangling", "gone", "link"])
def test_a_folder_that_is_none_any_more_hides_no_spec(root: Path, kind: str) -> None:
    shutil.rmtree("specs")
    match kind:
        case "file":
            Path("specs").write_text(spec())
        case "dangling":
            Path("specs").symlink_to("nowhere")
        case "link":
            Path("specs").symlink_to("/")
    for name in ("specs", "specs/*.yaml"):
        done = since("base", name, "--allow-new")
        told = directions(done)
        if kind == "link":  # nor is it told what else this machine has
            assert done.returncode == 2 and "leads out of the repository" in done.stderr
            assert len(done.stderr.splitlines()) <= 3
        else:
            assert {told["specs/a.yaml"], told["specs/b.yaml"]} == {"decreased"}
            assert (done.returncode == 2) == (kind == "dangling" and name == "specs")


def test_names_that_are_no_text_are_compared(root: Path) -> None:
    name = os.fsdecode(b"specs/\xff\xfe.yaml")
    Path(name).write_text(spec())
    commit()
    Path(name).write_text(spec(2))
    done = since("HEAD", "specs", run=call)
    assert done.returncode == 1 and directions(done)[name] == "increased"


@pytest.mark.parametrize("target", ["nowhere", "/proc/self/environ", "../.git/config", "a.yaml"])
def test_a_spec_made_a_bad_link_is_an_error(root: Path, target: str) -> None:
    Path("specs/a.yaml").unlink()
    Path("specs/a.yaml").symlink_to(target)
    done = since("base", "specs")
    assert done.returncode == 2 and "cannot read specs/a.yaml: " in done.stderr
    assert directions(done) == {"specs/b.yaml": "same"}
    assert '"unread": 1' in done.stdout


def test_settings_of_the_base_are_those_above_a_spec(root: Path) -> None:
    Path("dpcompose.toml").write_text("fail-on = 'note'\n")
    Path("specs/pyproject.toml").symlink_to("../dpcompose.toml")
    commit()
    Path("dpcompose.toml").unlink()
    shutil.rmtree("specs")
    past = Past("HEAD")
    names = ("dpcompose.toml", "pyproject.toml")
    held = b"fail-on = 'note'\n"
    assert list(past.above("specs/new/x.yaml", names)) == [
        (str(root / "specs" / "pyproject.toml"), held), (str(root / "dpcompose.toml"), held),
    ]  # fmt: skip
    assert list(Past("base").above("specs/a.yaml", names)) == []


def test_a_revision_can_be_sent_to_another_process(root: Path) -> None:
    past = Past("base")
    assert past.has("specs/a.yaml", Path("specs/a.yaml").read_bytes())
    sent = pickle.loads(pickle.dumps(past))
    assert sent.has("specs/a.yaml", Path("specs/a.yaml").read_bytes())


def test_one_process_reads_all_files(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        Path(f"specs/{number}.yaml").write_text(spec())
    commit()
    program = root.parent / "bin" / "git"
    program.parent.mkdir()
    log = root.parent / "calls"
    real = shutil.which("git")
    program.write_text(f'#!/bin/sh\necho call >> {log}\nexec {real} "$@"\n')
    program.chmod(0o755)
    path = os.pathsep.join([str(program.parent), os.environ["PATH"]])
    done = since("HEAD", "specs", PATH=path)
    assert set(directions(done).values()) == {"same"} and len(directions(done)) == 32
    assert len(log.read_text().splitlines()) <= 6


def test_nobody_waits_for_git_after_an_interrupted_comparison(root: Path) -> None:
    done = subprocess.run(
        f"{os.sys.executable} -m dpcompose diff --against base specs --format json | head -c 1",  # type: ignore[attr-defined]
        shell=True, capture_output=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.stdout == b"{" and b"Traceback" not in done.stderr
