"""The page about dbt: its files are written, its commands run, and it prints what they print."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from command import run

import dpcompose

pytest.importorskip("sqlglot")
PAGE = Path(dpcompose.__file__).parent / "bridge" / "FROM_DBT.md"
BLOCK = re.compile(r"```(sql|yaml|sh|text)\n(.*?)```", re.DOTALL)


def test_the_page_prints_what_its_commands_print(home: Path, rewriting: bool) -> None:
    text, printed, codes = PAGE.read_text(encoding="utf-8"), "", list[int]()

    def now(block: re.Match[str]) -> str:
        nonlocal printed
        kind, body = block[1], block[2]
        if kind == "text":
            return f"```text\n{printed}```"
        if kind == "sh":
            printed = ""
            for line in body.splitlines():
                result = run(*shlex.split(line)[1:], COLUMNS="100")
                codes.append(result.exit_code)
                printed += result.output
            return block[0]
        first, _, rest = body.partition("\n")
        file = home / first.strip("-# ")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(rest, encoding="utf-8")
        return block[0]

    true = BLOCK.sub(now, text)
    if rewriting:
        PAGE.write_text(true, encoding="utf-8", newline="\n")
    else:
        assert text == true, "run pytest --rewrite-golden"
    assert codes == [1, 3, 0, 0, 0, 0, 1]
