"""The repository that is attacked."""

from __future__ import annotations

from pathlib import Path

import pytest
from attacks import make_repository


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The top of a repository, which is the working folder; see `make_repository`."""
    return make_repository(tmp_path, monkeypatch)
