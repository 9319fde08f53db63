"""dpcompose: the tightest certified differential-privacy bound of a pipeline, and why.

    report = dpcompose.analyze_file("spec.yaml")
    report.epsilon(delta=1e-6)

`analyze` takes the text of a spec, `analyze_file` its path. Neither raises for a bad spec: the
report's status is then `invalid`, and its findings say what is wrong. `check` is the same against
a budget; `diff`, `total` and `fit` are the commands of these names. A report shows itself in a
terminal (`rich.print`), in a notebook, and in short by `repr`. Nothing is imported before it is
used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpcompose.functions import diff, example, fit, total
    from dpcompose.pipeline import analyze, analyze_file, check
    from dpcompose.report import Report

    __version__: str

__all__ = [
    "Report",
    "__version__",
    "analyze",
    "analyze_file",
    "check",
    "diff",
    "example",
    "fit",
    "total",
]


def __dir__() -> list[str]:
    return sorted(__all__)


def _views() -> Any:
    from dpcompose.render import views

    return views


def __getattr__(name: str) -> Any:
    match name:
        case "analyze" | "analyze_file" | "check":
            from dpcompose import pipeline, report

            report.load_views = _views
            return getattr(pipeline, name)
        case "diff" | "example" | "fit" | "total":
            from dpcompose import functions

            return getattr(functions, name)
        case "Report":
            from dpcompose.report import Report

            return Report
        case "__version__":
            from dpcompose.places import version

            return version()
    raise AttributeError(f"module 'dpcompose' has no attribute {name!r}")
