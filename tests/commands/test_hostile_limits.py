"""A spec that takes more time or memory than it may: told in every format, and no other suffers."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from multiprocessing import active_children
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dpcompose.cli import app
from dpcompose.commands.parallel.bounds import Most, TooMuch, within
from dpcompose.commands.parallel.workers import WorkWithin

HEAD = "dpcompose: 1\nprotect: unbounded\ndatasets: {r: {}}\nmechanisms:\n"
SMALL = HEAD + "  - {name: a, reads: r, notion: pure, epsilon: 1}\nbudget: {epsilon: 2}\n"


def of_size(count: int) -> str:
    return HEAD + "".join(
        f"  - {{name: m{i}, reads: r, notion: pure, epsilon: 1/{i + 7}}}\n" for i in range(count)
    )


#: Takes a second and some ten megabytes.
LARGE = of_size(20_000)
TIME, MEMORY = ("--max-seconds", "0.05"), ("--max-memory", "2")
LATE = "not analysed: it takes longer than the 0.05 s of --max-seconds"
FULL = "not analysed: it needs more memory than the 2 MB of --max-memory"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs timers and /proc")


@pytest.fixture(autouse=True)
def specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {"large": LARGE, "small": SMALL, "other": SMALL}.items():
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")


def called(*args: str) -> tuple[int, str, str]:
    """The command in this process: for what a timer ends, since memory is limited for a process."""
    done = CliRunner().invoke(app, list(args))
    return done.exit_code, done.stdout, done.stderr


def run(*args: str) -> tuple[int, str, str]:
    """The real command."""
    done = subprocess.run(
        [sys.executable, "-m", "dpcompose", *args],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("flags", "says"), [(TIME, LATE), (MEMORY, FULL)])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_only_the_spec_that_takes_too_much_is_invalid(
    flags: tuple[str, str], says: str, jobs: str
) -> None:
    # The small ones have seconds, in which a busy machine reads them too.
    most = ("--max-seconds", "4") if flags is TIME else ("--max-memory", "20")
    says = says.replace("0.05", "4").replace("2 MB", "20 MB")
    if flags is TIME:
        Path("large.yaml").write_text(of_size(200_000), encoding="utf-8")
    files = ("small.yaml", "large.yaml", "other.yaml")
    code, out, _ = run("check", *files, *most, "--jobs", jobs, "--format", "json")
    assert code == 3
    first, large, last = json.loads(out)["results"]
    assert first["status"] == last["status"] == "ok"
    assert first["guarantee"]["epsilon"] == last["guarantee"]["epsilon"] == 1
    assert large["status"] == "invalid" and large["guarantee"] is None
    (finding,) = large["findings"]
    assert (finding["code"], finding["level"], finding["message"]) == ("DPC018", "error", says)


@pytest.mark.slow
@pytest.mark.parametrize(
    "form", ["text", "concise", "json", "jsonl", "sarif", "github", "junit", "markdown"]
)
def test_every_format_tells_it(form: str) -> None:
    code, out, err = called("check", "large.yaml", *TIME, "--format", form)
    assert code == 3
    assert "DPC018" in out and LATE in out and "Traceback" not in err


@pytest.mark.slow
def test_quiet_tells_it() -> None:
    code, out, err = run("analyze", "--quiet", "large.yaml", *TIME)
    assert (code, out) == (3, "invalid\n")
    said = " ".join(err.split())
    assert LATE in said and "DPC018" in said and "ask for less in it, split it" in said


@pytest.mark.slow
@pytest.mark.parametrize(("flags", "says"), [(TIME, LATE), (MEMORY, FULL)])
@pytest.mark.parametrize(
    "command",
    [
        ("fit", "large.yaml", "--epsilon", "1"),
        ("savings", "large.yaml"),
        ("total", "--all", "small.yaml", "large.yaml"),
        ("diff", "small.yaml", "large.yaml"),
        ("diff", "large.yaml", "small.yaml"),
    ],
)
def test_other_commands_fail_with_it(
    command: tuple[str, ...], flags: tuple[str, str], says: str
) -> None:
    code, out, err = (called if flags is TIME else run)(*command, *flags)
    assert code == 3
    assert says in out + err and "Traceback" not in err


@pytest.mark.slow
def test_a_variable_sets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPCOMPOSE_MAX_SECONDS", "0.05")
    assert run("analyze", "large.yaml")[0] == 3
    monkeypatch.setenv("DPCOMPOSE_MAX_SECONDS", "1000")
    assert run("analyze", "small.yaml", "--max-memory", "1000")[0] == 0


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("--max-seconds", "0"), "--max-seconds: a number of seconds above 0, to 100000000, is"),
        (("--max-seconds", "nan"), "--max-seconds: a number of seconds above 0, to 100000000, is"),
        (("--max-seconds", "inf"), "--max-seconds: a number of seconds above 0, to 100000000, is"),
        (("--max-memory", "-1"), "--max-memory: a whole number of MB above 0, to 100000000, is"),
    ],
)
def test_senseless_limits_are_refused(flags: tuple[str, str], says: str) -> None:
    result = CliRunner().invoke(app, ["analyze", "small.yaml", *flags])
    assert result.exit_code == 2
    assert result.stderr == f"dpcompose: {says} due\n"


def test_systems_without_means_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("signal.setitimer")
    result = CliRunner().invoke(app, ["analyze", "small.yaml", *TIME])
    says = "--max-seconds: this system has no timer that interrupts a process"
    assert (result.exit_code, result.stderr) == (2, f"dpcompose: {says}\n")
    monkeypatch.setattr("dpcompose.commands.parallel.bounds._SIZES", "/nowhere")
    result = CliRunner().invoke(app, ["analyze", "small.yaml", *MEMORY])
    says = "--max-memory: this system cannot limit the memory of a process"
    assert (result.exit_code, result.stderr) == (2, f"dpcompose: {says}\n")


@pytest.mark.parametrize(
    "command",
    ["check", *(pytest.param(each, marks=pytest.mark.slow) for each in ("diff", "total"))],
)
def test_what_cannot_be_interrupted_is_ended_from_outside(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call of C that takes for ever, say: no exception gets in."""
    where, name = {
        "check": ("dpcompose.pipeline", "analyze"),
        "diff": ("dpcompose.commands.diff", "change"),
        "total": ("dpcompose.commands.ledger.adding", "release_of"),
    }[command]
    module = importlib.import_module(where)
    real = getattr(module, name)

    def stubborn(*given: Any, **named: Any) -> object:
        if "large" in str(given[1]):
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
            while True:
                time.sleep(1)
        return real(*given, **named)

    monkeypatch.setattr(module, name, stubborn)
    monkeypatch.setattr("dpcompose.commands.parallel.bounds._GRACE", 0.5)
    (arguments, says) = (["small.yaml", "large.yaml"], "longer than the 3 s of --max-seconds")
    if command == "check":
        code, out, _ = called(
            command, *arguments, "other.yaml", "--format", "json", "--max-seconds", "3"
        )
        results = json.loads(out)["results"]
        assert [each["status"] for each in results] == ["ok", "invalid", "ok"]
    else:
        flags = ("--all", *arguments) if command == "total" else arguments
        code, out, err = called(command, *flags, "--max-seconds", "3")
        out += err
    assert code == 3 and says in out


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("---\n" * 3_000, {"DPC004", "DPC005"}),
        (SMALL + "".join(f"k{i}: 1\n" for i in range(5_000)), {"DPC101", "DPC017"}),
        (SMALL + "# dpcompose: ignore\n" * 5_000, {"DPC322", "DPC017"}),
        (SMALL.replace("epsilon: 1", f"epsilon: 1{'0' * 20_000}"), {"DPC015"}),
        (SMALL + f"x: {'[' * 5_000}", {"DPC008"}),
    ],
)
def test_what_is_told_of_one_spec_is_bounded(text: str, codes: set[str]) -> None:
    Path("large.yaml").write_text(text, encoding="utf-8")
    code, out, err = called("check", "small.yaml", "large.yaml", "other.yaml", "--format", "jsonl")
    assert code in (1, 3) and len(out) < 2**20 and err == ""
    lines = [json.loads(line) for line in out.splitlines()]
    assert lines[0]["status"] == lines[-1]["status"] == "ok"
    found = [each["code"] for line in lines for each in line["findings"]]
    assert set(found) <= codes and set(found) >= codes - {"DPC005"} and len(found) <= 1_001


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "---\n" * 5_000_000,
        SMALL + "".join(f"k{i}: 1\n" for i in range(300_000)),
        SMALL.replace(
            "epsilon: 1}", "epsilon: 1, " + "".join(f"k{i}: 1, " for i in range(300_000)) + "}"
        ),
    ],
    ids=["marks", "keys", "keys of a mechanism"],
)
def test_full_sizes_stay_within_limits(text: str) -> None:
    Path("large.yaml").write_text(text, encoding="utf-8")
    most = ("--max-seconds", "10", "--max-memory", "500")
    code, out, err = run(
        "check", "small.yaml", "large.yaml", "other.yaml", *most, "--format", "json"
    )
    results = json.loads(out)["results"]
    assert (code, err) == (3, "")
    assert results[0]["status"] == results[-1]["status"] == "ok"


def test_no_handler_on_the_way_swallows_the_end_of_the_time() -> None:
    def stubborn() -> None:
        while True:
            try:
                while True:
                    pass
            except Exception:
                continue

    with pytest.raises(TooMuch) as error, within(Most(seconds=0.1)):
        stubborn()
    assert str(error.value) == "not analysed: it takes longer than the 0.1 s of --max-seconds"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interruption_that_is_lost_is_repeated() -> None:
    class Slow:
        def __del__(self) -> None:
            end = time.monotonic() + 0.3
            while time.monotonic() < end:
                pass

    with pytest.raises(TooMuch), within(Most(seconds=0.1)):
        Slow()  # its end is where the first interruption comes
        while True:
            pass


def test_afterwards_everything_is_as_it_was() -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS), signal.getsignal(signal.SIGALRM)
    with pytest.raises(TooMuch), within(Most(1000, 1)):
        bytearray(2**26)
    with within(Most(1000, 1000)):
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert before == (resource.getrlimit(resource.RLIMIT_AS), signal.getsignal(signal.SIGALRM))
    bytearray(2**26)


def test_models_are_built_before_memory_is_short() -> None:
    """Where memory ends while pydantic builds a model, it ends the process."""
    code = (
        "from dpcompose.commands.parallel.bounds import Most, within\n"
        "from dpcompose.spec.model import models\n"
        "with within(Most(None, 1000)):\n"
        "    print(all(each.__pydantic_complete__ for each in models()))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "True\n"


@pytest.mark.slow
def test_models_are_looked_through_once_in_a_process() -> None:
    """They are hundreds, and to look through them takes longer than to analyse a small spec."""
    code = (
        "import dpcompose.spec.model as model\n"
        "from dpcompose.commands.parallel.bounds import Most, warm_up, within\n"
        "real, count = model.models, []\n"
        "model.models = lambda: count.append(1) or real()\n"
        "warm_up(Most(None, 1000))\n"
        "for _ in range(3):\n"
        "    with within(Most(None, 1000)):\n"
        "        print(len(count), end='')"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "111"


@pytest.mark.parametrize("command", [("check", "--jobs", "1"), ("total", "--all")])
def test_a_process_does_many_specs(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fork for each would take longer than a small spec."""
    started, real = 0, BaseProcess.start

    def start(process: BaseProcess) -> None:
        nonlocal started
        started += 1
        real(process)

    monkeypatch.setattr(BaseProcess, "start", start)
    for number in range(8):
        Path(f"{number}.yaml").write_text(SMALL, encoding="utf-8")
    files = [f"{number}.yaml" for number in range(8)]
    assert called(*command, *files, "--max-seconds", "100")[0] in (0, 1)
    assert 0 < started <= 3


def awkward(item: str) -> tuple[str, int]:
    """Goes wrong in the way that the item names."""
    match item:
        case "raises":
            raise ValueError(item)
        case "ends":
            os._exit(7)
        case "sleeps":
            time.sleep(60)
        case "grows":
            bytearray(2**30)
    return item, os.getpid()


def test_one_process_does_many_calls_until_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpcompose.commands.parallel.bounds._GRACE", 0.2)
    with closing(WorkWithin(lambda: Most(3, 500), awkward)) as work:
        first, second = work("a"), work("b")
        assert first[1] == second[1] != os.getpid()
        for item, says in {
            "sleeps": "takes longer than the 3 s",
            "grows": "more memory than the 500 MB",
            "ends": "ended with code 7",
        }.items():
            with pytest.raises(TooMuch, match=says):
                work(item)
            assert work("c")[0] == "c"
        with pytest.raises(ValueError, match="raises"):
            work("raises")
        assert work("d")[0] == "d"
    assert not active_children()


def test_a_shortage_without_a_limit_is_no_fault_of_the_spec() -> None:
    with pytest.raises(MemoryError), within(Most(seconds=1000)):
        raise MemoryError


@pytest.mark.skipif(sys.version_info < (3, 12), reason="warns of threads from 3.12 on")
@pytest.mark.parametrize("flags", [("--max-seconds", "100"), ("--max-memory", "1000")])
def test_no_process_with_threads_is_forked(flags: tuple[str, str]) -> None:
    done = subprocess.run(
        [
            sys.executable, "-W", "always::DeprecationWarning", "-m", "dpcompose", "check",
            "small.yaml", "other.yaml", "small.yaml", *flags,
        ],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0 and "fork" not in done.stderr
