"""Descriptions of the types, taken from their docstrings.

Python keeps the docstring of a class but throws away the string under a field, so those are read
from the source. Only the CRD generator does this; a running program never needs it.
"""

import ast
import inspect
import sys
from functools import cache
from types import ModuleType


def of_class(cls: type) -> str:
    return _one_line(cls.__doc__ or "")


def of_fields(cls: type) -> dict[str, str]:
    """Python name of each described field → its description."""
    return _module_fields(sys.modules[cls.__module__]).get(cls.__name__, {})


@cache
def _module_fields(module: ModuleType) -> dict[str, dict[str, str]]:
    tree = ast.parse(inspect.getsource(module))
    return {node.name: _fields(node) for node in tree.body if isinstance(node, ast.ClassDef)}


def _fields(node: ast.ClassDef) -> dict[str, str]:
    """Pairs each annotated name with the string that stands right under it."""
    found = {}
    for statement, following in zip(node.body, node.body[1:], strict=False):
        match statement, following:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                found[name] = _one_line(text)
    return found


def _one_line(text: str) -> str:
    return " ".join(text.split())
