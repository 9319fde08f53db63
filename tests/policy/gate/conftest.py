"""What the attacks start from."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .attacks import alone, make_repository


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository of which every attack has a copy."""
    root = tmp_path_factory.mktemp("attacked") / "repository"
    with pytest.MonkeyPatch.context() as monkeypatch:
        alone(monkeypatch)
        make_repository(root)
    return root


@pytest.fixture
def root(tmp_path: Path, made_once: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The top of a repository that is attacked, and the working folder."""
    root = tmp_path / "repository"
    shutil.copytree(made_once, root, symlinks=True)
    alone(monkeypatch)
    monkeypatch.chdir(root)
    return root
