"""dpcompose: the tightest certified differential-privacy bound of a pipeline, and why.

    report = dpcompose.analyze(Path("spec.yaml").read_bytes(), "spec.yaml")

`analyze` never raises for a bad spec: the report's status is then `invalid`, and its findings say
what is wrong. `check` is the same against a budget. Nothing is imported before it is used.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpcompose.analyze import analyze, check
    from dpcompose.report import Report

    __version__: str

__all__ = ["Report", "__version__", "analyze", "check"]


class _Package(ModuleType):
    """The package: its public names load on first use.

    Properties, since the function `analyze` and the module that holds it share their name: the
    import system would otherwise put the module in the place of the function.
    """

    @property
    def analyze(self) -> Any:
        from dpcompose.analyze import analyze

        return analyze

    @analyze.setter
    def analyze(self, module: ModuleType) -> None:
        """Ignore the module, which stays reachable by its full name."""

    @property
    def check(self) -> Any:
        from dpcompose.analyze import check

        return check

    @property
    def Report(self) -> Any:
        from dpcompose.report import Report

        return Report

    @property
    def __version__(self) -> str:
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("dpcompose")
        except PackageNotFoundError:  # a source tree that was never installed
            return "0+unknown"


sys.modules[__name__].__class__ = _Package
