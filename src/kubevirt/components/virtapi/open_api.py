"""OpenAPI, versions 2 and 3: the paths of the calls. Their bodies are a few words each, and told in the docs."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from kubevirt.components.virtapi.description import kind_of
from kubevirt.virt.commands.calls import BUILT, GROUP, PORT_FORWARD, VERSIONS, Call

Json = dict[str, Any]


@cache
def v2() -> Json:
    paths: Json = {}
    for version in VERSIONS:
        for path, call in _paths(version):
            parameters = [
                {"name": each, "in": "path", "required": True, "type": "string"}
                for each in _parameters(path)
            ]
            paths[path] = {
                call.method.lower(): _operation(version, path, call),
                "parameters": parameters,
            }
    return {"swagger": "2.0", "info": _info(VERSIONS[0]), "paths": paths, "definitions": {}}


def v3_index() -> Json:
    own = [f"apis/{GROUP}/{each}" for each in VERSIONS]
    return {"paths": {each: {"serverRelativeURL": f"/openapi/v3/{each}"} for each in own}}


@cache
def v3(version: str) -> Json:
    paths: Json = {}
    for path, call in _paths(version):
        parameters = [
            {"name": each, "in": "path", "required": True, "schema": {"type": "string"}}
            for each in _parameters(path)
        ]
        paths[path] = {
            call.method.lower(): _operation(version, path, call),
            "parameters": parameters,
        }
    return {
        "openapi": "3.0.0",
        "info": _info(version),
        "paths": paths,
        "components": {"schemas": {}},
    }


def _info(version: str) -> Json:
    return {"title": "KubeVirt subresources", "version": version}


def _paths(version: str) -> Iterator[tuple[str, Call]]:
    for call in BUILT:
        base = f"/apis/{GROUP}/{version}/namespaces/{{namespace}}/{call.resource}"
        path = f"{base}/{{name}}/{call.subresource}" if call.subresource else base
        if call.subresource == PORT_FORWARD:
            yield f"{path}/{{port}}", call
            yield f"{path}/{{port}}/{{protocol}}", call
        else:
            yield path, call


def _parameters(path: str) -> list[str]:
    return [each[1:-1] for each in path.split("/") if each.startswith("{")]


def _operation(version: str, path: str, call: Call) -> Json:
    words = [each.strip("{}") for each in path.split("/")[5:]]
    return {
        "operationId": f"{version}-{call.method.lower()}-{'-'.join(words)}",
        "description": call.summary,
        "responses": {"200": {"description": "OK"}, "401": {"description": "Unauthorized"}},
        "x-kubernetes-group-version-kind": {
            "group": GROUP,
            "version": version,
            "kind": kind_of(call),
        },
    }
