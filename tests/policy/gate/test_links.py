"""Links lead where the repository, or the folder that is meant, ends; nothing else is quoted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .attacks import FORMATS, Done, call, called, needs_git, since, spec

SECRET = "hunter2-of-the-runner"

pytestmark = [needs_git, pytest.mark.slow]


def kept(done: Done) -> None:
    """That no output quotes what must be kept."""
    assert SECRET not in done.stdout + done.stderr, done.stdout + done.stderr


@pytest.fixture
def secret(root: Path) -> Path:
    """A file outside of the repository, with a secret that would be quoted as a mistake."""
    path = root.parent / "secret"
    path.write_text(f"password: {SECRET}\n{SECRET}: [\n")
    return path


@pytest.mark.parametrize("form", FORMATS)
def test_the_environment_is_not_printed(root: Path, form: str) -> None:
    """The real environment of a process, which is told in text and in JSON."""
    run = call if form in ("text", "json") else called
    Path("specs/env.yaml").symlink_to("/proc/self/environ")
    for name in ("specs/env.yaml", "specs", "specs/*.yaml", ".") if form == "json" else (".",):
        done = run("check", name, "--format", form, TOKEN=SECRET)
        kept(done)
        assert done.returncode == 2
        assert "cannot read specs/env.yaml: it is a link" in done.stderr


@pytest.mark.parametrize(
    "target", ["../../secret", "SECRET", "../.git/secret", "../.GIT/secret", "further", "up/secret"]
)
def test_links_that_leave_are_refused_whatever_reads_them(
    root: Path, secret: Path, target: str
) -> None:
    for folder in (".git", ".GIT"):
        Path(folder).mkdir(exist_ok=True)
        Path(folder, "secret").write_text(secret.read_text())
    Path("specs/up").symlink_to("../..")
    Path("specs/further").symlink_to(secret)
    link = Path("specs/link.yaml")
    link.symlink_to(target.replace("SECRET", str(secret)))
    for arguments in (
        ["analyze"], ["analyze", "-q"], ["check"], ["total", "--all"], ["fit"], ["savings"],
        ["diff", "specs/a.yaml"], ["diff", "--against=base", "--allow-new"],
        ["check", "--changed-since=base"], ["check", "--strict"], ["check", "--files-from"],
    ):  # fmt: skip
        done = called(*arguments, str(link))
        kept(done)
        assert done.returncode == 2, arguments
        assert "specs/link.yaml: it is" in done.stderr, arguments
    done = since("base", "specs")
    kept(done)
    assert done.returncode == 2


def test_a_folder_on_the_way_may_be_the_link(root: Path, secret: Path) -> None:
    (root.parent / "outside").mkdir()
    (root.parent / "outside" / "x.yaml").write_text(spec() + f"{SECRET}: 1\n")
    Path("way").symlink_to("../outside")
    for name in ("way/x.yaml", "*/x.yaml", str(root / "way" / "x.yaml")):
        done = called("check", name)
        kept(done)
        assert done.returncode == 2 and "leads out of the repository" in done.stderr, name
    assert since("base", "way/x.yaml").returncode == 2


def test_settings_are_no_links_that_leave(root: Path, secret: Path) -> None:
    Path("specs/dpcompose.toml").symlink_to(secret)
    for arguments in (["check"], ["check", "--show-settings"], ["diff", "--against=base"]):
        done = called(*arguments, "specs")
        kept(done)
        assert done.returncode == 2 and "cannot read specs/dpcompose.toml" in done.stderr


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_that_is_no_spec_is_not_quoted(root: Path, secret: Path, form: str) -> None:
    """Reached by a link that stays, or by its own name; whole, broken, with strange characters."""
    texts = (
        f"password: {SECRET}\n", f"{SECRET}: [\n", f"a: '{SECRET}\n", f"\x07{SECRET}",
        f"- {SECRET}\n---\n{SECRET}\n", f"{SECRET}", f"&{SECRET} a: *{SECRET}x\n", f"!{SECRET} x\n",
    )  # fmt: skip
    for number, text in enumerate(texts):
        Path(f".env{number}").write_text(text)
        Path(f"specs/{number}.yaml").symlink_to(f"../.env{number}")
    for command in ("analyze", "check"):
        names = [f"specs/{number}.yaml" for number in range(len(texts))]
        done = called(command, *names, ".env0", "--format", form)
        kept(done)
        assert done.returncode == 3
    done = called("check", "specs", "--format", form, "--strict")
    kept(done)
    assert done.returncode == 2


def test_other_commands_quote_no_other_file_either(root: Path, secret: Path) -> None:
    Path(".env").write_text(f"{SECRET}: {SECRET}\n")
    Path("b.yaml").symlink_to(".env")
    for arguments in (
        ["total", "--all", "b.yaml"], ["fit", "b.yaml"], ["savings", "b.yaml"],
        ["diff", "specs/a.yaml", "b.yaml"], ["diff", "b.yaml", "specs/a.yaml"],
        ["diff", "--against=base", "--allow-new", "b.yaml"],
        ["diff", "--against=base", "--allow-new", "--format=json", "b.yaml"],
        ["diff", "--against=base", "--allow-new", "--format=markdown", "b.yaml"],
    ):  # fmt: skip
        done = called(*arguments)
        kept(done)
        assert done.returncode == 3, arguments
        assert "no document of the file has the key" in done.stdout + done.stderr, arguments


def test_links_within_the_repository_are_fine(root: Path) -> None:
    Path("more").mkdir()
    Path("more/link.yaml").symlink_to("../specs/a.yaml")
    assert called("check", "more").returncode == 0
    assert called("check", "more/link.yaml", "--format=jsonl").stdout.startswith('{"schema')


def test_without_a_repository_the_folder_is_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "a.yaml").write_text(spec())
    (tmp_path / "outside.yaml").write_text(spec() + f"{SECRET}: 1\n")
    (tmp_path / "given" / "link.yaml").symlink_to("../outside.yaml")
    for name in ("given", "given/*.yaml", "given/.", str(tmp_path / "given")):
        done = called("check", name, folder=tmp_path)
        kept(done)
        assert done.returncode == 2 and "leads out of" in done.stderr, name
    # Somebody named it: a link of their own, standard input, what a shell calls /dev/fd/63.
    assert called("check", "given/link.yaml", folder=tmp_path).returncode == 3
    with open(tmp_path / "given" / "a.yaml") as stream:
        os.set_inheritable(stream.fileno(), True)
        assert call("check", "given/a.yaml", folder=tmp_path).returncode == 0
