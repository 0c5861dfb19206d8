"""Objects as text: YAML that people read, JSON for programs."""

import json
from typing import Any

import yaml


class _Readable(yaml.CSafeDumper):
    """Texts of several lines stand as they are, not in quotes."""


def _text(dumper: yaml.CSafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Readable.add_representer(str, _text)


def as_text(found: Any, form: str) -> str:
    """`form` is yaml or json; keys are in order, as kubectl has them."""
    if form == "json":
        return json.dumps(found, indent=2, ensure_ascii=False, sort_keys=True)
    written: str = yaml.dump(found, Dumper=_Readable, allow_unicode=True, width=1 << 16)
    return written.rstrip("\n")
