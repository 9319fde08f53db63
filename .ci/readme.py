"""The README as the package index shows it: without an address of the repository, a link to one of
its files would lead nowhere, so that the path stands there instead."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

PICTURE = re.compile(r"!\[[^\]]*\]\((?!https?:)[^)]*\)\n*")
LINK = re.compile(r"\[([^\]]+)\]\((?!https?:|#)([^)#]+)[^)]*\)")


class CustomMetadataHook(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        text = LINK.sub(_path, PICTURE.sub("", text))
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def _path(link: re.Match[str]) -> str:
    words, path = link.groups()
    return words if words.strip("`/") == path else f"{words} (`{path}`)"
