"""CEL, as far as rules of CRDs and conditions of webhooks need it: the door to Google's runtime.

    rule = compile_rule("self.minReplicas <= self.maxReplicas")
    rule({"self": {"minReplicas": 1, "maxReplicas": 2}})          True

The runtime weighs twelve megabytes and each of its libraries two or three more, so nothing is loaded
before a rule is compiled, and only the libraries that some rule speaks of. `self` is dynamic where a
rule runs; what can be known of it when a CRD is written, `rule_typing.py` knows.
"""

import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from kubevirt.apiserver.schema.cel_functions import FUNCTIONS, Function
from kubevirt.base.errors import UserError

Evaluate = Callable[[Mapping[str, Any]], Any]

OF_RULES: Final = ("self", "oldSelf")
"""The variables of rules of CRDs."""
_HELPING: Final[dict[tuple[str, ...], tuple[str, ...]]] = {OF_RULES: ("had", "old")}
"""Of which an optional `oldSelf` is made."""
OF_CONDITIONS: Final = ("object", "oldObject", "request")
"""Those of webhooks' `matchConditions`. Kubernetes has `authorizer` too."""
_LIBRARIES: Final = {
    "strings": re.compile(
        r"\.(charAt|format|indexOf|join|lastIndexOf|lowerAscii|quote|replace|reverse|split|substring"
        r"|trim|upperAscii)\(|strings\.quote\("
    ),
    "optional": re.compile(
        r"\.\?|\[\?|\{\s*\?|optional\.|\.hasValue\(|\.orValue\(|\.or\(|\.optMap\("
    ),
    "bindings": re.compile(r"cel\.bind\("),
    "math": re.compile(r"math\."),
    "encoders": re.compile(r"base64\."),
}
_STRING_LITERALS: Final = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_OLD_SELF: Final = re.compile(r"(?<![\w.])oldSelf\b")


class BadExpression(UserError):  # noqa: N818  # it is what the text is
    """A text that is no CEL expression, in the compiler's words."""


class EvaluationFailed(UserError):  # noqa: N818  # it is what happened
    """An expression that has no value for these variables, in cel-go's words where they are known."""


def uses_old_self(expression: str) -> bool:
    """Whether it looks at what was before: such a rule is about a change."""
    return _OLD_SELF.search(without_texts(expression)) is not None


def compile_expression(
    expression: str, *, old_self_is_optional: bool = False, variables: Sequence[str] = OF_RULES
) -> Evaluate:
    """A function of its variables. Raises `BadExpression`; the function raises `EvaluationFailed`."""
    text = expression
    if old_self_is_optional:
        # The runtime takes no optional values from outside; it makes this one itself.
        text = f"cel.bind(oldSelf, had ? optional.of(old) : optional.none(), ({expression}\n))"
    compiled = _compiled(text, tuple(variables))

    def evaluate(values: Mapping[str, Any]) -> Any:
        if old_self_is_optional:
            old = values.get("oldSelf")
            values = {**values, "had": old is not None, "old": old}
        result = compiled.eval(data=values)
        if result.type().name() == "ERROR":
            raise EvaluationFailed(_runtime_words(str(result.value())))
        return result.value()

    return evaluate


def type_of(expression: str, variables: Sequence[str]) -> str:
    """Of its value, as cel-go calls it: bool, int, dyn … Raises `BadExpression`."""
    return str(_compiled(expression, tuple(variables)).return_type().name()).lower()


def type_of_typed(expression: str, types: Mapping[str, str]) -> str:
    """The same where more is known of the variables: `int`, `list<string>`, `map<dyn>` …"""
    variables = tuple(sorted(types.items()))
    try:
        compiled = _environment(_libraries(expression), variables).compile(expression)
    except RuntimeError as error:
        raise BadExpression(_compiler_words(str(error))) from None
    return str(compiled.return_type().name()).lower()


def without_texts(expression: str) -> str:
    """With blanks in place of what is in quotes: as long as before."""
    return _STRING_LITERALS.sub(lambda found: " " * len(found.group()), expression)


def _compiled(text: str, variables: tuple[str, ...]) -> Any:
    named = tuple((name, "dyn") for name in variables + _HELPING.get(variables, ()))
    try:
        return _environment(_libraries(text), named).compile(text)
    except RuntimeError as error:
        raise BadExpression(_compiler_words(str(error))) from None


def _libraries(text: str) -> tuple[str, ...]:
    code = without_texts(text)
    return tuple(name for name, used in _LIBRARIES.items() if used.search(code))


@lru_cache(maxsize=32)
def _environment(libraries: tuple[str, ...], variables: tuple[tuple[str, str], ...]) -> Any:
    from cel_expr_python import cel  # noqa: PLC0415  # see above

    extensions = []
    for name in libraries:
        module = importlib.import_module(f"cel_expr_python.ext.ext_{name}")
        extensions.append(getattr(module, f"Ext{name.capitalize()}")())
    names = {name: _type(text) for name, text in variables}
    # After the libraries: some of their functions get overloads here.
    ours = [_declared(name, overloads) for name, overloads in _by_name().items()]
    extensions.append(cel.CelExtension("kubernetes", ours))
    return cel.NewEnv(variables=names, extensions=extensions)


def _type(text: str) -> Any:
    from cel_expr_python import cel  # noqa: PLC0415

    kind, _, inner = text.partition("<")
    if kind == "list":
        return cel.Type.List(_type(inner[:-1]))
    if kind == "map":
        return cel.Type.Map(cel.Type.STRING, _type(inner[:-1]))
    return getattr(cel.Type, kind.upper())


def _by_name() -> dict[str, list[Function]]:
    found: dict[str, list[Function]] = {}
    for function in FUNCTIONS:
        found.setdefault(function.name, []).append(function)
    return found


def _declared(name: str, overloads: list[Function]) -> Any:
    from cel_expr_python import cel  # noqa: PLC0415

    types = {each: _type(each) for each in ("bool", "int", "double", "string", "dyn")}
    types |= {"list": _type("list<dyn>"), "map": _type("map<dyn>")}
    return cel.FunctionDecl(
        name,
        [
            cel.Overload(
                f"kubernetes_{name}_{'_'.join(each.parameters)}",
                return_type=types[each.returns],
                parameters=[types[kind] for kind in each.parameters],
                is_member=each.is_member,
                impl=each.run,
            )
            for each in overloads
        ],
    )


def _compiler_words(text: str) -> str:
    return text.removeprefix("INVALID_ARGUMENT: ").removesuffix(" [INVALID_ARGUMENT]")


_WORDS: Final = (
    (re.compile(r'NOT_FOUND: Key not found in map : "(.*)"'), r"no such key: \1"),
    (re.compile(r"\w+: No matching overloads found.*"), "no such overload"),
    (re.compile(r"\w+: divide by zero"), "division by zero"),
    (re.compile(r"\w+: modulus by zero"), "modulus by zero"),
    (re.compile(r"\w+: Index error: index=(-?\d+).*"), r"index out of bounds: \1"),
    (re.compile(r"[A-Z_]+: (.*)", re.DOTALL), r"\1"),
)


def _runtime_words(text: str) -> str:
    for pattern, words in _WORDS:
        found = pattern.fullmatch(text)
        if found:
            return found.expand(words)
    return text
