"""Steps of field paths: their text, their order, how people see them."""

import pytest

from kubevirt.apiserver.apply import elements


def test_the_text_of_a_key_is_canonical() -> None:
    assert elements.key([("port", 80), ("protocol", "TCP")]) == 'k:{"port":80,"protocol":"TCP"}'
    assert elements.parse('k:{"protocol": "TCP", "port": 80.0}') == 'k:{"port":80,"protocol":"TCP"}'


def test_a_value_is_written_as_go_writes_it() -> None:
    assert elements.value("a<b>&c") == 'v:"a\\u003cb\\u003e\\u0026c"'
    assert elements.value(1.0) == "v:1"
    assert elements.value(True) == "v:true"


def test_true_and_one_are_two_values() -> None:
    assert elements.value(True) != elements.value(1)


@pytest.mark.parametrize("text", ["", "f", "fspec", "k:[1]", "v:{", "i:x"])
def test_what_is_no_step_is_refused(text: str) -> None:
    with pytest.raises(elements.BadElement):
        elements.parse(text)


def test_a_step_of_the_future_is_left_out() -> None:
    assert elements.parse("z:what") is None


def test_steps_are_shown_as_conflicts_print_them() -> None:
    assert elements.shown("f:spec") == ".spec"
    assert elements.shown('k:{"name":"web","port":80}') == '[name="web",port=80]'
    assert elements.shown('v:"x"') == '[="x"]'
    assert elements.shown("i:3") == "[3]"


def test_numbers_are_ordered_by_size_and_fields_come_first() -> None:
    steps = [
        "v:10",
        "i:0",
        'k:{"port":443}',
        "v:9",
        'k:{"port":80}',
        "f:b",
        'v:"a"',
        "f:a",
        "v:true",
    ]
    assert sorted(steps, key=elements.order) == [
        "f:a",
        "f:b",
        'k:{"port":80}',
        'k:{"port":443}',
        "v:9",
        "v:10",
        'v:"a"',
        "v:true",
        "i:0",
    ]
