"""Regular expressions of CEL rules, by the engine that `matches` has: its time grows with the text, whatever the pattern.

Google's runtime does not tell where a pattern matches, but it puts in place of what does whatever it is told:
here the same between two marks.
"""

from functools import lru_cache
from typing import Any, Final

_MARKS: Final = range(0xE000, 0x110000)
"""Characters, first those that mean nothing: more than a body has bytes for."""


def found(text: str, pattern: str) -> list[str]:
    """All that match, in their order. Raises `ValueError` for a pattern that is none."""
    taken = set(text)
    mark = next(chr(each) for each in _MARKS if chr(each) not in taken)
    values = {"text": text, "pattern": pattern, "marked": f"{mark}\\0{mark}"}
    result = _marking().eval(data=values)
    if result.type().name() == "ERROR":
        raise ValueError(f"Illegal regex: {str(result.value()).rpartition('expression: ')[2]}")
    return str(result.value()).split(mark)[1::2]


@lru_cache(maxsize=1)
def _marking() -> Any:
    from cel_expr_python import cel  # noqa: PLC0415  # it weighs much, and few rules need it

    config = cel.NewEnvConfigFromYaml("extensions: [{name: optional}, {name: regex}]")
    variables = dict.fromkeys(("text", "pattern", "marked"), cel.Type.STRING)
    environment = cel.NewEnv(config=config, variables=variables)
    return environment.compile("regex.replace(text, pattern, marked)")
