"""Policy that a pull request cannot loosen: each test does what somebody did to get past it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from command import git
from tables import tables

from dpcompose.policy.audit import says_something
from dpcompose.policy.settings import FIELDS

from .reviewer import OVERLAPPING, SPEC, codes, commit, run, write

TABLES = tables(__file__)

POLICY = """\
max-budget = {epsilon = 2.5}
require-relation = ["unbounded", "user"]
require-because = ["partition.value"]
forbid = ["drops"]
"""
CHANGES = """\
dpcompose: 1
title: what is learnt of a
protect: {relation: bounded, changes: [a]}
datasets: {t: {columns: [a, b]}}
mechanisms: [{name: m, reads: t, notion: pure, epsilon: 2}]
budget: {epsilon: 3}
"""
REASON = "because: a row has one value"


@pytest.fixture(autouse=True)
def home(home: Path) -> Path:
    write("strict/s.yaml", SPEC.replace("blocks: 2}", f"blocks: 2, {REASON}}}"))
    return home


def shown(*arguments: str, **environment: str) -> list[str]:
    result = run("check", "strict/s.yaml", "--show-settings", *arguments, **environment)
    return [" ".join(line.split()) for line in result.stdout.splitlines()[1:]]


# --- layers --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "nearer",
    [
        "",  # an empty file reset everything
        "max-budget = {epsilon = 100}\nrequire-relation = []\nforbid = []\nrequire-because = []",
        "severity = {DPC310 = 'note', DPC312 = 'note', DPC313 = 'note', DPC314 = 'note'}",
        "max-budget = {rho = 100}",  # another unit
        "max-budget = {epsilon = 100, delta = 0.5}",
        "[[overrides]]\npaths = ['**']\nmax-budget = {epsilon = 9}\nforbid = []",
    ],
)
@pytest.mark.parametrize("name", ["strict/dpcompose.toml", "strict/pyproject.toml"])
def test_a_nearer_settings_file_takes_nothing_back(nearer: str, name: str) -> None:
    write("dpcompose.toml", POLICY)
    text = "dpcompose: 1\nprotect: bounded\ndatasets:\n  t: {}\n" + (
        "  p: {from: t, partition: {by: value, blocks: 2, drops: true}}\n"
        "mechanisms: [{name: m, reads: p.*, notion: pure, epsilon: 3, relation: unbounded}]\n"
        "budget: {epsilon: 99}\n"
    )
    write("strict/s.yaml", text)
    assert codes("check", "strict/s.yaml")[0] == 1
    if name.endswith("pyproject.toml"):
        nearer = "[tool.dpcompose]\n" + nearer.replace("[[over", "[[tool.dpcompose.over")
    write(name, nearer)
    code, found = codes("check", "strict/s.yaml")
    assert code == 1 and {"DPC310", "DPC312", "DPC313", "DPC314"} <= set(found)


def test_both_settings_files_of_one_folder_count() -> None:
    write("pyproject.toml", '[tool.dpcompose]\nforbid = ["notion.pure"]\n')
    write("dpcompose.toml", 'forbid = ["partition.value"]\n')
    assert codes("check", "strict/s.yaml") == (1, ["DPC313", "DPC313"])
    write("dpcompose.toml", "")
    assert codes("check", "strict/s.yaml") == (1, ["DPC313"])


def test_root_stops_the_search_and_nothing_that_is_named() -> None:
    write("dpcompose.toml", 'forbid = ["notion.pure"]\n')
    write("strict/dpcompose.toml", "root = true\n")
    assert codes("check", "strict/s.yaml")[0] == 0
    assert codes("check", "strict/s.yaml", "--settings", "dpcompose.toml") == (1, ["DPC313"])
    named = ("--settings", "dpcompose.toml", "--isolated")
    assert codes("check", "strict/s.yaml", *named) == (1, ["DPC313"])
    for text, says in (("root = 1", "true or false is due"), ("root = 'yes'", "true or false")):
        write("strict/dpcompose.toml", text)
        result = run("check", "strict/s.yaml")
        assert result.exit_code == 2 and f"strict/dpcompose.toml: root: {says}" in result.stderr
    write("dpcompose.toml", "[[overrides]]\npaths = ['a']\nroot = true")
    assert "unknown key `root`" in run("check", "strict/s.yaml", "--isolated", "--settings",
                                       "dpcompose.toml").stderr  # fmt: skip


def test_every_key_says_how_layers_merge_and_the_document_says_the_same() -> None:
    document = Path(__file__).parents[2] / "dpcompose" / "policy" / "IN_CI.md"
    told = document.read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| [^|]* \| ([^|]*) \|$", told, re.MULTILINE))
    assert {key: each.says for key, each in FIELDS.items()} == {key: rows[key] for key in FIELDS}


def test_what_counts_of_every_key_and_who_says_so() -> None:
    write(
        "dpcompose.toml",
        "budget = {epsilon = 2, delta = 1e-6}\nmax-budget = {rho = 1}\ntotal-budget = {epsilon = 9}"
        '\nrequire-relation = ["unbounded", "user"]\nrequire-delta = 1e-6\nfail-on = "warning"\n'
        'require-because = ["map.*"]\nforbid = ["drops"]\npopulations = ["riders-2026", "x"]\n'
        "advise = false\n",
    )
    write(
        "strict/dpcompose.toml",
        "budget = {epsilon = 1}\nmax-budget = {rho = 2}\ntotal-budget = {mu = 1}\n"
        'require-relation = ["user"]\nrequire-delta = 1e-3\nfail-on = "error"\n'
        'require-because = ["map.*", "root"]\nforbid = ["keeps", "drops"]\n'
        'populations = ["riders-2026"]\nrequire-population = true\nadvise = true\n'
        'severity = {DPC204 = "off"}\n',
    )
    assert shown() == [
        'budget = {epsilon = "1"} # strict/dpcompose.toml',
        'max-budget = {rho = "1"} # dpcompose.toml',
        'total-budget = {mu = "1"} # strict/dpcompose.toml',
        'total-budget = {epsilon = "9"} # dpcompose.toml',
        'require-relation = ["user"] # strict/dpcompose.toml',
        'require-relation = ["unbounded", "user"] # dpcompose.toml',
        'require-delta = "1e-6" # dpcompose.toml',
        'require-because = ["map.*", "root"] # strict/dpcompose.toml',
        "require-population = true # strict/dpcompose.toml",
        'populations = ["riders-2026"] # strict/dpcompose.toml',
        'populations = ["riders-2026", "x"] # dpcompose.toml',
        'forbid = ["keeps", "drops"] # strict/dpcompose.toml',
        "advise = false # dpcompose.toml",
        'site = "" # default',
        'fail-on = "warning" # dpcompose.toml',
        'severity = {DPC204 = "off"} # strict/dpcompose.toml',
    ]
    assert 'fail-on = "note" # --fail-on' in shown("--fail-on", "note")
    set_by_variable = shown(DPCOMPOSE_MAX_BUDGET="epsilon=1")
    assert 'max-budget = {epsilon = "1"} # the environment' in set_by_variable


def test_relations_that_no_list_has_together_leave_none() -> None:
    write("dpcompose.toml", 'require-relation = "unbounded"\n')
    write("strict/dpcompose.toml", 'require-relation = "bounded"\n')
    assert codes("check", "strict/s.yaml") == (1, ["DPC310"])


# --- levels and comments -------------------------------------------------------------------------

NOTED = "DPC204"  # `north` adds nothing in the worst case: a note
QUIET = """\
dpcompose: 1
protect: unbounded
datasets: {t: {}, p: {from: t, partition: {by: value, blocks: [a, b]}}}
mechanisms:
  - {name: m, reads: p.a, notion: pure, epsilon: 1}
  - {name: n, reads: p.b, notion: pure, epsilon: 2}
"""
COMMENT = f"  # dpcompose: ignore[{NOTED}] it is a small one\n  - {{name: m"


@pytest.mark.slow
@pytest.mark.parametrize("nearer", [f"severity = {{{NOTED} = 'off'}}", "fail-on = 'error'", ""])
@pytest.mark.parametrize("comment", [False, True])
@pytest.mark.parametrize(
    ("flags", "variables", "policy"),
    [
        (["--fail-on", "note"], {}, ""),
        ([], {"DPCOMPOSE_FAIL_ON": "note"}, ""),
        ([], {"DPCOMPOSE_SEVERITY": f"{NOTED}=error"}, ""),
        ([], {}, "fail-on = 'note'"),
        ([], {}, f"severity = {{{NOTED} = 'error'}}"),
    ],
)
def test_nothing_silences_what_another_layer_fails_on(
    nearer: str, comment: bool, flags: list[str], variables: dict[str, str], policy: str
) -> None:
    write("strict/s.yaml", QUIET.replace("  - {name: m", COMMENT) if comment else QUIET)
    write("dpcompose.toml", policy)
    write("strict/dpcompose.toml", nearer)
    result = run("analyze", "strict/s.yaml", "--format", "concise", *flags, **variables)
    assert result.exit_code == 1 and f"[{NOTED}]" in result.stdout
    assert (f"{NOTED} cannot be ignored here: " in result.stdout) is comment


def test_a_comment_ignores_what_no_settings_fail_on() -> None:
    write("strict/s.yaml", QUIET.replace("  - {name: m", COMMENT))
    for policy in ("", "fail-on = 'warning'", "forbid = ['drops']", "fail-on = 'error'"):
        write("dpcompose.toml", policy)
        result = run("analyze", "strict/s.yaml", "--format", "concise")
        assert result.exit_code == 0 and NOTED not in result.stdout


def test_one_file_can_lower_what_it_asks_for_itself() -> None:
    write("strict/s.yaml", QUIET)
    text = f"fail-on = 'note'\nseverity = {{{NOTED} = 'off', DPC313 = 'note'}}\nforbid = ['root']"
    write("dpcompose.toml", text)
    assert "[DPC313]" in run("analyze", "strict/s.yaml", "--format", "concise").stdout
    write("dpcompose.toml", text.replace("'note'\nsev", "'warning'\nsev"))
    assert codes("analyze", "strict/s.yaml") == (0, [])
    assert codes("analyze", "strict/s.yaml", DPCOMPOSE_FORBID="root") == (1, ["DPC313"])


# --- named settings, and those of a revision -----------------------------------------------------


@pytest.mark.parametrize("command", ["analyze", "check"])
def test_settings_that_are_named_hold_beside_all_others(command: str) -> None:
    write("policy.toml", "max-budget = {epsilon = 1}\n[[overrides]]\npaths = ['other/**']\n"
          "max-budget = {epsilon = 5}\n")  # fmt: skip
    write("strict/dpcompose.toml", "max-budget = {epsilon = 9}\nseverity = {DPC314 = 'note'}\n")
    assert codes(command, "strict/s.yaml") == (0, [])
    assert codes(command, "strict/s.yaml", "--settings", "policy.toml") == (1, ["DPC314"])
    write("elsewhere/pyproject.toml", "[tool.dpcompose]\nforbid = ['root']\n")
    both = ("--settings", "policy.toml", "--settings", "elsewhere/pyproject.toml")
    assert set(codes(command, "strict/s.yaml", *both)[1]) == {"DPC313", "DPC314"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text", "says"),
    TABLES["named settings that cannot be read are a bad call"],
)
def test_named_settings_that_cannot_be_read_are_a_bad_call(
    name: str, text: str | None, says: str
) -> None:
    if text is not None:
        write(name, text)
    for command in ("analyze", "check", "total", "fit", "savings"):
        result = run(command, "strict/s.yaml", "--isolated", "--settings", name)
        assert (result.exit_code, result.stdout) == (2, "") and says in result.stderr


def test_settings_of_the_base_hold_whatever_a_pull_request_does_to_them() -> None:
    write("dpcompose.toml", "max-budget = {epsilon = 1}\n")
    write("strict/dpcompose.toml", "forbid = ['partition.value']\n")
    commit()
    wanted = (1, ["DPC313", "DPC314"])

    def found(*arguments: str) -> tuple[int, list[str]]:
        code, errors = codes("check", *arguments, "--settings-from", "HEAD")
        return code, sorted(errors)

    assert found("strict/s.yaml") == wanted
    for path in ("dpcompose.toml", "strict/dpcompose.toml"):
        write(path, "severity = {DPC313 = 'note', DPC314 = 'note'}\nroot = true\n")
    assert codes("check", "strict/s.yaml") == (0, [])
    assert found("strict/s.yaml") == wanted
    for path in ("dpcompose.toml", "strict/dpcompose.toml"):
        os.remove(path)
    assert found("strict/s.yaml") == wanted
    assert found("strict/s.yaml", "--isolated") == wanted
    # The folder becomes a link to one that the base knows nothing of.
    os.rename("strict", "moved")
    os.symlink("moved", "strict")
    assert found("strict/s.yaml") == wanted
    # What is moved is under the settings of its new place: `diff` tells that they are others.
    assert found("moved/s.yaml") == (1, ["DPC314"])


def test_a_link_to_a_spec_is_under_the_settings_of_both_of_its_places() -> None:
    write("strict/dpcompose.toml", "forbid = ['partition.value']\n")
    write("loose/dpcompose.toml", "root = true\n")
    os.symlink("../strict/s.yaml", "loose/s.yaml")
    assert codes("check", "loose/s.yaml") == (1, ["DPC313"])


@pytest.mark.slow
@pytest.mark.parametrize("revision", ["", " ", "--upload-pack=x", "no-such-revision", "HEAD\0"])
def test_a_revision_that_is_none_is_a_bad_call(revision: str) -> None:
    commit()
    for command in ("analyze", "check", "total", "fit", "savings"):
        result = run(command, "strict/s.yaml", "--settings-from", revision)
        assert (result.exit_code, result.stdout) == (2, "")


def test_settings_of_a_revision_need_a_repository() -> None:
    result = run("check", "strict/s.yaml", "--settings-from", "HEAD")
    assert (result.exit_code, result.stdout) == (2, "")


def test_bad_settings_of_the_base_are_no_missing_ones() -> None:
    write("dpcompose.toml", "zzz = 1\n")
    commit()
    os.remove("dpcompose.toml")
    result = run("check", "strict/s.yaml", "--settings-from", "HEAD")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "dpcompose.toml@HEAD: unknown key `zzz`" in result.stderr


def test_a_settings_file_that_links_elsewhere_is_refused_and_tells_nothing() -> None:
    write("secret.conf", "password = 1\n")
    os.symlink("../secret.conf", "strict/dpcompose.toml")
    result = run("check", "strict/s.yaml")
    assert result.exit_code == 2 and "password" not in result.output
    os.remove("strict/dpcompose.toml")
    os.mkfifo("strict/dpcompose.toml")
    assert run("check", "strict/s.yaml").exit_code == 2
    os.remove("strict/dpcompose.toml")
    os.symlink("missing", "strict/pyproject.toml")
    assert run("check", "strict/s.yaml").exit_code == 2


# --- ceilings ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("budget", "ceiling", "fine"),
    [
        ("budget: {epsilon: 99}", "{epsilon = 2.1}", True),
        ("budget: {epsilon: 99}", "{epsilon = 2.09}", False),
        ("", "{epsilon = 2.09}", False),
        ("budget: {rho: 99}", "{epsilon = 2}", False),
        ("budget: {epsilon: 99, delta: 0.9}", "{epsilon = 2, delta = 1e-9}", False),
        ("budget: {epsilon: 99}", "{rho = 1.65}", True),
        ("budget: {epsilon: 99}", "{rho = 1.5}", False),
    ],
)
def test_a_ceiling_holds_whatever_budget_a_spec_has(budget: str, ceiling: str, fine: bool) -> None:
    write("s.yaml", SPEC.replace("budget: {epsilon: 3}", budget))
    write("dpcompose.toml", f"max-budget = {ceiling}\n")
    for command in ("check", "analyze"):
        assert codes(command, "s.yaml") == ((0, []) if fine else (1, ["DPC314"]))
    assert codes("check", "s.yaml", "--epsilon", "99") == ((0, []) if fine else (1, ["DPC314"]))


def test_every_document_of_a_stream_is_under_the_ceiling() -> None:
    write("s.yaml", SPEC.replace("epsilon: 2}", "epsilon: 0.1}") + "---\n" + SPEC)
    write("dpcompose.toml", "max-budget = {epsilon = 1}\n")
    assert codes("check", "s.yaml") == (1, ["DPC314"])


def test_a_bound_that_cannot_be_compared_is_above_the_ceiling() -> None:
    write("s.yaml", SPEC.replace("notion: pure, epsilon: 2}", "notion: zcdp, rho: 0.1}")
          .replace("mechanism: laplace, scale: 10, sensitivity: 1", "notion: zcdp, rho: 0.1")
          .replace("{epsilon: 3}", "{rho: 9}"))  # fmt: skip
    write("dpcompose.toml", "max-budget = {epsilon = 100}\n")
    result = run("check", "s.yaml", "--format", "concise")
    assert result.exit_code == 1
    assert "the bound cannot be compared with the ceiling ε = 100: " in result.stdout
    write("dpcompose.toml", "max-budget = {epsilon = 100, delta = 1e-6}\n")
    assert codes("check", "s.yaml") == (0, [])


@pytest.mark.parametrize("policy", ["max-budget = {epsilon = 2}", "budget = {epsilon = 2}"])
def test_no_figure_against_an_adversary_stands_for_the_bound(policy: str) -> None:
    write(
        "s.yaml",
        OVERLAPPING + "adversary: {hypotheses: none-vs-uniform}\n"
        "budget: {adversary: {epsilon: 2.9}}\n",
    )
    assert codes("check", "s.yaml")[0] == 0
    write("dpcompose.toml", policy)
    assert codes("check", "s.yaml")[0] == 1  # the bound is 3
    write("dpcompose.toml", policy.replace("= 2", "= 3"))
    assert codes("check", "s.yaml")[0] == 0
    write("s.yaml", Path("s.yaml").read_text().replace("2.9", "0.1"))
    assert codes("check", "s.yaml")[0] == 1  # the spec's own promise still counts


UNIFORM = "{blocks: [a]}, {blocks: [b]}, {blocks: [c]}"


@pytest.mark.parametrize(
    ("pair", "same"),
    TABLES["equal hypotheses are refused however they are written"],
)
def test_equal_hypotheses_are_refused_however_they_are_written(pair: str, same: bool) -> None:
    write("s.yaml", f"{OVERLAPPING}adversary: {{hypotheses: {pair}}}\n")
    code, found = codes("analyze", "s.yaml")
    assert (code, found) == ((3, ["DPC166"]) if same else (0, []))


@pytest.mark.parametrize("count", ["5000", "1000000000"])
@pytest.mark.parametrize(
    ("pair", "same"),
    [("[uniform, {at_least: 1}]", True), ("[none, uniform]", False),
     ("[{at_most: 2}, [{at_most: 2, weight: 1/3}, {at_most: 2, weight: 2/3}]]", True)],
)  # fmt: skip
def test_hypotheses_about_many_blocks_are_compared_at_once(
    count: str, pair: str, same: bool
) -> None:
    text = OVERLAPPING.replace("[a, b, c]", count).replace("max_blocks: 3", f"max_blocks: {count}")
    write("s.yaml", f"{text}adversary: {{hypotheses: {pair}}}\n")
    assert ("DPC166" in codes("analyze", "s.yaml")[1]) is same


# --- what is forbidden, and reasons --------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "text", "place"),
    [
        ("adversary", OVERLAPPING + "adversary: {hypotheses: none-vs-uniform}\n", "8:1"),
        ("stated_on", SPEC.replace("epsilon: 2}", "epsilon: 2, stated_on: t}"), "8:51"),
        ("stated_on", SPEC.replace("notion: pure, epsilon: 2}", "guarantees: [{notion: pure, "
         "epsilon: 2, \"stated\\u005fon\": t}]}"), "8:65"),
        ("count", SPEC.replace("epsilon: 2}", "epsilon: 2, count: 3}"), "8:51"),
        ("sensitivity", SPEC, "9:58"),
        ("post_processes", SPEC.replace("budget", "  - {name: z, post_processes: [m]}\nbudget"),
         "10:15"),
        ("post-processing", SPEC.replace("budget", "  - {name: z, post_processes: [m]}\nbudget"),
         "10:5"),
        ("keeps", SPEC.replace("t: {}", "t: {}\n  r: {from: t, map: {kind: row, keeps: [a]}}"),
         "6:33"),
        ("keeps", CHANGES, "3:1"),
        ("changes", CHANGES, "3:1"),
        ("uses", SPEC.replace("t: {}", "t: {}\n  r: {from: t, map: {kind: row, uses: []}}"),
         "6:33"),
    ],
)  # fmt: skip
def test_what_can_be_forbidden(kind: str, text: str, place: str) -> None:
    write("s.yaml", text)
    assert codes("analyze", "s.yaml")[0] == 0
    result = run("analyze", "s.yaml", "--format", "concise", DPCOMPOSE_FORBID=kind)
    assert result.exit_code == 1
    assert f"s.yaml:{place}: " in result.stdout and f"is forbidden: {kind}" in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "reason",
    [".", "?", "TODO", "n/a", "N/A", "none", "tbd later", "because", "todo todo todo", "x y z",
     "aaa bbb ccc", "1 2 3 4 5", "- - - -", "fixme: todo, tbd", "see #12", "ok", "🙂 🙂 🙂",
     "a b c d e", "yes yes yes yes", "ＴＯＤＯ ＴＢＤ ＦＩＸＭＥ"],
)  # fmt: skip
def test_a_reason_is_made_of_words(reason: str) -> None:
    assert not says_something(reason)
    write("dpcompose.toml", "require-because = ['partition.value']\n")
    text = Path("strict/s.yaml").read_text(encoding="utf-8")
    assert codes("check", "strict/s.yaml") == (0, [])
    write("strict/s.yaml", text.replace(REASON, f"because: '{reason}'"))
    assert codes("check", "strict/s.yaml") == (1, ["DPC312"])


@pytest.mark.parametrize(
    "reason",
    ["a row has one value", "Jede Zeile hat einen Wert", "каждая строка имеет значение",
     "每一行只有一个值", "proved in appendix B"],
)  # fmt: skip
def test_a_reason_can_be_in_any_language(reason: str) -> None:
    assert says_something(reason)


def test_git_is_asked_for_settings_without_hooks_or_filters(home: Path) -> None:
    """A clean filter that the pull request names would run a command when files are compared."""
    write("dpcompose.toml", "max-budget = {epsilon = 1}\n")
    commit()
    git("config", "filter.bad.smudge", "touch ran; cat")
    git("config", "filter.bad.clean", "touch ran; cat")
    git("config", "core.fsmonitor", "touch ran; true")
    write(".gitattributes", "* filter=bad\n")
    assert codes("check", "strict/s.yaml", "--settings-from", "HEAD") == (1, ["DPC314"])
    assert not (home / "ran").exists()
