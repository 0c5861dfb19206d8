"""Labels and fields against selectors."""

from collections.abc import Iterable, Mapping

from kubevirt.api.core.node import Node
from kubevirt.api.core.scheduling import NodeSelectorRequirement, NodeSelectorTerm
from kubevirt.api.meta import LabelSelector, LabelSelectorRequirement

Labels = Mapping[str, str]


def selects(selector: LabelSelector | None, labels: Labels) -> bool:
    """An empty selector picks all, none picks nothing."""
    if selector is None:
        return False
    return all(labels.get(key) == value for key, value in selector.match_labels.items()) and all(
        _holds(each.operator, each.key, each.values, labels) for each in selector.match_expressions
    )


def narrowed(
    selector: LabelSelector | None,
    own: Labels,
    *,
    same: Iterable[str] = (),
    other: Iterable[str] = (),
) -> LabelSelector | None:
    """To those whose values of these labels are the same as one's own, or others."""
    if selector is None:
        return None
    more = [
        LabelSelectorRequirement(key=key, operator=operator, values=(own[key],))
        for operator, keys in (("In", same), ("NotIn", other))
        for key in keys
        if key in own
    ]
    return LabelSelector(
        match_labels=selector.match_labels,
        match_expressions=(*selector.match_expressions, *more),
    )


def term_selects(term: NodeSelectorTerm, node: Node) -> bool:
    """A term without conditions picks no node."""
    fields = {"metadata.name": node.metadata.name or ""}
    labels = node.metadata.labels
    conditions = (*term.match_expressions, *term.match_fields)
    return bool(conditions) and (
        all(_node_holds(each, labels) for each in term.match_expressions)
        and all(_node_holds(each, fields) for each in term.match_fields)
    )


def _node_holds(asked: NodeSelectorRequirement, labels: Labels) -> bool:
    if asked.operator in ("Gt", "Lt"):
        return _compares(asked, labels.get(asked.key))
    return _holds(asked.operator, asked.key, asked.values, labels)


def _compares(asked: NodeSelectorRequirement, found: str | None) -> bool:
    """What is no number is neither more nor less."""
    try:
        have, limit = int(found or ""), int(asked.values[0])
    except (IndexError, ValueError):
        return False
    return have > limit if asked.operator == "Gt" else have < limit


def _holds(operator: str, key: str, values: tuple[str, ...], labels: Labels) -> bool:
    match operator:
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
    return False
