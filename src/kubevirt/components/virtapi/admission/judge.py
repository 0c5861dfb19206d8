"""Which question is about what: by the path that it came to."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

import msgspec
from aiohttp import web

from kubevirt.base.log import get_logger
from kubevirt.components.virtapi import answers, bodies
from kubevirt.components.virtapi.admission import mutating, reviews, validating
from kubevirt.components.virtapi.admission.reviews import Question, Verdict
from kubevirt.components.virtapi.parts import Parts
from kubevirt.virt import admission_paths
from kubevirt.virt.commands.refusal import not_allowed
from kubevirt.virt.validate.requester import Requester

log = get_logger(__name__)

LARGE: Final = 256 << 10
"""Bytes of a question that takes long enough for others to wait: it is thought about in a thread."""
THINKING: Final = 2
"""Such questions at a time."""

Opinion = Callable[[Question, Requester], Verdict]


class Judge:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._room = asyncio.Semaphore(THINKING)
        self._opinions: Mapping[str, Opinion] = {
            admission_paths.MUTATE_MACHINE: self._mutate_machine,
            admission_paths.MUTATE_INSTANCE: self._mutate_instance,
            admission_paths.VALIDATE_MACHINE: self._validate_machine,
            admission_paths.VALIDATE_NEW_INSTANCE: self._validate_new_instance,
            admission_paths.VALIDATE_CHANGED_INSTANCE: self._validate_changed_instance,
            admission_paths.VALIDATE_STATUS: self._validate_status,
            admission_paths.VALIDATE_NODE: self._validate_node,
            admission_paths.VALIDATE_NEW_KUBEVIRT: self._advise_on_settings,
            admission_paths.VALIDATE_CHANGED_KUBEVIRT: self._advise_on_settings,
            **{each.path: self._refuse_unbuilt for each in admission_paths.UNBUILT},
        }

    def knows(self, path: str) -> bool:
        return path in self._opinions

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.method != "POST":
            raise not_allowed(request.method)
        body = await bodies.read(request, bodies.REVIEW_LIMIT, self._parts.clock)
        if len(body) <= LARGE:
            return answers.encoded(self._decided(request.path, body))
        async with self._room:
            return answers.encoded(await asyncio.to_thread(self._decided, request.path, body))

    def _decided(self, path: str, body: bytes) -> bytes:
        question = reviews.read(body)
        requester = Requester.of(question.user_info, self._parts.namespace)
        verdict = self._opinions[path](question, requester)
        if verdict.causes:
            log.info(
                "an object was refused",
                path=path,
                user=requester.username,
                causes=len(verdict.causes),
                first=verdict.causes[0].message,
            )
        return msgspec.json.encode(reviews.answer(question, verdict))

    def _mutate_machine(self, question: Question, requester: Requester) -> Verdict:
        return mutating.machine(question, requester, self._parts.rules)

    def _mutate_instance(self, question: Question, requester: Requester) -> Verdict:
        parts = self._parts
        return mutating.instance(question, requester, parts.configuration(), parts.clock.now())

    def _validate_machine(self, question: Question, _: Requester) -> Verdict:
        return validating.machine_verdict(question, self._parts.rules)

    def _validate_new_instance(self, question: Question, requester: Requester) -> Verdict:
        return validating.new_instance_verdict(question, requester, self._parts.rules)

    def _validate_changed_instance(self, question: Question, requester: Requester) -> Verdict:
        return validating.changed_instance_verdict(question, requester, self._parts.rules)

    def _validate_status(self, _: Question, requester: Requester) -> Verdict:
        return validating.status_verdict(requester)

    def _validate_node(self, question: Question, requester: Requester) -> Verdict:
        return validating.node_verdict(question, requester, self._parts.rules)

    def _advise_on_settings(self, question: Question, _: Requester) -> Verdict:
        return validating.settings_verdict(question)

    def _refuse_unbuilt(self, question: Question, _: Requester) -> Verdict:
        return validating.unbuilt_verdict(question, self._parts.rules)
