"""What Go says of texts that are no JSON. The contract suite compares it with a real server."""

import pytest

from kubevirt.apiserver.schema import gojson


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b" ", "unexpected end of JSON input"),
        (b'["a', "unexpected end of JSON input"),
        (b"tru", "unexpected end of JSON input"),
        (b"trux", "invalid character 'x' in literal true (expecting 'e')"),
        (b"[NaN]", "invalid character 'N' looking for beginning of value"),
        (b"[1,]", "invalid character ']' looking for beginning of value"),
        (b'{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        (b'{"a":{"b":[]} 1}', "invalid character '1' after object key:value pair"),
        (b'{"a":["[{",{}] "', "invalid character '\"' after object key:value pair"),
        (b'[{"a":"]"} 1]', "invalid character '1' after array element"),
        (b'"\n"', "invalid character '\\n' in string literal"),
        (b"\x80", "invalid character '\\u0080' looking for beginning of value"),
    ],
    ids=str,
)
def test_where_and_why(text: bytes, words: str) -> None:
    assert gojson.complaint(text) == words


def test_brackets_in_strings_are_not_deep() -> None:
    text = b'{"a":"' + b"[" * 100 + b'","b":[[1]]}'
    assert gojson.too_deep(text, 2) == "invalid character '[' exceeded max depth"
    assert gojson.too_deep(text, 3) == "exceeded max depth"
