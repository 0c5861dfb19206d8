"""The gate for what a guest's agent says: any bytes in, a typed value or one kind of error out."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubevirt.host.libvirt.agent_answers import (
    ANSWER_LIMIT,
    ITEM_LIMIT,
    TEXT_LIMIT,
    AgentInfo,
    ExecStatus,
    GuestFilesystem,
    GuestInterface,
    GuestUser,
    answer_from,
    list_from,
)
from kubevirt.host.libvirt.errors import AgentError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
KINDS = [GuestInterface, GuestUser, GuestFilesystem]


@given(VALUES, st.sampled_from(KINDS))
def test_any_answer_gives_a_list_of_the_kind_or_the_one_error(
    value: object, kind: type[msgspec.Struct]
) -> None:
    try:
        found = list_from(json.dumps({"return": value}), kind)
    except AgentError:
        return
    assert all(type(each) is kind for each in found)


@given(st.text())
def test_any_text_is_an_answer_or_the_one_error(text: str) -> None:
    for read in (text, f'{{"return": {text}}}'):
        try:
            answer_from(read, AgentInfo)
        except AgentError:
            continue


def test_texts_and_lists_inside_are_cut() -> None:
    command = {"name": "x" * 2000, "enabled": True}
    info = answer_from(
        json.dumps({"return": {"version": "v" * 5000, "supported_commands": [command] * 300}}),
        AgentInfo,
    )
    assert len(info.version) == TEXT_LIMIT
    assert len(info.supported_commands) == ITEM_LIMIT
    assert {len(each.name) for each in info.supported_commands} == {TEXT_LIMIT}


def test_the_output_of_a_program_is_not_cut_here() -> None:
    data = "QUFB" * 5000
    answer = json.dumps({"return": {"exited": True, "out-data": data}})
    assert answer_from(answer, ExecStatus).out_data == data


def test_an_answer_beyond_the_limit_is_not_even_read() -> None:
    with pytest.raises(AgentError, match="too many to read"):
        answer_from(json.dumps({"return": "x" * ANSWER_LIMIT}), str)


def test_nesting_without_end_is_the_one_error() -> None:
    with pytest.raises(AgentError):
        answer_from('{"return": ' + "[" * 100_000 + "]" * 100_000 + "}", AgentInfo)


def test_the_error_does_not_repeat_what_the_guest_said() -> None:
    with pytest.raises(AgentError) as caught:
        list_from(json.dumps({"return": [{"user": ["<script>"]}]}), GuestUser)
    assert "script" not in str(caught.value)
