"""Sessions: files, commands and all that they print, one text file for each subject.

    === What the session shows

    -- a.yaml --
    dpcompose: 1

    $ dpcompose check a.yaml
    what it prints on standard output
    2> what it prints on standard error
    [exit 3]

Each session starts in an empty folder, with the files and commands that stand above the first one.
`dpcompose` runs in this process, and what it prints may go on to a pipe or a file; the exit code
is its own. Any other command is given to the shell: `python -m dpcompose` starts the real program.
What cannot be printed is written as `<U+001B>`.
`pytest tests/sessions --rewrite-golden` writes what is printed now: read the diff.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from command import run

HERE = Path(__file__).parent
TITLE, FILE, COMMAND = re.compile(r"=== .+"), re.compile(r"-- (.+) --"), re.compile(r"\$ .+")
CLI = re.compile(r"([A-Z_]+=\S* )*dpcompose ")
ENVIRONMENT = {
    "COLUMNS": "100",
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_{what}": "a" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    **{f"GIT_{who}_DATE": "2026-01-01T12:00:00Z" for who in ("AUTHOR", "COMMITTER")},
}

Step = tuple[str, str]


def steps_of(text: str) -> list[Step]:
    """The steps of a text: the first line of each, and what stands below it up to the next one."""
    steps: list[Step] = [("", "")]
    for line in text.splitlines():
        if any(each.fullmatch(line) for each in (TITLE, FILE, COMMAND)):
            steps.append((line, ""))
        else:
            steps[-1] = (steps[-1][0], f"{steps[-1][1]}{line}\n")
    return [(head, body.strip("\n")) for head, body in steps]


def sessions_of(path: Path) -> list[list[Step]]:
    """The steps above the first session, then the steps of each session."""
    sessions: list[list[Step]] = [[]]
    for step in steps_of(path.read_text(encoding="utf-8")):
        if TITLE.fullmatch(step[0]):
            sessions.append([])
        sessions[-1].append(step)
    return sessions


def text_of(steps: list[Step]) -> str:
    """The text of which these are the steps."""
    lines = ""
    for head, body in steps:
        lines += f"{head}\n" if head else ""
        lines += f"{body}\n\n" if body else "" if COMMAND.fullmatch(head) else "\n"
    return lines


def printed_by(line: str) -> str:
    """All that a command line prints, with its exit code unless it is 0."""
    if not CLI.match(line):
        out, err, code = in_shell(line)
    else:
        call, *more = re.split(r" (?=[|>] )", line, maxsplit=1)
        words = shlex.split(call, comments=not more)
        start = words.index("dpcompose")
        variables = dict(each.split("=", 1) for each in words[:start])
        stdin = None
        if "<" in words:
            *words, _, name = words
            stdin = Path(name).read_bytes()
        done = run(*words[start + 1 :], stdin=stdin, **variables)
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        out, err, code = done.stdout_bytes.decode(), done.stderr, done.exit_code
        if more:
            out, said, _ = in_shell(f"cat {more[0]}", out)
            err += said
    text = out if out.endswith("\n") or not out else f"{out}\n[no end of the line]\n"
    text += "".join(f"2> {each}\n" for each in err.splitlines())
    text += f"[exit {code}]\n" if code else ""
    text = text.replace(os.getcwd(), "~").strip("\n")
    shown = (
        each if each.isprintable() or each == "\n" else f"<U+{ord(each):04X}>" for each in text
    )
    return "".join(shown)


def in_shell(line: str, stdin: str = "") -> tuple[str, str, int]:
    """What the shell prints on both streams, and its exit code."""
    done = subprocess.run(line, shell=True, capture_output=True, check=False, input=stdin.encode())
    return done.stdout.decode(), done.stderr.decode(), done.returncode


def played(steps: list[Step]) -> list[Step]:
    """The steps with what each command prints now, all done in the working folder."""
    now = []
    for head, body in steps:
        if name := FILE.fullmatch(head):
            path = Path(name[1])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{body}\n", encoding="utf-8")
        now.append((head, printed_by(head[2:]) if COMMAND.fullmatch(head) else body))
    return now


CASES = []
for each in sorted(HERE.glob("*.session")):
    above, *others = sessions_of(each)
    with_git = any("git init" in head for head, _ in above)  # many processes for each session
    for number, session in enumerate(others, 1):
        # Of sessions without git every second one is among the quick tests.
        slow = number > 1 if with_git else number % 2 == 0
        marks = [pytest.mark.slow] if slow else []
        name = f"{each.stem}: {session[0][0][4:]}"
        CASES.append(pytest.param(each, number, id=name, marks=marks))


@pytest.mark.parametrize(("path", "number"), CASES)
def test_session(
    path: Path, number: int, home: Path, monkeypatch: pytest.MonkeyPatch, rewriting: bool
) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    sessions = sessions_of(path)
    now = [played(sessions[0]), played(sessions[number])]
    if rewriting:
        sessions[0], sessions[number] = now
        text = "".join(map(text_of, sessions)).rstrip("\n")
        path.write_text(f"{text}\n", encoding="utf-8", newline="\n")
    else:
        assert text_of(now[0]) == text_of(sessions[0])
        assert text_of(now[1]) == text_of(sessions[number])
