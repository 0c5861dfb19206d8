"""CRDs with a mistake each, and changes of one that are none of its author's to make."""

from copy import deepcopy
from typing import Any

Json = dict[str, Any]

GROUP = "workshop.example"
SAW: Json = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "size": {"type": "integer"},
                "name": {"type": "string"},
                "teeth": {"type": "array", "items": {"type": "string"}},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            },
        },
        "status": {"type": "object", "properties": {"size": {"type": "integer"}}},
    },
}
COLUMN: Json = {"name": "Size", "type": "integer", "jsonPath": ".spec.size"}
SCALE: Json = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}
WEBHOOK: Json = {
    "clientConfig": {"service": {"namespace": "default", "name": "converter"}},
    "conversionReviewVersions": ["v1"],
}
APPROVED = "api-approved.kubernetes.io"


def a_version(name: str = "v1", **parts: Any) -> Json:
    made = {
        "name": name,
        "served": True,
        "storage": name == "v1",
        "schema": {"openAPIV3Schema": SAW},
    }
    return {**made, **parts}


def a_crd(*versions: Json, group: str = GROUP, **spec: Any) -> Json:
    """`names` are added to those it has."""
    names = {"plural": "saws", "kind": "Saw", **spec.pop("names", {})}
    annotations = spec.pop("annotations", {})
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"saws.{group}", "annotations": annotations},
        "spec": {
            "group": group,
            "names": names,
            "scope": "Namespaced",
            "versions": deepcopy(list(versions) or [a_version()]),
            **spec,
        },
    }


def with_column(**column: Any) -> Json:
    return a_crd(a_version(additionalPrinterColumns=[{**COLUMN, **column}]))


def with_scale(**scale: Any) -> Json:
    return a_crd(a_version(subresources={"scale": {**SCALE, **scale}}))


def with_fields(*paths: str) -> Json:
    return a_crd(a_version(selectableFields=[{"jsonPath": path} for path in paths]))


def with_conversion(strategy: str, **webhook: Any) -> Json:
    conversion: Json = {"strategy": strategy}
    if webhook:
        conversion["webhook"] = webhook
    return a_crd(conversion=conversion)


def of_kubernetes(said: str | None = None) -> Json:
    annotations = {} if said is None else {APPROVED: said}
    return a_crd(group="workshop.k8s.io", annotations=annotations)


TWO = a_version("v2", additionalPrinterColumns=[COLUMN])
REFUSED: dict[str, Json] = {
    "a group without a dot": a_crd(group="workshop"),
    "a group that is no domain": a_crd(group="Work_Shop.example"),
    "an unknown scope": a_crd(scope="Worldwide"),
    "a plural with capitals": a_crd(names={"plural": "Saws"}),
    "a singular with capitals": a_crd(names={"singular": "Saw"}),
    "a kind with a dot": a_crd(names={"kind": "S.aw"}),
    "a list that is the kind": a_crd(names={"listKind": "Saw"}),
    "a short name with capitals": a_crd(names={"shortNames": ["sw", "SW"]}),
    "a category with a space": a_crd(names={"categories": ["all", "sharp things"]}),
    "preserving everything": a_crd(preserveUnknownFields=True),
    "a version with a dot": a_crd(a_version(), a_version("v1.2")),
    "a version without a schema": a_crd(a_version(), {**a_version("v2"), "schema": None}),
    "a warning without an end": a_crd(a_version(deprecationWarning="soon")),
    "an empty warning": a_crd(a_version(deprecated=True, deprecationWarning="")),
    "a long warning": a_crd(a_version(deprecated=True, deprecationWarning="ä" * 200)),
    "a warning with a bell": a_crd(a_version(deprecated=True, deprecationWarning="soon ä\a")),
    "a column without a name": with_column(name=""),
    "a column without a type": with_column(type=""),
    "a column of an unknown type": with_column(type="float"),
    "a column of an unknown format": with_column(format="hex"),
    "a column without a path": with_column(jsonPath=""),
    "a column with a path from nowhere": with_column(jsonPath="spec.size"),
    "columns of one version only": a_crd(
        a_version(), a_version("v2", additionalPrinterColumns=[{**COLUMN, "type": "float"}])
    ),
    "a scale without a path": with_scale(specReplicasPath=""),
    "a scale that is not of the spec": with_scale(specReplicasPath=".status.size"),
    "a scale that begins without a dot": with_scale(statusReplicasPath="status.size"),
    "a scale that is not of the status": with_scale(statusReplicasPath=".spec.size"),
    "a selector of metadata": with_scale(labelSelectorPath=".metadata.name"),
    "a scale of one version only": a_crd(
        a_version(), a_version("v2", subresources={"scale": {**SCALE, "specReplicasPath": "."}})
    ),
    "a field that is not there": with_fields(".spec.colour"),
    "a field without a dot": with_fields("spec.size"),
    "a field in brackets": with_fields(".spec['size']"),
    "a field that ends too early": with_fields(".spec."),
    "a field of a list": with_fields(".spec.teeth"),
    "an object as a field": with_fields(".spec"),
    "a field below a number": with_fields(".spec.size.unit"),
    "a field of metadata": with_fields(".metadata.name"),
    "a field twice": with_fields(".spec.size", ".spec.size"),
    "an empty field": with_fields(""),
    "too many fields": with_fields(".spec.size", *(f".spec.labels.l{n}" for n in range(8))),
    "a field of one version only": a_crd(
        a_version(selectableFields=[{"jsonPath": ".spec.size"}]), a_version("v2")
    ),
    "an unknown conversion": with_conversion("Magic"),
    "a conversion without a strategy": with_conversion(""),
    "no conversion, with a webhook": with_conversion("None", **WEBHOOK),
    "a webhook that is not said": with_conversion("Webhook"),
    "a webhook without a client": with_conversion("Webhook", conversionReviewVersions=["v1"]),
    "a webhook of nobody": with_conversion(
        "Webhook", clientConfig={}, conversionReviewVersions=["v1"]
    ),
    "a webhook that speaks nothing": with_conversion(
        "Webhook", clientConfig=WEBHOOK["clientConfig"], conversionReviewVersions=[]
    ),
    "a webhook that speaks something else": with_conversion(
        "Webhook", clientConfig=WEBHOOK["clientConfig"], conversionReviewVersions=["v9", "v9"]
    ),
    "a webhook behind http": with_conversion(
        "Webhook", clientConfig={"url": "http://x"}, conversionReviewVersions=["v1"]
    ),
    "a group of Kubernetes": of_kubernetes(),
    "a group of Kubernetes, approved somehow": of_kubernetes("by me"),
}
TAKEN: dict[str, Json] = {
    "a group of Kubernetes that nobody approved": of_kubernetes("unapproved, an experiment"),
    "a group of Kubernetes with an address": of_kubernetes("https://example.org/1"),
    "a selector of the spec": with_scale(labelSelectorPath=".spec.selector"),
    "a field of a map": with_fields(".spec.labels.colour", ".spec.name"),
    "columns of two versions": a_crd(a_version(), TWO),
    "a warning in German": a_crd(a_version(deprecated=True, deprecationWarning="läuft aus")),
}
