"""What schemathesis makes of the server's own OpenAPI documents, asked of the server: a second opinion on what may come.

`test_server_openapi.py` knows Kubernetes and goes for what is almost right. This one knows the documents only, so
it also asks whether they can be read by whoever follows the specification, and whether answers are as they say.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import CHECKS
from schemathesis.core import NOT_SET
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok
from tests.component.apiserver.conftest import soak
from tests.component.apiserver.judging import check_refusal
from tests.component.apiserver.program import TOKEN, Program, a_session

from clusterup import ports, waiting
from clusterup.pytest_plugin import session_loop
from kubevirt.api import crds

EXAMPLES = soak("SOAK_SERVER_SCHEMAS", 500)
ANSWER_S = 30.0
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
AUTHORIZATION = {"Authorization": f"Bearer {TOKEN}"}
_NULL = "null is not of type"
Operation = schemathesis.APIOperation[Any, Any, Any, Any]
Case = schemathesis.Case[Any]


class Target:
    """A server in a process of its own, and all operations that it says it has."""

    def __init__(self, url: str, addresses: list[str]) -> None:
        self.url = url
        self.operations: list[Operation] = []
        for address in addresses:
            schema = schemathesis.openapi.from_url(url + address, headers=AUTHORIZATION)
            for found in schema.get_all_operations():
                assert isinstance(found, Ok), found
                self.operations.append(found.ok())

    def ask(self, case: Case) -> None:
        answer = case.call(base_url=self.url, headers=AUTHORIZATION, timeout=ANSWER_S)
        if answer.status_code >= 400:
            check_refusal(case.method, case.formatted_path, answer.status_code, answer.content)
        elif case.method != "DELETE":  # what is deleted may be shown, or only that it is
            check_form(case, answer)


def check_form(case: Case, answer: schemathesis.Response) -> None:
    """That it fits the document, but for the null that Go writes for a time that is none: Kubernetes, too."""
    conforms: Any = CHECKS.get_by_names(["response_schema_conformance"])
    try:
        case.validate_response(answer, checks=conforms)
    except FailureGroup as found:
        if rest := [each for each in found.exceptions if _NULL not in str(each)]:
            raise AssertionError("\n".join(map(str, rest))) from found


async def installed(program: Program) -> list[str]:
    """The addresses of documents, when the kinds of the house are served, too."""
    async with a_session() as session:
        for crd in crds.load():
            async with session.post(program.url + CRDS, json=crd) as made:
                assert made.status == 201, await made.text()

        async def paths() -> dict[str, Any]:
            async with session.get(f"{program.url}/openapi/v3") as answer:
                found: dict[str, Any] = (await answer.json())["paths"]
                return found

        async def are_served() -> bool:
            return "apis/kubevirt.io/v1" in await paths()

        await waiting.until(are_served, limit_s=ANSWER_S, what="the kinds are served")
        return [each["serverRelativeURL"] for each in (await paths()).values()]


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    folder: Path = tmp_path_factory.mktemp("schemathesis") / "data"
    folder.mkdir()
    port = ports.take()
    program = Program(folder, port.number)
    running = program.running()
    with session_loop() as loop:
        process = loop.run(running.__aenter__())
        try:
            loop.run(_ready(program, process))
            yield Target(program.url, loop.run(installed(program)))
            assert "Traceback" not in program.log.read_text()
        finally:
            loop.run(running.__aexit__(None, None, None))
            port.release()


async def _ready(program: Program, process: Any) -> None:
    async with a_session() as session:
        await program.ready(process, session)


def placed(case: Case, chance: Any) -> Case:
    """Where something is, more often than not; nothing that never ends, nor ends what all others need."""
    for name, usual in (("namespace", "default"), ("name", "one")):
        if name in case.path_parameters and chance.random() < 0.8:
            case.path_parameters[name] = usual
    case.query.pop("watch", None)
    if case.path.startswith(CRDS):
        case.query["dryRun"] = "All"
        if case.method == "DELETE":
            case.body = NOT_SET
    return case


@pytest.mark.timeout(60 + EXAMPLES)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), chance=st.randoms(use_true_random=False))
def test_answers_are_what_the_documents_say(
    target: Target, data: st.DataObject, chance: Any
) -> None:
    operation = data.draw(st.sampled_from(target.operations))
    target.ask(placed(data.draw(operation.as_strategy()), chance))
