"""Configurations of webhooks that cannot be, each with one thing wrong, and a few that just can."""

from typing import Any

Object = dict[str, Any]

RULE: Object = {
    "operations": ["CREATE"],
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "resources": ["configmaps"],
}
HOOK: Object = {
    "name": "one.hooks.example",
    "clientConfig": {"url": "https://hooks.example/one"},
    "rules": [RULE],
    "namespaceSelector": {"matchLabels": {"nobody": "has-this"}},
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
}


def hook(**more: Any) -> list[Object]:
    """`...` for a field that is left out."""
    return [{name: value for name, value in {**HOOK, **more}.items() if value is not ...}]


def with_rule(**more: Any) -> list[Object]:
    rule = {name: value for name, value in {**RULE, **more}.items() if value is not ...}
    return hook(rules=[rule])


def with_url(url: str) -> list[Object]:
    return hook(clientConfig={"url": url})


def with_service(**more: Any) -> list[Object]:
    service = {"namespace": "default", "name": "hooks", **more}
    kept = {name: value for name, value in service.items() if value is not ...}
    return hook(clientConfig={"service": kept})


def with_selector(selector: Object) -> list[Object]:
    return hook(objectSelector=selector)


def with_conditions(*expressions: str, **more: Any) -> list[Object]:
    conditions = [
        {"name": f"number-{index}", "expression": text, **more}
        for index, text in enumerate(expressions)
    ]
    return hook(matchConditions=conditions)


def with_expression(**expression: Any) -> list[Object]:
    return with_selector({"matchExpressions": [{"key": "a", **expression}]})


CASES: dict[str, list[Object]] = {
    "no name": hook(name=""),
    "short name": hook(name="one.hooks"),
    "bad name": hook(name="One.hooks.example"),
    "same names": [*hook(), *hook()],
    "no side effects": hook(sideEffects=...),
    "some side effects": hook(sideEffects="Some"),
    "unknown side effects": hook(sideEffects="Few"),
    "no review versions": hook(admissionReviewVersions=...),
    "empty review versions": hook(admissionReviewVersions=[]),
    "old review version": hook(admissionReviewVersions=["v2"]),
    "same review versions": hook(admissionReviewVersions=["v1", "v1"]),
    "bad review version": hook(admissionReviewVersions=["v1", "V_1"]),
    "no time": hook(timeoutSeconds=0),
    "all the time": hook(timeoutSeconds=31),
    "less than no time": hook(timeoutSeconds=-1),
    "failure policy": hook(failurePolicy="Panic"),
    "match policy": hook(matchPolicy="Loosely"),
    "nobody": hook(clientConfig={}),
    "two": hook(
        clientConfig={
            "url": "https://hooks.example",
            "service": {"namespace": "default", "name": "hooks"},
        }
    ),
    "plain url": with_url("http://hooks.example/one"),
    "no scheme": with_url("hooks.example"),
    "empty url": with_url(""),
    "no host": with_url("https:///one"),
    "user": with_url("https://me:secret@hooks.example/one"),
    "query": with_url("https://hooks.example/one?a=b"),
    "fragment": with_url("https://hooks.example/one#two"),
    "no service name": with_service(name=""),
    "no service namespace": with_service(namespace=""),
    "service port": with_service(port=70000),
    "service port zero": with_service(port=0),
    "path without slash": with_service(path="one"),
    "path of slashes": with_service(path="//"),
    "path with a hole": with_service(path="/one//two"),
    "bad path": with_service(path="/One/t_wo"),
    "no operations": with_rule(operations=[]),
    "missing operations": with_rule(operations=...),
    "unknown operation": with_rule(operations=["READ"]),
    "all operations and one": with_rule(operations=["*", "CREATE"]),
    "no groups": with_rule(apiGroups=[]),
    "all groups and one": with_rule(apiGroups=["*", "apps"]),
    "no versions": with_rule(apiVersions=[]),
    "all versions and one": with_rule(apiVersions=["*", "v1"]),
    "empty version": with_rule(apiVersions=[""]),
    "no resources": with_rule(resources=[]),
    "empty resource": with_rule(resources=["", "pods"]),
    "all resources and below, and one": with_rule(resources=["*/*", "pods"]),
    "all resources and one": with_rule(resources=["*", "pods"]),
    "all below and one": with_rule(resources=["pods/*", "pods/status"]),
    "one below all and one": with_rule(resources=["*/status", "pods/status"]),
    "all and below and one below": with_rule(resources=["*/*", "pods/status"]),
    "scope": with_rule(scope="House"),
    "operator": with_expression(operator="Like"),
    "no values": with_expression(operator="In"),
    "values": with_expression(operator="Exists", values=["x"]),
    "bad key": with_selector({"matchLabels": {"a b": "c"}}),
    "bad value": with_selector({"matchLabels": {"a": "b c"}}),
    "bad keys in expressions": with_selector(
        {"matchExpressions": [{"key": "-", "operator": "In", "values": ["a b"]}]}
    ),
    "condition without a name": with_conditions("true", name=""),
    "condition with a bad name": with_conditions("true", name="a b"),
    "conditions with one name": with_conditions("true", "false", name="same"),
    "empty condition": with_conditions(" "),
    "number as condition": with_conditions("1"),
    "text as condition": with_conditions("'yes'"),
    "anything as condition": with_conditions("object.data.x"),
    "many conditions": with_conditions(*["true"] * 65),
}

UNREADABLE: dict[str, list[Object]] = {
    "half a condition": with_conditions("object."),
    "unknown variable": with_conditions("self.x == 1"),
    "unknown function": with_conditions("frob(object)"),
}
"""Where only the beginning of the words is Kubernetes': the rest is its compiler's."""

CAN_BE: dict[str, list[Object]] = {
    "nothing": [],
    "least": hook(),
    "no rules": hook(rules=...),
    "service": with_service(path="/one/two/", port=8443),
    "service without a path": with_service(),
    "root": with_service(path="/"),
    "everything": with_rule(
        operations=["*"], apiGroups=["*"], apiVersions=["*"], resources=["*/*"], scope="Cluster"
    ),
    "one resource and then all": with_rule(resources=["pods", "*"]),
    "two review versions": hook(admissionReviewVersions=["v1beta1", "v1"]),
    "policies": hook(failurePolicy="Ignore", matchPolicy="Exact", timeoutSeconds=30),
    "conditions": with_conditions("request.operation != 'DELETE'", "request.dryRun"),
    "selectors": with_selector({"matchExpressions": [{"key": "a", "operator": "Exists"}]}),
    "address": with_url("https://[::1]:8443"),
}

WORDS: dict[str, str] = {
    "no name": "webhooks[0].name: Required value",
    "short name": (
        'webhooks[0].name: Invalid value: "one.hooks": should be a domain with at least three '
        "segments separated by dots"
    ),
    "bad name": (
        'webhooks[0].name: Invalid value: "One.hooks.example": a lowercase RFC 1123 subdomain '
        "must consist of lower case alphanumeric characters, '-' or '.', and must start and "
        "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
    ),
    "same names": 'webhooks[1].name: Duplicate value: "one.hooks.example"',
    "no side effects": "webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun",
    "some side effects": (
        'webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", '
        '"NoneOnDryRun"'
    ),
    "unknown side effects": (
        'webhooks[0].sideEffects: Unsupported value: "Few": supported values: "None", '
        '"NoneOnDryRun"'
    ),
    "no review versions": "webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1",
    "empty review versions": "webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1",
    "old review version": (
        'webhooks[0].admissionReviewVersions: Invalid value: ["v2"]: must include at least '
        "one of v1, v1beta1"
    ),
    "same review versions": 'webhooks[0].admissionReviewVersions[1]: Invalid value: "v1": duplicate version',
    "bad review version": (
        'webhooks[0].admissionReviewVersions[1]: Invalid value: "V_1": a DNS-1035 label must '
        "consist of lower case alphanumeric characters or '-', start with an alphabetic "
        "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
        "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
    ),
    "no time": (
        "webhooks[0].timeoutSeconds: Invalid value: 0: the timeout value must be between 1 "
        "and 30 seconds"
    ),
    "all the time": (
        "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 "
        "and 30 seconds"
    ),
    "less than no time": (
        "webhooks[0].timeoutSeconds: Invalid value: -1: the timeout value must be between 1 "
        "and 30 seconds"
    ),
    "failure policy": (
        'webhooks[0].failurePolicy: Unsupported value: "Panic": supported values: "Fail", "Ignore"'
    ),
    "match policy": (
        'webhooks[0].matchPolicy: Unsupported value: "Loosely": supported values: '
        '"Equivalent", "Exact"'
    ),
    "nobody": "webhooks[0].clientConfig: Required value: exactly one of url or service is required",
    "two": "webhooks[0].clientConfig: Required value: exactly one of url or service is required",
    "plain url": (
        "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL "
        "scheme; desired format: https://host[/path]"
    ),
    "no scheme": (
        "[webhooks[0].clientConfig.url: Invalid value: \"\": 'https' is the only allowed URL "
        "scheme; desired format: https://host[/path], webhooks[0].clientConfig.url: Invalid "
        'value: "": host must be specified; desired format: https://host[/path]]'
    ),
    "empty url": (
        "[webhooks[0].clientConfig.url: Invalid value: \"\": 'https' is the only allowed URL "
        "scheme; desired format: https://host[/path], webhooks[0].clientConfig.url: Invalid "
        'value: "": host must be specified; desired format: https://host[/path]]'
    ),
    "no host": (
        'webhooks[0].clientConfig.url: Invalid value: "": host must be specified; desired '
        "format: https://host[/path]"
    ),
    "user": (
        'webhooks[0].clientConfig.url: Invalid value: "me:secret": user information is not '
        "permitted in the URL"
    ),
    "query": (
        'webhooks[0].clientConfig.url: Invalid value: "a=b": query parameters are not '
        "permitted in the URL"
    ),
    "fragment": (
        'webhooks[0].clientConfig.url: Invalid value: "two": fragments are not permitted in the URL'
    ),
    "no service name": "webhooks[0].clientConfig.service.namespace: Required value",
    "no service namespace": "webhooks[0].clientConfig.service.name: Required value",
    "service port": (
        "webhooks[0].clientConfig.service.port: Invalid value: 70000: port is not valid: must "
        "be between 1 and 65535, inclusive"
    ),
    "service port zero": (
        "webhooks[0].clientConfig.service.port: Invalid value: 0: port is not valid: must be "
        "between 1 and 65535, inclusive"
    ),
    "path without slash": "webhooks[0].clientConfig.service.path: Invalid value: \"one\": must start with a '/'",
    "path of slashes": (
        'webhooks[0].clientConfig.service.path: Invalid value: "//": segment[0] may not be empty'
    ),
    "path with a hole": (
        'webhooks[0].clientConfig.service.path: Invalid value: "/one//two": segment[1] may '
        "not be empty"
    ),
    "bad path": (
        '[webhooks[0].clientConfig.service.path: Invalid value: "/One/t_wo": segment[0]: a '
        "lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' "
        "or '.', and must start and end with an alphanumeric character (e.g. 'example.com', "
        "regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'), "
        'webhooks[0].clientConfig.service.path: Invalid value: "/One/t_wo": segment[1]: a '
        "lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' "
        "or '.', and must start and end with an alphanumeric character (e.g. 'example.com', "
        "regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')]"
    ),
    "no operations": "webhooks[0].rules[0].operations: Required value",
    "missing operations": "webhooks[0].rules[0].operations: Required value",
    "unknown operation": (
        'webhooks[0].rules[0].operations[0]: Unsupported value: "READ": supported values: '
        '"*", "CONNECT", "CREATE", "DELETE", "UPDATE"'
    ),
    "all operations and one": (
        'webhooks[0].rules[0].operations: Invalid value: ["*","CREATE"]: if \'*\' is present, '
        "must not specify other operations"
    ),
    "no groups": "webhooks[0].rules[0].apiGroups: Required value",
    "all groups and one": (
        'webhooks[0].rules[0].apiGroups: Invalid value: ["*","apps"]: if \'*\' is present, must '
        "not specify other API groups"
    ),
    "no versions": "webhooks[0].rules[0].apiVersions: Required value",
    "all versions and one": (
        'webhooks[0].rules[0].apiVersions: Invalid value: ["*","v1"]: if \'*\' is present, must '
        "not specify other API versions"
    ),
    "empty version": "webhooks[0].rules[0].apiVersions[0]: Required value",
    "no resources": "webhooks[0].rules[0].resources: Required value",
    "empty resource": "webhooks[0].rules[0].resources[0]: Required value",
    "all resources and below, and one": (
        'webhooks[0].rules[0].resources: Invalid value: ["*/*","pods"]: if \'*/*\' is present, '
        "must not specify other resources"
    ),
    "all resources and one": (
        'webhooks[0].rules[0].resources: Invalid value: ["*","pods"]: if \'*\' is present, must '
        "not specify other resources without subresources"
    ),
    "all below and one": (
        "webhooks[0].rules[0].resources[1]: Invalid value: \"pods/status\": if 'pods/*' is "
        "present, must not specify pods/status"
    ),
    "one below all and one": (
        "webhooks[0].rules[0].resources[1]: Invalid value: \"pods/status\": if '*/status' is "
        "present, must not specify pods/status"
    ),
    "all and below and one below": (
        'webhooks[0].rules[0].resources: Invalid value: ["*/*","pods/status"]: if \'*/*\' is '
        "present, must not specify other resources"
    ),
    "scope": (
        'webhooks[0].rules[0].scope: Unsupported value: "House": supported values: "*", '
        '"Cluster", "Namespaced"'
    ),
    "operator": (
        'webhooks[0].objectSelector.matchExpressions[0].operator: Invalid value: "Like": not '
        "a valid selector operator"
    ),
    "no values": (
        "webhooks[0].objectSelector.matchExpressions[0].values: Required value: must be "
        "specified when `operator` is 'In' or 'NotIn'"
    ),
    "values": (
        "webhooks[0].objectSelector.matchExpressions[0].values: Forbidden: may not be "
        "specified when `operator` is 'Exists' or 'DoesNotExist'"
    ),
    "bad key": (
        'webhooks[0].objectSelector.matchLabels: Invalid value: "a b": name part must consist '
        "of alphanumeric characters, '-', '_' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
        "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
    ),
    "bad value": (
        'webhooks[0].objectSelector.matchLabels: Invalid value: "b c": a valid label must be '
        "an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
        "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
        "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
    ),
    "bad keys in expressions": (
        '[webhooks[0].objectSelector.matchExpressions[0].key: Invalid value: "-": name part '
        "must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
        "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex "
        "used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), "
        'webhooks[0].objectSelector.matchExpressions[0].values[0]: Invalid value: "a b": a '
        "valid label must be an empty string or consist of alphanumeric characters, '-', '_' "
        "or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
        "'my_value',  or '12345', regex used for validation is "
        "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')]"
    ),
    "condition without a name": "webhooks[0].matchConditions[0].name: Required value",
    "condition with a bad name": (
        'webhooks[0].matchConditions[0].name: Invalid value: "a b": name part must consist of '
        "alphanumeric characters, '-', '_' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
        "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
    ),
    "conditions with one name": 'webhooks[0].matchConditions[1].name: Duplicate value: "same"',
    "empty condition": "webhooks[0].matchConditions[0].expression: Required value",
    "number as condition": (
        'webhooks[0].matchConditions[0].expression: Invalid value: "1": must evaluate to bool '
        "but got int"
    ),
    "text as condition": (
        "webhooks[0].matchConditions[0].expression: Invalid value: \"'yes'\": must evaluate to "
        "bool but got string"
    ),
    "anything as condition": (
        'webhooks[0].matchConditions[0].expression: Invalid value: "object.data.x": must '
        "evaluate to bool but got dyn"
    ),
    "many conditions": "webhooks[0].matchConditions: Too many: 65: must have at most 64 items",
}
"""What a real server says of each, behind `… is invalid: `."""
