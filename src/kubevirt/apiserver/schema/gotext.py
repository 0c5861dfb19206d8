"""How Go writes values, since Kubernetes' words are Go's: `%q`, `%v`, encoding/json."""

from decimal import Decimal
from typing import Any, Final

import msgspec

_encode: Final = msgspec.json.Encoder(order="sorted").encode
_ESCAPED: Final = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)
_QUOTED: Final = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}


def quoted(text: str) -> str:
    """`%q`: printable characters as they are, the rest escaped."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(map(_quoted_character, text)) + '"'


def _quoted_character(character: str) -> str:
    if character in _QUOTED:
        return _QUOTED[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def json(value: Any) -> str:
    """encoding/json: keys sorted, characters of HTML escaped, whole floats without a fraction."""
    return _encode(_with_go_numbers(value)).decode().translate(_ESCAPED)


def _with_go_numbers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return int(value)
    if isinstance(value, dict):
        return {name: _with_go_numbers(child) for name, child in value.items()}
    if isinstance(value, list | tuple):
        return [_with_go_numbers(child) for child in value]
    return value


def number(value: float) -> str:
    """`%v`: the shortest digits, with an exponent from a million on and below a ten-thousandth."""
    if isinstance(value, int):
        return str(value)
    sign, digits, places = Decimal(repr(value)).normalize().as_tuple()
    if not isinstance(places, int):
        return str(value)
    exponent = len(digits) + places - 1
    if value and not -5 < exponent < 6:
        mantissa = "".join(map(str, digits))
        mantissa = f"{mantissa[0]}.{mantissa[1:]}" if len(mantissa) > 1 else mantissa
        return f"{'-' * sign}{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):02}"
    text = f"{Decimal(repr(value)):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def shown(value: Any) -> str:
    """`%v` of anything that JSON decodes to."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "<nil>"
    if isinstance(value, dict):
        return "map[" + " ".join(f"{name}:{shown(value[name])}" for name in sorted(value)) + "]"
    if isinstance(value, list | tuple):
        return "[" + " ".join(map(shown, value)) + "]"
    return value if isinstance(value, str) else number(value)


def syntax(value: Any) -> str:
    """`%#v` of the same."""
    if value is None:
        return "interface {}(nil)"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, dict):
        pairs = (f"{quoted(name)}:{syntax(value[name])}" for name in sorted(value))
        return "map[string]interface {}{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        return "[]interface {}{" + ", ".join(map(syntax, value)) + "}"
    return shown(value)


_KINDS: Final = {
    str: "string",
    bool: "bool",
    int: "number",
    float: "number",
    dict: "object",
    list: "array",
    type(None): "null",
}
_TYPES: Final = {
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    dict: "map[string]interface {}",
    list: "[]interface {}",
    type(None): "<nil>",
}


def kind_of(value: Any) -> str:
    """What Go's decoder calls it: `json: cannot unmarshal array into …`."""
    return _KINDS[value.__class__]


def type_of(value: Any) -> str:
    """`%T` of what JSON decodes to."""
    return _TYPES[value.__class__]
