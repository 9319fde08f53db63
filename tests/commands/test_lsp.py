"""The language server, asked by a client over its standard streams as an editor does."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

SPEC = """dpcompose: 1
title: Trips  # 🚲
protect: bounded

datasets:
  trips: {}
  district: {from: trips, partition: {by: value, blocks: [north, south]}}

mechanisms:
  - {name: count, reads: district.*, notion: pure, epsilon: 0.5, stated_on: trips}
  - {name: mean, reads: trips, notion: pure, epsilon: 1}

budget: {epsilon: 3}
"""
#: Its analysis takes more than half a minute.
SLOW = (
    "dpcompose: 1\nprotect: unbounded\nreport: {delta: [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8]}\n"
    "datasets:\n  r: {}\n"
    + "".join(
        f"  s{i}: {{from: r, map: {{kind: sample, poisson: 1/{50 + i}}}}}\n" for i in range(12)
    )
    + "mechanisms:\n"
    + "".join(
        f"  - {{name: m{i}, reads: s{i}, mechanism: laplace, scale: {2 + i}, sensitivity: 1, "
        f"count: {1000 * i + 1000}}}\n"
        for i in range(12)
    )
)
PATIENCE = 600  # seconds, of a machine that may be busy

Shape = dict[str, Any]


class Client:
    """An editor: it sends requests and notifications, and keeps what the server says unasked."""

    def __init__(self, folder: Path, *flags: str, of_python: Sequence[str] = ()) -> None:
        self.server = subprocess.Popen(
            [sys.executable, *of_python, "-m", "dpcompose", "lsp", *flags],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._said: queue.Queue[Shape | None] = queue.Queue()
        self._count = 0
        self.notes: list[Shape] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        stream = self.server.stdout
        assert stream is not None
        while True:
            length = 0
            while line := stream.readline().strip():
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            self._said.put(json.loads(stream.read(length)) if length else None)
            if not length:
                return

    def write(self, body: bytes) -> None:
        assert self.server.stdin is not None
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.server.stdin.flush()

    def note(self, method: str, **params: Any) -> None:
        """Sends a notification."""
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def ask(self, method: str, **params: Any) -> Any:
        """Sends a request, and returns its result."""
        self._count += 1
        message = {"jsonrpc": "2.0", "id": self._count, "method": method, "params": params}
        self.write(json.dumps(message).encode())
        while True:
            said = self._next(PATIENCE)
            if said.get("id") == self._count:
                assert "error" not in said, said
                return said["result"]

    def _next(self, seconds: float) -> Shape:
        said = self._said.get(timeout=seconds)
        assert said is not None, "the server has ended"
        if "method" in said:
            self.notes.append(said)
        return said

    def start(self, *encodings: str) -> Shape:
        """Shakes hands with the server, and returns what it can do."""
        general = {"positionEncodings": list(encodings)} if encodings else {}
        hover = {"contentFormat": ["markdown", "plaintext"]}
        capabilities = {"general": general, "textDocument": {"hover": hover}}
        told: Shape = self.ask(
            "initialize", processId=None, rootUri=None, capabilities=capabilities
        )
        self.note("initialized")
        found: Shape = told["capabilities"]
        return found

    def open(self, text: str, name: str = "trips.dp.yaml") -> str:
        """Opens a text, and returns its address."""
        uri = f"file:///nowhere/{name}"
        self.notes.clear()
        language = "yaml" if name.endswith(".yaml") else "plaintext"
        item = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.note("textDocument/didOpen", textDocument=item)
        return uri

    def change(self, uri: str, text: str, version: int) -> None:
        document = {"uri": uri, "version": version}
        self.note("textDocument/didChange", textDocument=document, contentChanges=[{"text": text}])

    def problems(self, uri: str, version: int = 1) -> list[Shape]:
        """Waits until all problems of a version are known, and returns them."""
        found = self.first_problems(uri, version)
        self.hints(uri)
        for each in self._told(uri, version):
            found = each
        return found

    def _told(self, uri: str, version: int | None) -> Iterator[list[Shape]]:
        """Yields the problems of a version that were told and not returned yet."""
        for each in list(self.notes):
            told = each["params"]
            if "diagnostics" in told and (told["uri"], told.get("version")) == (uri, version):
                self.notes.remove(each)
                yield told["diagnostics"]

    def first_problems(self, uri: str, version: int | None = 1) -> list[Shape]:
        """Waits for the problems of a version, and returns the first that come."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for each in self._told(uri, version):
                return each
            self._next(end - time.monotonic())
        raise TimeoutError

    def at(self, kind: str, uri: str, line: int, character: int) -> Any:
        """Returns what the server says of a place."""
        place = {"line": line, "character": character}
        return self.ask(f"textDocument/{kind}", textDocument={"uri": uri}, position=place)

    def actions(self, uri: str, line: int, **context: Any) -> list[Shape]:
        """Returns the code actions for a line."""
        found: list[Shape] = self.ask(
            "textDocument/codeAction",
            textDocument={"uri": uri},
            range={"start": {"line": line, "character": 0}, "end": {"line": line, "character": 1}},
            context={"diagnostics": [], **context},
        )
        return found

    def hints(self, uri: str) -> dict[int, str]:
        """Returns the inlay hints of a text by their lines."""
        start, end = {"line": 0, "character": 0}, {"line": 999, "character": 0}
        found = self.ask(
            "textDocument/inlayHint", textDocument={"uri": uri}, range={"start": start, "end": end}
        )
        return {each["position"]["line"]: each["label"] for each in found}

    def words(self, text: str, name: str = "words.dp.yaml") -> dict[str, str]:
        """Opens a text with the cursor at `|`; returns the words offered and what they write."""
        before, _, after = text.partition("|")
        uri = self.open(before + after, name)
        line = before.count("\n")
        found = self.at("completion", uri, line, len(before) - before.rfind("\n") - 1)
        self.note("textDocument/didClose", textDocument={"uri": uri})
        items = found["items"] if found else []
        return {each["label"]: each["textEdit"]["newText"] for each in items}

    def end(self) -> int:
        """Ends the server as editors do, and returns its exit code."""
        self.ask("shutdown")
        self.note("exit")
        return self.server.wait(PATIENCE)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """One server for all tests, as an editor has one for all its files."""
    found = Client(tmp_path_factory.mktemp("work"))
    found.start()
    yield found
    assert found.end() == 0


@pytest.fixture
def uri(client: Client) -> Iterator[str]:
    """The address of a valid spec that is open and analysed."""
    found = client.open(SPEC)
    assert client.problems(found) == []
    yield found
    client.note("textDocument/didClose", textDocument={"uri": found})
    assert client.first_problems(found, None) == []


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n")


def edited(text: str, action: Shape, uri: str) -> str:
    """The text with the edits of an action made, whose columns are UTF-16."""
    lines = text.splitlines(keepends=True)
    edits = action["edit"]["changes"][uri]
    for edit in sorted(edits, key=lambda each: -each["range"]["start"]["line"]):
        start, end = edit["range"]["start"], edit["range"]["end"]
        assert start["line"] == end["line"]
        line = lines[start["line"]].encode("utf-16-le")
        new = edit["newText"].encode("utf-16-le")
        line = line[: 2 * start["character"]] + new + line[2 * end["character"] :]
        lines[start["line"]] = line.decode("utf-16-le")
    return "".join(lines)


# --- problems ------------------------------------------------------------------------------------


def test_the_server_says_what_it_can(tmp_path: Path) -> None:
    client = Client(tmp_path, "--stdio", "--max-seconds", "600")
    told = client.start("utf-8", "utf-16")
    assert told["positionEncoding"] == "utf-8" and told["hoverProvider"] is True
    assert told["textDocumentSync"]["change"] == 1
    assert told["codeActionProvider"]["codeActionKinds"] == ["quickfix", "source.fixAll"]
    assert told["inlayHintProvider"] and told["completionProvider"]["triggerCharacters"]
    uri = client.open(SPEC.replace("Trips  # 🚲", '"🚲", x: 1'))
    (problem,) = client.problems(uri)
    assert problem["range"]["start"] == {"line": 1, "character": 13}  # four bytes and two signs
    # An editor that ends without a word ends the server.
    assert client.server.stdin is not None
    client.server.stdin.close()
    assert client.server.wait(PATIENCE) == 1


def test_problems_come_and_go_as_one_types(client: Client, uri: str) -> None:
    client.change(uri, SPEC.replace("epsilon: 1}", "epsilom: 1}"), 2)
    (problem,) = client.problems(uri, 2)
    line = line_of(SPEC, "name: mean")
    column = SPEC.splitlines()[line].index("epsilon")
    assert problem["range"] == {
        "start": {"line": line, "character": column},
        "end": {"line": line, "character": column + 7},
    }
    assert (problem["code"], problem["severity"], problem["source"]) == ("DPC101", 1, "dpcompose")
    assert "unknown key `epsilom`" in problem["message"] and "help: " in problem["message"]
    client.change(uri, SPEC.replace("{epsilon: 3}", "{epsilon: 1}"), 3)
    (problem,) = client.problems(uri, 3)
    assert problem["code"] == "DPC301" and problem["message"].startswith("over budget")
    assert problem["range"]["start"]["line"] == line_of(SPEC, "budget:")
    client.change(uri, SPEC, 4)
    assert client.problems(uri, 4) == []


def test_only_the_last_of_many_changes_is_looked_at(client: Client, uri: str) -> None:
    for version in range(2, 30):
        client.change(uri, SPEC + "x" * version, version)
    assert len(client.problems(uri, 29)) == 1
    told = [each["params"] for each in client.notes if "diagnostics" in each["params"]]
    assert [each["version"] for each in told if each["uri"] == uri] == []


def test_settings_and_comments_have_their_say(client: Client, tmp_path: Path) -> None:
    settings, path = tmp_path / "dpcompose.toml", tmp_path / "a.dp.yaml"
    settings.write_text('require-relation = ["user"]\n', encoding="utf-8")
    item = {"uri": path.as_uri(), "languageId": "yaml", "version": 1, "text": SPEC}
    client.note("textDocument/didOpen", textDocument=item)
    (problem,) = client.problems(path.as_uri())
    assert problem["code"] == "DPC310"
    settings.unlink()
    client.note("textDocument/didSave", textDocument={"uri": path.as_uri()})
    assert client.problems(path.as_uri()) == []
    text = SPEC + "# dpcompose: ignore[DPC204] there is none\n"
    client.change(path.as_uri(), text, 2)
    assert [each["code"] for each in client.problems(path.as_uri(), 2)] == ["DPC321"]
    settings.write_text("nonsense = 1\n", encoding="utf-8")
    client.note("textDocument/didSave", textDocument={"uri": path.as_uri()})
    (problem,) = client.problems(path.as_uri(), 2)
    assert problem["code"] == "DPC305" and "nonsense" in problem["message"]


@pytest.mark.parametrize(
    ("before", "column"),
    [("a: 1, ", 16), ("😀: 1, ", 17), ("é: 1, ", 16), ("'𝒢': '😀', ", 22)],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_columns_are_those_of_utf_16(client: Client, before: str, column: int, end: str) -> None:
    text = SPEC.replace("trips: {}", f"trips: {{{before}unti: x}}").replace("\n", end)
    uri = client.open(text, "columns.dp.yaml")
    found = client.problems(uri)
    (unknown,) = (each for each in found if "`unti`" in each["message"])
    line = line_of(text, "unti")
    assert unknown["range"] == {
        "start": {"line": line, "character": column},
        "end": {"line": line, "character": column + 4},
    }
    (action,) = client.actions(uri, line, only=["quickfix"])
    assert edited(text, action, uri) == text.replace("unti", "unit")
    client.note("textDocument/didClose", textDocument={"uri": uri})


def test_other_files_are_left_alone(client: Client) -> None:
    others = (("values.yaml", "protect: [\n"), ("notes.txt", SPEC + "x: 1\n"), ("x.yaml", ""))
    for name, text in others:
        uri = client.open(text, name)
        assert client.at("hover", uri, 0, 1) is None
        assert client.words(f"{text}|", name) == {}
        assert client.actions(uri, 0) == [] and client.hints(uri) == {}
    found = [each["params"]["diagnostics"] for each in client.notes if "params" in each]
    assert not any(found)
    uri = client.open("dpcompose: 1\nfoo: 1\n", "release.yaml")
    assert {each["code"] for each in client.problems(uri)} == {"DPC101", "DPC102"}


HOSTILE = [
    "",
    "\ud83d",
    "dpcompose: 1\ntitle: 😀😀 {\n",
    "\ufeffdpcompose: 1\nfoo: 1\n",
    "dpcompose: 1\rprotect: x\r",
    "\0\x01\x7f",
    "- " * 5000,
    "[" * 50_000,
    "a: &a [*a]",
    "dpcompose: 1\nx\u2028: 1\n",
    "---\ndpcompose: 1\n---\n" * 5,
    "dpcompose: 1\n\tx: 1",
    "{" * 50 + "dpcompose",
    "%TAG ! x\n" * 200,
    "dpcompose: 1\n? {a: b}\n: x\n",
    "dpcompose: 1\ntitle: !!binary x\nprotect: *none\n",
    "dpcompose: 1\ndatasets: [1]\nmechanisms: {a: 1}\nprotect: [x]\n",
    f"dpcompose: 1\ntitle: {'😀' * 100_000}\n",
    "x: 1\n" * 100_000,
    f"{'a' * 200_000} ",
]


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_ends_the_server(client: Client, text: str) -> None:
    uri = client.open(text, "hostile.dp.yaml")
    assert client.problems(uri)
    for line, character in ((0, 0), (0, 3), (1, 4), (2, 0), (10**6, 0), (0, 10**8)):
        client.at("hover", uri, line, character)
        client.at("completion", uri, line, character)
        client.actions(uri, line)
    assert client.hints(uri) == {}
    client.note("textDocument/didClose", textDocument={"uri": uri})
    assert client.first_problems(uri, None) == []


def test_what_is_no_message_does_not_end_the_server(client: Client, uri: str) -> None:
    client.write(b"{")
    client.write(b'{"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {}}')
    client.note(
        "textDocument/didChange", textDocument={"uri": "x", "version": 1}, contentChanges=[]
    )
    client.note("no/such/thing")
    assert client.at("hover", uri, 0, 1) is not None


@pytest.mark.slow
def test_a_long_analysis_stops_nothing(client: Client) -> None:
    uri = client.open(SLOW, "slow.dp.yaml")
    began = time.monotonic()
    assert client.first_problems(uri) == []  # it can be read, which is told before it is analysed
    assert client.at("hover", uri, 1, 2) is not None
    client.change(uri, SLOW + "x: 1\n", 2)
    assert [each["code"] for each in client.problems(uri, 2)] == ["DPC101"]
    client.change(uri, SLOW, 3)
    assert client.first_problems(uri, 3) == []
    other = client.open(SPEC, "beside.dp.yaml")
    assert client.problems(other) == []
    assert line_of(SPEC, "name: mean") in client.hints(other)
    client.note("textDocument/didClose", textDocument={"uri": uri})
    assert time.monotonic() - began < 60  # the analyses take longer, one after the other


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")
def test_nothing_is_left_of_a_server_that_is_killed(tmp_path: Path) -> None:
    client = Client(tmp_path)
    client.start()
    uri = client.open(SLOW)
    assert client.first_problems(uri) == []
    pid = client.server.pid
    children = Path(f"/proc/{pid}/task").glob("*/children")
    left = [int(each) for path in children for each in path.read_text().split()]
    client.server.kill()
    client.server.wait(PATIENCE)
    end = time.monotonic() + PATIENCE
    while any(map(is_running, left)) and time.monotonic() < end:
        time.sleep(0.1)
    assert left and not any(map(is_running, left))


def is_running(process: int) -> bool:
    try:
        state = (
            Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        )
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


@pytest.mark.slow
def test_the_time_of_an_analysis_is_limited(tmp_path: Path) -> None:
    client = Client(tmp_path, "--max-seconds", "5")
    client.start()
    uri = client.open(SLOW)
    assert client.first_problems(uri) == []
    assert [each["code"] for each in client.problems(uri)] == ["DPC018"]
    client.open(SLOW, "other.dp.yaml")
    assert client.end() == 0


# --- what it tells -------------------------------------------------------------------------------


def test_hover_explains_a_word_and_tells_a_cost(client: Client, uri: str) -> None:
    line = line_of(SPEC, "name: mean")
    text = SPEC.splitlines()[line]
    found = client.at("hover", uri, line, text.index("notion"))
    told = found["contents"]["value"]
    assert found["contents"]["kind"] == "markdown"
    assert told.startswith("```text\nmean costs ε 1 · 50 %\n```\n```text\nnotion  ──")
    assert "The privacy notion in which the guarantee is stated." in told
    assert found["range"]["start"] == {"line": line, "character": text.index("notion")}
    assert found["range"]["end"] == {"line": line, "character": text.index("notion") + 6}
    assert (
        "a privacy notion" in client.at("hover", uri, line, text.index("pure"))["contents"]["value"]
    )
    name = client.at("hover", uri, line, text.index("trips"))
    assert (
        name["contents"]["value"] == "```text\nmean costs ε 1 · 50 %\n```" and "range" not in name
    )
    line = line_of(SPEC, "  district")
    text = SPEC.splitlines()[line]
    partition = client.at("hover", uri, line, text.index("partition") + 3)
    assert "How rows are assigned to blocks." in partition["contents"]["value"]
    assert client.at("hover", uri, line, text.index("district")) is None  # a name
    assert client.at("hover", uri, line_of(SPEC, "title"), 9) is None  # a text


def test_a_mechanism_of_several_lines_costs_the_same_on_each(client: Client) -> None:
    one = "{name: mean, reads: trips, notion: pure, epsilon: 1}"
    assert one in SPEC
    text = SPEC.replace(one, one.strip("{}").replace(", ", "\n    "))
    uri = client.open(text, "lines.dp.yaml")
    assert client.problems(uri) == []
    first = line_of(text, "name: mean")
    costs = [client.at("hover", uri, line, 0) for line in range(first, first + 5)]
    told = "```text\nmean costs ε 1 · 50 %\n```"
    assert [each and each["contents"]["value"] for each in costs] == [told] * 4 + [None]


def test_a_code_in_a_comment_is_explained(client: Client) -> None:
    uri = client.open(SPEC + "# dpcompose: ignore[DPC204] it is small\n", "codes.dp.yaml")
    assert client.problems(uri)
    found = client.at("hover", uri, SPEC.count("\n"), 22)
    assert "A mechanism adds nothing in the worst case." in found["contents"]["value"]


def test_costs_stand_beside_mechanisms_and_the_bound_beside_protect(
    client: Client, uri: str
) -> None:
    expected = {
        line_of(SPEC, "protect"): "ε = 2",
        line_of(SPEC, "name: count"): "ε 1 · 50 %",
        line_of(SPEC, "name: mean"): "ε 1 · 50 %",
    }
    assert client.hints(uri) == expected
    client.change(uri, SPEC.replace("epsilon: 1}", "epsilon: 3}"), 2)
    assert client.hints(uri)[line_of(SPEC, "name: mean")] == "ε 3 · 75 %"  # it waits for them
    client.change(uri, SPEC + "x: 1\n", 3)
    assert client.hints(uri) == {}
    client.problems(uri, 3)


def test_each_spec_of_a_stream_has_its_own(client: Client) -> None:
    second = SPEC.replace("epsilon: 1}", "epsilon: 9}")
    text = f"---\n{SPEC}---\n{second}---\n{SPEC.replace('reads: trips', 'read: trips')}"
    uri = client.open(text, "stream.dp.yaml")
    codes = [each["code"] for each in client.problems(uri)]
    assert sorted(codes) == ["DPC101", "DPC301"]
    below = SPEC.count("\n") + 2
    hints = client.hints(uri)
    assert hints[line_of(SPEC, "protect") + 1] == "ε = 2"
    assert hints[line_of(SPEC, "protect") + below] == "ε = 10" and len(hints) == 6


# --- what it writes ------------------------------------------------------------------------------


def test_a_correction_is_applied(client: Client, uri: str) -> None:
    text = SPEC.replace("notion: pure, epsilon: 1}", "notion: pure, epsilom: 1}")
    text = text.replace("protect: bounded", "protect: Bounded")
    client.change(uri, text, 2)
    assert len(client.problems(uri, 2)) == 2
    one, every = client.actions(uri, line_of(SPEC, "name: mean"))
    assert one["title"] == "Write `epsilon`" and one["isPreferred"]
    assert [each["code"] for each in one["diagnostics"]] == ["DPC101"]
    assert edited(text, one, uri) == text.replace("epsilom", "epsilon")
    assert every["kind"] == "source.fixAll" and edited(text, every, uri) == SPEC
    assert client.actions(uri, 0, only=["source"]) == [every]
    assert client.actions(uri, 0, only=["refactor"]) == []
    assert client.actions(uri, line_of(SPEC, "name: count"), only=["quickfix"]) == []


HEAD = SPEC.partition("mechanisms")[0]


@pytest.mark.parametrize(
    ("text", "some", "none"),
    [
        ("|", {"dpcompose": "dpcompose: ", "protect": "protect: "}, {"reads"}),
        ("dpcompose: 1\npro|", {"protect": "protect: "}, {"dpcompose", "budget"}),
        ("dpcompose: 1\nprotect: |", {"bounded": "bounded"}, {"datasets"}),
        (f"{HEAD}  few: {{from: |", {"trips": "trips", "district.*": "district.*"}, {"few"}),
        (f"{HEAD}  few: {{from: district.n|", {"district.north": "district.north"}, {"trips"}),
        (f"{HEAD}  few:\n    from: trips\n    |", {"map": "map: "}, {"from", "unit"}),
        (f"{HEAD}  few: {{from: trips, map: {{kind: |", {"cap": "cap"}, {"value_"}),
        (f"{HEAD}  few: {{from: trips, map: {{kind: cap, |", {"rows": "rows: "}, {"kind", "uses"}),
        (f"{HEAD}mechanisms:\n  - |", {"name": "name: ", "reads": "reads: "}, {"by"}),
        (
            f"{HEAD}mechanisms:\n  - {{name: a, reads: |",
            {"district.south": "district.south"},
            set(),
        ),
        (
            f"{HEAD}mechanisms:\n  - {{name: a, mechanism: gaussian, |}}",
            {"sigma": "sigma: "},
            {"mu"},
        ),
        (f"{HEAD}mechanisms:\n  - name: a\n    notion: |\n", {"zcdp": "zcdp"}, {"laplace"}),
        (f"{HEAD}budget: {{epsilon: 1, |}}", {"delta": "delta: "}, {"epsilon", "rho"}),
        (f"{SPEC}title: |", {}, {"dpcompose"}),
        (f"{SPEC}# |", {}, {"dpcompose"}),
    ],
    ids=range(15),
)
def test_words_that_may_stand_at_the_cursor(
    client: Client, text: str, some: dict[str, str], none: set[str]
) -> None:
    found = client.words(text)
    assert some.items() <= found.items() and not none & found.keys()
    assert client.words(text.replace("\n", "\r\n")) == found


def test_names_are_quoted_where_they_must_be(client: Client) -> None:
    text = HEAD + "  late trips: {from: trips, map: filter}\nmechanisms:\n  - {name: a, reads: |}"
    assert client.words(text)["late trips"] == '"late trips"'


@pytest.mark.slow
def test_a_missing_package_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from typer.testing import CliRunner

    from dpcompose.cli import app

    for name in [each for each in sys.modules if each.startswith("dpcompose.commands.editor")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pygls", None)
    monkeypatch.setitem(sys.modules, "lsprotocol", None)
    done = CliRunner().invoke(app, ["lsp"])
    assert done.exit_code == 2
    assert done.stderr == (
        "dpcompose: the language server needs pygls 2: python -m pip install 'dpcompose[lsp]'\n"
    )


@pytest.mark.slow
def test_the_process_that_analyses_is_isolated_as_the_server_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No module of the environment is imported where the server itself is isolated from it."""
    trace = tmp_path / "imported"
    text = f"import sys\nopen({str(trace)!r}, 'a').write(f'{{sys.flags.isolated}}')\n"
    (tmp_path / "sitecustomize.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    for of_python, imported in ((("-P",), "00"), (("-I",), "")):
        client = Client(tmp_path, of_python=of_python)
        client.start()
        assert client.problems(client.open(SPEC)) == []
        client.server.kill()
        client.server.communicate()
        assert (trace.read_text() if trace.exists() else "") == imported
        trace.unlink(missing_ok=True)


@pytest.mark.slow
def test_settings_that_are_named_must_be_there(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dpcompose", "lsp", "--settings", str(tmp_path / "none.toml")],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 2 and "is no file that can be read" in done.stderr
