"""Golden files: expected outputs, rewritten by `pytest --rewrite-golden`."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Generator
from functools import cache
from pathlib import Path

import pytest
import typer.main
import typer.testing
from hypothesis import HealthCheck, settings

# Tests do not time: a busy machine is no fault of the code.
for profile, examples in (("usual", 50), ("long", 200)):
    settings.register_profile(
        profile,
        deadline=None,
        derandomize=True,
        max_examples=examples,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("usual")

# Hundreds of tests start the command, and each process that tests compiles all tests: what is
# compiled once may be kept.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Processes that test side by side are told a width; what is printed is as wide as in any pipe.
os.environ.pop("COLUMNS", None)

# The commands with their options are made once: that is half of the time of a call in a test.
typer.testing.__dict__["_get_command"] = cache(typer.main.get_command)

GOLDEN = Path(__file__).parent / "golden"

#: The specs of the library by name, without those of a ledger.
LIBRARY = {
    path.stem: path
    for path in sorted(Path(__file__).parents[1].glob("specs/*/*.yaml"), key=lambda path: path.stem)
    if path.parent.name != "ledger-2026"
}

Golden = Callable[[str, str], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite-golden",
        action="store_true",
        help="write what is printed now to tests/golden and the documents; then read the diff",
    )
    parser.addoption(
        "--long",
        action="store_true",
        help="run the tests that take many minutes, and all seeds of random tests",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--long"):
        settings.load_profile("long")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep what is collected until the end: the garbage collector need not look at it again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is marked `long`, unless it is asked for."""
    if not config.getoption("--long"):
        long = [each for each in items if each.get_closest_marker("long")]
        config.hook.pytest_deselected(items=long)
        items[:] = [each for each in items if not each.get_closest_marker("long")]


@pytest.fixture(scope="session")
def long(request: pytest.FixtureRequest) -> bool:
    """Whether tests may take many minutes."""
    return bool(request.config.getoption("--long"))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the working one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def rewriting(request: pytest.FixtureRequest) -> bool:
    """Whether expected outputs are to be rewritten."""
    return bool(request.config.getoption("--rewrite-golden"))


@pytest.fixture
def golden(rewriting: bool) -> Golden:
    """Compare a text with the golden file of that name."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if rewriting:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        assert path.exists(), f"no golden file {name}: run pytest --rewrite-golden"
        assert text == path.read_text(encoding="utf-8")

    return compare
