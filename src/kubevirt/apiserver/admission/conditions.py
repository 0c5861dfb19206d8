"""`matchConditions`: questions in CEL about a write, all of which must be true for a webhook to be asked.

They see `object`, `oldObject` and `request`. One that is false settles it; one that has no answer counts as
a webhook that fails. Compiled when they are first asked: the runtime is heavy, and most have none.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import msgspec

from kubevirt.apiserver.schema.cel import (
    OF_CONDITIONS,
    BadExpression,
    Evaluate,
    EvaluationFailed,
    compile_expression,
)
from kubevirt.base.errors import UserError

Object = dict[str, Any]


class Condition(msgspec.Struct, frozen=True):
    name: str
    expression: str


class Unanswered(UserError):  # noqa: N818  # it is what the conditions were
    """Conditions that could not be evaluated, in Kubernetes' words."""


class Conditions:
    def __init__(self, conditions: Iterable[Condition] = ()) -> None:
        self._conditions = tuple(conditions)

    def __bool__(self) -> bool:
        return bool(self._conditions)

    @cached_property
    def _compiled(self) -> list[tuple[Condition, Evaluate | BadExpression]]:
        return [(each, _compiled(each.expression)) for each in self._conditions]

    def hold(self, variables: Object) -> bool:
        """Raises `Unanswered` if some have no answer and none is false."""
        unanswered = []
        for condition, evaluate in self._compiled:
            try:
                if isinstance(evaluate, BadExpression):
                    raise evaluate
                if evaluate(variables) is not True:
                    return False
            except (EvaluationFailed, BadExpression) as error:
                expression = condition.expression.strip()
                unanswered.append(f"expression '{expression}' resulted in error: {error}")
        if not unanswered:
            return True
        raise Unanswered(unanswered[0] if len(unanswered) == 1 else f"[{', '.join(unanswered)}]")


def _compiled(expression: str) -> Evaluate | BadExpression:
    try:
        return compile_expression(expression, variables=OF_CONDITIONS)
    except BadExpression as error:  # from another time: it was refused when it was written
        return error
