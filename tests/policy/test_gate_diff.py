"""`diff --fail-on`: what a pull request adds, frees, moves or raises without a larger bound."""

from __future__ import annotations

import os
import re

import pytest
from command import git
from contracts import checked
from tables import tables

from .reviewer import OVERLAPPING, SPEC, changes, commit, run, write

pytestmark = pytest.mark.usefixtures("home")

TABLES = tables(__file__)

EVENTS = "increase,new-assumption,budget-raised,population-changed,removed-spec,settings-changed"


def events(old: str, new: str) -> list[str]:
    write("old.yaml", old)
    write("new.yaml", new)
    call = ("diff", "old.yaml", "new.yaml", "--fail-on", EVENTS)
    result = run(*call, "--format", "json")
    checked("diff", result.stdout)
    (found,) = changes(result)
    assert found["events"] == found["failing"]
    assert (result.exit_code == 1) is bool(found["events"])
    for form in ("text", "markdown"):
        told = run(*call, "--format", form).stdout
        assert all(event in told for event in found["events"])
    one_by_one = [event for event in EVENTS.split(",")
                  if run(*call[:3], "--fail-on", event).exit_code == 1]  # fmt: skip
    assert one_by_one == found["events"]
    assert run(*call[:3]).exit_code == 0
    return list(found["events"])


POST = "budget", "  - {name: z, post_processes: [m]}\nbudget"


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new", "found"), TABLES["each event"])
def test_each_event(old: str, new: str, found: list[str]) -> None:
    assert old in SPEC
    assert events(SPEC, SPEC.replace(old, new)) == found


def test_without_drops_nothing_is_newly_assumed() -> None:
    assert events(SPEC.replace("blocks: 2}", "blocks: 2, drops: true}"), SPEC) == []


def test_a_mechanism_less_assumes_nothing_new() -> None:
    more = SPEC.replace("budget", "  - {name: k, reads: t, mechanism: laplace, scale: 10, "
                        "sensitivity: 1}\nbudget")  # fmt: skip
    assert events(more.replace("epsilon: 3", "epsilon: 9"), SPEC) == []


def test_a_budget_against_an_adversary_is_a_raised_one() -> None:
    text = OVERLAPPING + "adversary: {hypotheses: none-vs-uniform}\n"
    old, new = text + "budget: {epsilon: 9}\n", text + "budget: {adversary: {epsilon: 0.1}}\n"
    assert events(old, new) == ["budget-raised"]


@pytest.mark.slow
def test_a_swap_among_many_is_told_though_lists_of_names_are_cut() -> None:
    lines = "".join(
        f"  - {{name: n{i}, reads: t, mechanism: laplace, scale: 100, sensitivity: 1}}\n"
        for i in range(40)
    )
    old = SPEC.replace("budget: {epsilon: 3}", f"{lines}budget: {{epsilon: 9}}")
    assert events(old, old.replace("name: n39,", "name: o39,"))[-1:] == ["new-assumption"]


def test_new_free_things_are_told_in_all_formats() -> None:
    write("old.yaml", SPEC)
    write("new.yaml", SPEC.replace(*POST))
    text = run("diff", "old.yaml", "new.yaml").stdout
    assert re.search("Newly free  ─*\n`z` is said to use released outputs alone", text)
    assert re.search(r"\+  mechanism z", text)
    told = run("diff", "old.yaml", "new.yaml", "--format", "markdown").stdout
    assert "\n**Newly free**\n\n- <code>z</code> is said to use" in told
    result = run("diff", "old.yaml", "new.yaml", "--format", "json")
    assert changes(result)[0]["free"] == ["z"]
    shown = " ".join(run("analyze", "new.yaml").stdout.split())
    assert ":10 `z` is computed from released outputs alone: of `m`" in shown


def test_documents_in_another_order_are_no_change() -> None:
    other = OVERLAPPING.replace("t: {}", "t: {}\n  u: {}")
    write("s.yaml", f"{SPEC}---\n{other}")
    commit()
    call = ("diff", "--against", "HEAD", "s.yaml", "--format", "json", "--fail-on", EVENTS)
    for specs, found in (
        ([other, SPEC], [[], []]),
        ([other, SPEC.replace("epsilon: 2}", "epsilon: 1}")], [[], ["new-assumption"]]),
        ([other.replace("epsilon: 1}", "epsilon: 2}"), SPEC], [["increase"], []]),
        ([other], [[], ["removed-spec"]]),
        # The first one gives away more, though it seems to be the second one with less.
        (
            [SPEC.replace("epsilon: 2}", "epsilon: 9}"), SPEC],
            [["increase", "new-assumption"], [], ["removed-spec"]],
        ),
    ):
        write("s.yaml", "---\n".join(specs))
        result = run(*call)
        assert [each["events"] for each in changes(result)] == found
        assert (result.exit_code == 1) is any(found)


def test_a_removed_a_moved_and_a_new_spec() -> None:
    write("strict/s.yaml", SPEC)
    write("strict/dpcompose.toml", "max-budget = {epsilon = 3}\n")
    commit()
    call = ("diff", "--against", "HEAD", ".", "--format", "json", "--fail-on", EVENTS)
    result = run(*call)
    assert (result.exit_code, [each["events"] for each in changes(result)]) == (0, [[]])
    os.makedirs("loose")
    os.rename("strict/s.yaml", "loose/s.yaml")
    git("add", "-A")
    result = run(*call)
    assert (result.exit_code, [each["events"] for each in changes(result)]) == (
        1,
        [["settings-changed"]],
    )
    os.remove("loose/s.yaml")
    git("add", "-A")
    result = run(*call)
    assert [each["events"] for each in changes(result)] == [["removed-spec"]]
    write("strict/s.yaml", SPEC)
    write("strict/n.yaml", SPEC)
    result = run(*call)
    assert [each["events"] for each in changes(result)] == [["increase", "new-assumption"], []]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("dpcompose.toml", ""),
        ("dpcompose.toml", "max-budget = {epsilon = 9}\n"),
        ("dpcompose.toml", None),
        ("strict/dpcompose.toml", "root = true\n"),
        ("strict/dpcompose.toml", "severity = {DPC204 = 'off'}\n"),
        ("pyproject.toml", "[tool.dpcompose]\nadvise = false\n"),
        ("dpcompose.toml", "max-budget = {epsilon = 3}\n[[overrides]]\npaths = ['strict/*']\n"
         "max-budget = {epsilon = 9}\n"),
    ],
)  # fmt: skip
def test_settings_that_change_are_told(path: str, text: str | None) -> None:
    write("dpcompose.toml", "max-budget = {epsilon = 3}\n")
    write("strict/s.yaml", SPEC)
    commit()
    if text is None:
        os.remove(path)
    else:
        write(path, text)
    call = ("diff", "--against", "HEAD", "strict/s.yaml")
    result = run(*call, "--format", "json")
    (found,) = changes(result)
    assert (result.exit_code, found["events"]) == (0, ["settings-changed"])
    assert run(*call, "--fail-on", "settings-changed").exit_code == 1
    assert re.search("\nSettings  ─+\n`", run(*call).stdout)
    assert "\n**Settings**\n\n- " in run(*call, "--format", "markdown").stdout
    # None of them counts for what they come with, and all of them for the next change.
    alone = "--isolated", "--settings-from", "HEAD"
    assert changes(run(*call, "--format", "json", *alone))[0]["events"] == ["settings-changed"]
    named = run(*call, "--settings-from", "HEAD", "--fail-on", "increase")
    assert named.exit_code == 0


CI = ("--settings-from", "base", "--isolated", "--strict", "--fail-on", EVENTS)


def settings_changed(*files: str) -> tuple[int, list[str]]:
    """The exit code of the documented workflow, and what it says of settings."""
    git("add", "-A")
    result = run("diff", "--against", "base", *CI, "--format", "json", "--", *files)
    found = changes(result)
    assert {event for each in found for event in each["events"]} <= {"settings-changed"}
    return int(result.exit_code), [says for each in found for says in each["settings"]]


@pytest.fixture
def base() -> None:
    write("dpcompose.toml", "forbid = ['drops']\n")
    write("specs/strict/dpcompose.toml", "max-budget = {epsilon = 3}\n")
    write("specs/strict/a.yaml", SPEC)
    write("specs/loose/b.yaml", SPEC + "title: another\n")
    commit()
    git("branch", "base")


LOST = '`max-budget` of the settings is not set, and was {epsilon = "3"}'


def test_the_documented_workflow_is_green_where_nothing_changed(base: None) -> None:
    assert settings_changed("specs") == (0, [])


@pytest.mark.parametrize("where", ["specs/loose/a.yaml", "specs/loose/deep/c.yml"])
def test_a_spec_moved_out_of_a_stricter_folder_is_told(base: None, where: str) -> None:
    os.makedirs(os.path.dirname(where), exist_ok=True)
    git("mv", "specs/strict/a.yaml", where.replace(".yml", ".yaml"))
    assert settings_changed("specs") == (1, [LOST])


def test_a_spec_moved_out_of_what_is_compared_is_removed(base: None) -> None:
    """Nobody would look at it there. The settings of its new place are told too."""
    os.mkdir("other")
    git("mv", "specs/strict/a.yaml", "other/a.yaml")
    call = ("diff", "--against", "base", *CI, "--format", "json", "--")
    (moved,) = (each for each in changes(run(*call, "specs")) if each["events"])
    assert (moved["events"], moved["settings"]) == (["removed-spec", "settings-changed"], [LOST])
    assert run(*call, "specs").exit_code == 1
    told = [each["events"] for each in changes(run(*call, "specs", "other"))]
    assert sorted(told) == [[], ["settings-changed"]]


def test_a_spec_moved_together_with_its_settings_is_not(base: None) -> None:
    git("mv", "specs/strict", "specs/moved")
    assert settings_changed("specs") == (0, [])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"specs/strict/dpcompose.toml": None}, [LOST]),
        ({"specs/strict/dpcompose.toml": None, "specs/strict/settings.toml": "x = 1\n"}, [LOST]),
        (  # the same in another file, or nearer
            {
                "specs/strict/dpcompose.toml": None,
                "specs/strict/pyproject.toml": "[tool.dpcompose]\nmax-budget = {epsilon = 3}\n",
            },
            [],
        ),
        ({"specs/strict/dpcompose.toml": "max-budget = {epsilon = '3.0'} # x\n"}, []),
        (
            {"specs/strict/pyproject.toml": "[tool.dpcompose]\nsite = 'https://example.org'\n"},
            ['`site` of the settings is "https://example.org/", and was not set'],
        ),
        (
            {"specs/strict/pyproject.toml": "[tool.dpcompose]\nroot = true\n"},
            ['`forbid` of the settings is not set, and was ["drops"]'],
        ),
        ({"specs/strict/dpcompose.toml": "x = ["}, None),
    ],
)
def test_changed_settings_are_told_where_none_of_them_counts(
    base: None, change: dict[str, str | None], says: list[str] | None
) -> None:
    for path, text in change.items():
        if text is None:
            os.remove(path)
        else:
            write(path, text)
    code, found = settings_changed("specs")
    if says is None:
        assert code == 1 and found[0].startswith("the settings cannot be read: specs/strict/dpc")
    else:
        assert (code, found) == (1 if says else 0, says)


STRICT = """\
max-budget = {epsilon = 4}
require-relation = ["unbounded", "bounded"]
require-delta = 1e-6
require-because = ["partition.value"]
populations = ["riders-2026", "riders-2027"]
forbid = ["drops"]
severity = {DPC204 = "warning", DPC202 = "off"}
"""


@pytest.mark.parametrize(
    ("old", "new", "stricter"),
    [
        ("epsilon = 4}", "epsilon = 3}", True),
        ("epsilon = 4}", "epsilon = 5}", False),
        ("{epsilon = 4}", "{rho = 4}", False),
        ("1e-6", "1e-7", True),
        ("1e-6", "1e-5", False),
        ('"partition.value"', '"partition.value", "map.*"', True),
        ('"partition.value"', '"map.*"', False),
        ('"drops"', '"drops", "keeps"', True),
        ('"drops"', '"keeps"', False),
        ("forbid =", "require-population = true\nfail-on = 'note'\nforbid =", True),
        # Where there was no budget, `check` and `total` fail; a list of names lets a ledger open.
        ("forbid =", "budget = {epsilon = 1}\nforbid =", False),
        ("forbid =", "total-budget = {epsilon = 8}\nforbid =", False),
        ("max-budget = {epsilon = 4}", "", False),
        # Whether fewer names are a shorter list of the same, nobody needs to work out.
        ('"riders-2026", "riders-2027"', '"riders-2026"', False),
        ('"riders-2026", "riders-2027"', '"riders-2026", "riders-2027", "riders-2028"', False),
        ('["unbounded", "bounded"]', '["unbounded", "bounded", "user"]', False),
        ('"warning"', '"error"', True),
        ('"warning"', '"note"', False),
        ('DPC202 = "off"', 'DPC203 = "error"', True),
        ('DPC202 = "off"', 'DPC202 = "off", DPC203 = "off"', False),
        # One that is stricter does not hide one that is not.
        ("epsilon = 4}", 'epsilon = 3}\nfail-on = "note"\nsite = "https://example.org"', False),
    ],
)
def test_settings_that_only_get_stricter_are_told_and_no_event(
    old: str, new: str, stricter: bool
) -> None:
    write("dpcompose.toml", STRICT)
    write("s.yaml", SPEC)
    commit()
    assert old in STRICT
    write("dpcompose.toml", STRICT.replace(old, new))
    call = ("diff", "--against", "HEAD", "s.yaml", "--isolated", "--fail-on", "settings-changed")
    result = run(*call, "--format", "json")
    (found,) = changes(result)
    assert (found["events"], result.exit_code) == (
        ([], 0) if stricter else (["settings-changed"], 1)
    )
    told = [each.endswith(": stricter") for each in found["settings"]]
    assert told and all(told) is stricter
    assert "`site`" not in new or sum(told) == 2


def test_a_first_list_of_populations_is_an_event() -> None:
    write("dpcompose.toml", "forbid = ['drops']\n")
    write("s.yaml", SPEC)
    commit()
    call = ("diff", "--against", "HEAD", "s.yaml", "--format", "json")
    for more in ("populations = ['riders-2026', 'others']", "max-budget = {epsilon = 1000}"):
        write("dpcompose.toml", f"forbid = ['drops']\n{more}\n")
        (found,) = changes(run(*call))
        assert found["events"] == ["settings-changed"]


def test_what_asks_and_what_lowers_are_not_to_be_in_one_file() -> None:
    """A file lowers no finding that another one asks for, but those that it asks for itself."""
    asks, lowers = "forbid = ['drops']\n", "severity = {DPC313 = 'note'}\n"
    write("dpcompose.toml", asks)
    write("specs/dpcompose.toml", lowers)
    write("specs/s.yaml", SPEC.replace("blocks: 2}", "blocks: 2, drops: true}"))
    commit()
    check, call = ("check", "specs"), ("diff", "--against", "HEAD", "specs")
    assert run(*check).exit_code == 1
    write("specs/dpcompose.toml", asks + lowers)  # the other one still asks
    assert run(*check).exit_code == 1
    (found,) = changes(run(*call, "--format", "json"))
    assert (found["events"], found["settings"]) == ([], [])
    write("dpcompose.toml", "")
    assert run(*check).exit_code == 0
    (found,) = changes(run(*call, "--format", "json"))
    assert found["events"] == ["settings-changed"]
    (told,) = found["settings"]
    assert told.startswith("DPC313 may be of a lower level than before, or ignored")
    assert run(*call, "--fail-on", "settings-changed").exit_code == 1


def test_a_new_spec_under_an_override_of_the_same_change_is_told() -> None:
    write("dpcompose.toml", "max-budget = {epsilon = 3}\n")
    write("specs/s.yaml", SPEC)
    commit()
    override = "[[overrides]]\npaths = ['specs/later/**']\nmax-budget = {epsilon = 9}\n"
    write("dpcompose.toml", f"max-budget = {{epsilon = 3}}\n{override}")
    call = ("diff", "--against", "HEAD", "specs", "--settings-from", "HEAD", "--isolated")
    assert [each["settings"] for each in changes(run(*call, "--format", "json"))] == [[]]
    write("specs/later/n.yaml", SPEC.replace("epsilon: 3}", "epsilon: 9}"))
    new, old = changes(run(*call, "--format", "json"))
    assert "settings-changed" in new["events"] and "settings-changed" not in old["events"]
    says = '`max-budget` of the settings is {epsilon = "9"}, and was {epsilon = "3"}'
    assert new["settings"] == [says]
    assert run(*call, "--fail-on", "settings-changed").exit_code == 1


def test_settings_above_the_repository_are_none_of_the_change(base: None) -> None:
    """They are those of the machine."""
    os.rename(".git", ".git-moved")
    os.rename(".git-moved", "specs/.git")
    os.remove("dpcompose.toml")
    write("dpcompose.toml", "fail-on = 'note'\n")
    os.chdir("specs")
    git("add", "-A")
    git("commit", "-q", "-m", "moved")
    git("branch", "-f", "base")
    assert settings_changed(".") == (0, [])


def test_comments_and_the_order_of_settings_change_nothing() -> None:
    write("dpcompose.toml", "forbid = ['drops']\nfail-on = 'warning'\n")
    write("s.yaml", SPEC)
    commit()
    write("dpcompose.toml", "# more\nfail-on = 'warning'\nforbid = ['drops']\n")
    result = run("diff", "--against", "HEAD", "s.yaml", "--format", "json")
    assert changes(result)[0]["events"] == []


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (["increse"], "--fail-on increse: it is none of them; did you mean increase? possible: "),
        (["increase,"], "--fail-on : it is none of them; possible: "),
        ([""], "--fail-on : it is none of them; possible: increase, new-assumption, "),
    ],
)
def test_what_is_no_event_is_a_bad_call(names: list[str], says: str) -> None:
    write("s.yaml", SPEC)
    flags = [each for name in names for each in ("--fail-on", name)]
    result = run("diff", "s.yaml", "s.yaml", *flags)
    assert result.exit_code == 2 and says in result.stderr


def test_a_level_fails_too_and_the_old_flag_means_increase() -> None:
    write("old.yaml", SPEC)
    write("new.yaml", SPEC.replace("epsilon: 2}", "epsilon: 2.5}"))
    assert run("diff", "old.yaml", "new.yaml", "--fail-on-increase").exit_code == 1
    assert run("diff", "new.yaml", "old.yaml", "--fail-on-increase").exit_code == 0
    noted = SPEC.replace("reads: p.*", "reads: t")  # a note: no mechanism reads any block of p
    write("new.yaml", noted)
    assert run("diff", "old.yaml", "new.yaml").exit_code == 0
    assert run("diff", "old.yaml", "new.yaml", "--fail-on", "note").exit_code == 1
