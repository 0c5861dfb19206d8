"""Which request goes where, and what a refusal looks like.

/virtualmachines-mutate and its like    `admission/`
/apis/subresources.kubevirt.io/V/…      `subresources/`
the rest                                `discovery.py`
"""

from typing import Final

from aiohttp import web

from kubevirt.base.callers import Callers
from kubevirt.base.errors import KubevirtError, Retry
from kubevirt.base.log import get_logger
from kubevirt.components.virtapi import answers, path
from kubevirt.components.virtapi.admission.judge import Judge
from kubevirt.components.virtapi.discovery import Discovery
from kubevirt.components.virtapi.parts import Parts
from kubevirt.components.virtapi.subresources.dispatch import Subresources
from kubevirt.kube.errors import ApiError
from kubevirt.virt.commands.calls import GROUP, VERSIONS
from kubevirt.virt.commands.refusal import (
    Refusal,
    bad_request,
    internal,
    no_such_path,
    unavailable,
)

log = get_logger(__name__)

_FAILED: Final = "virt-api failed; its log says why"


class Front:
    def __init__(self, parts: Parts) -> None:
        self._judge = Judge(parts)
        self._discovery = Discovery(parts)
        self._subresources = Subresources(parts)
        self.callers = Callers()

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        self.callers.add(request.transport)
        try:
            return await self._answered(request)
        except Refusal as refusal:
            return answers.refused(refusal)
        except ApiError as error:
            return answers.of_server(error)
        except ConnectionError:
            raise  # whoever asked has left
        except Retry as error:
            return answers.refused(unavailable(str(error)))
        except KubevirtError as error:
            return answers.refused(bad_request(str(error)))
        except Exception:
            log.exception("a request failed", path=request.path)
            return answers.refused(internal(_FAILED))

    async def _answered(self, request: web.BaseRequest) -> web.StreamResponse:
        if self._discovery.knows(request.path):
            return await self._discovery.answer(request)
        if self._judge.knows(request.path):
            return await self._judge.answer(request)
        match path.parts_of(request.rel_url.raw_path):
            case ("apis", group, version, *below) if group == GROUP and version in VERSIONS:
                asked = path.asked(version, tuple(below))
                return await self._subresources.answer(request, asked)
        raise no_such_path()
