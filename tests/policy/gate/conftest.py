"""What the attacks start from."""

from __future__ import annotations

from pathlib import Path

import pytest

from .attacks import make_repository


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The top of a repository that is attacked, and the working folder."""
    return make_repository(tmp_path, monkeypatch)
