"""All roles and bindings: what anybody may do follows from here, and from nowhere else.

Bindings are indexed by their subjects, so that a request looks only at those of its user and groups. An
object that changes is put in place of what it was; nothing is read again.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from kubevirt.apiserver.auth.decision import NO_OPINION, Decision
from kubevirt.apiserver.auth.names import service_account_user
from kubevirt.apiserver.auth.rbac.role import CompiledRole, Keys
from kubevirt.apiserver.auth.rbac.rules import Rule, rules_of
from kubevirt.apiserver.http.asked import Asked
from kubevirt.apiserver.registry.identity import Identity
from kubevirt.apiserver.schema.gotext import quoted

GROUP: Final = "rbac.authorization.k8s.io"
ROLES: Final = "roles"
CLUSTER_ROLES: Final = "clusterroles"
ROLE_BINDINGS: Final = "rolebindings"
CLUSTER_ROLE_BINDINGS: Final = "clusterrolebindings"
RESOURCES: Final = (CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS, ROLES, ROLE_BINDINGS)

HELD_LIMIT: Final = 4096
"""Users and namespaces whose bindings are remembered; more begin anew."""

Object = Mapping[str, Any]
Place = tuple[str, str]
"""Namespace and name; no namespace for what is the cluster's."""
Subject = tuple[str, str]
"""`User` or `Group`, and its name. A service account is the user that it acts as."""


class RoleRef(msgspec.Struct, frozen=True):
    kind: str
    namespace: str
    """Of a Role: where its binding is."""
    name: str

    @classmethod
    def of(cls, binding: Object) -> "RoleRef":
        found = binding.get("roleRef") or {}
        kind = found.get("kind", "")
        namespace = binding["metadata"].get("namespace", "") if kind == "Role" else ""
        return cls(kind, namespace, found.get("name", ""))

    def unresolved(self) -> str:
        """Why it says nothing, in the words of Kubernetes."""
        if self.kind not in {"Role", "ClusterRole"}:
            return f"unsupported role reference kind: {quoted(self.kind)}"
        return f"{self.kind.lower()}.{GROUP} {quoted(self.name)} not found"


class Binding(msgspec.Struct, frozen=True, kw_only=True):
    place: Place
    role: RoleRef
    subjects: tuple[tuple[Subject, str], ...]
    """In their order, each with the words that describe it."""

    @classmethod
    def of(cls, binding: Object) -> "Binding":
        metadata = binding["metadata"]
        namespace = metadata.get("namespace", "")
        subjects = []
        for each in binding.get("subjects") or ():
            subject = _subject(each, namespace)
            if subject is not None:
                subjects.append((subject, _described(each, namespace)))
        return cls(
            place=(namespace, metadata["name"]),
            role=RoleRef.of(binding),
            subjects=tuple(subjects),
        )

    def source(self, subject: str) -> str:
        namespace, name = self.place
        kind = "RoleBinding" if namespace else "ClusterRoleBinding"
        shown = f"{name}/{namespace}" if namespace else name
        role = f"{self.role.kind} {quoted(self.role.name)}"
        return f"{kind} {quoted(shown)} of {role} to {subject}"


class Held(msgspec.Struct, frozen=True):
    """A role that somebody has, and by which binding."""

    role: CompiledRole
    binding: Binding
    subject: str


class Holdings(msgspec.Struct, frozen=True):
    """All that somebody has in a namespace."""

    held: tuple[Held, ...]
    errors: tuple[str, ...]
    """Bindings to roles that are not there."""

    @property
    def problem(self) -> str:
        distinct = list(dict.fromkeys(self.errors))
        return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"


class Policy:
    def __init__(self) -> None:
        self._roles: dict[RoleRef, CompiledRole] = {}
        self._bindings: dict[Place, Binding] = {}
        self._bound: dict[tuple[str, Subject], dict[Place, Binding]] = {}
        """By namespace and subject."""
        self._known: dict[tuple[str, tuple[str, ...], str], Holdings] = {}

    # What changes

    def observe(self, resource: str, namespace: str, name: str, object_: Object | None) -> None:
        """One of the four kinds is now as given, or gone."""
        if resource in {ROLES, CLUSTER_ROLES}:
            kind = "Role" if resource == ROLES else "ClusterRole"
            self._put_role(RoleRef(kind, namespace, name), object_)
        elif resource in {ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS}:
            self._put_binding((namespace, name), object_)
        else:
            raise ValueError(f"{resource} have no part in this")
        self._known.clear()

    def _put_role(self, ref: RoleRef, object_: Object | None) -> None:
        if object_ is None:
            self._roles.pop(ref, None)
        else:
            self._roles[ref] = CompiledRole(rules_of(object_))

    def _put_binding(self, place: Place, object_: Object | None) -> None:
        old = self._bindings.pop(place, None)
        for subject, _ in old.subjects if old else ():
            key = place[0], subject
            bound = self._bound.get(key, {})
            bound.pop(place, None)
            if not bound:
                self._bound.pop(key, None)
        if object_ is None:
            return
        new = self._bindings[place] = Binding.of(object_)
        for subject, _ in new.subjects:
            self._bound.setdefault((place[0], subject), {})[place] = new

    # What follows

    def decide(self, asked: Asked, identity: Identity) -> Decision:
        holdings = self.holdings(identity, asked.namespace)
        if asked.is_resource:
            keys, verb, name = Keys.of(asked), asked.verb, asked.name
            exact = keys.exact
            for held in holdings.held:
                role = held.role
                # Most of a hundred roles are not about this at all: no call for those.
                if (exact in role.resources or role.is_wide) and role.allows_resource(
                    keys, verb, name
                ):
                    return _allowed_by(held)
        else:
            for held in holdings.held:
                if held.role.allows_path(asked.verb, asked.path):
                    return _allowed_by(held)
        if holdings.errors:
            return Decision(allowed=False, reason=f"RBAC: {holdings.problem}")
        return NO_OPINION

    def rules_for(self, identity: Identity, namespace: str) -> tuple[Rule, ...]:
        """Every rule that somebody has, in a namespace or, without one, everywhere."""
        return tuple(
            rule for held in self.holdings(identity, namespace).held for rule in held.role.rules
        )

    def role(self, ref: RoleRef) -> CompiledRole | None:
        return self._roles.get(ref)

    def holdings(self, identity: Identity, namespace: str) -> Holdings:
        key = identity.user, identity.groups, namespace
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= HELD_LIMIT:
                self._known.clear()
            found = self._known[key] = self._find(identity, namespace)
        return found

    def _find(self, identity: Identity, namespace: str) -> Holdings:
        subjects = {("User", identity.user), *(("Group", each) for each in identity.groups)}
        held, errors = [], []
        for binding in self._of(subjects, namespace):
            role = self._roles.get(binding.role)
            if role is None:
                errors.append(binding.role.unresolved())
                continue
            shown = next(shown for subject, shown in binding.subjects if subject in subjects)
            held.append(Held(role, binding, shown))
        return Holdings(tuple(held), tuple(errors))

    def _of(self, subjects: set[Subject], namespace: str) -> Iterator[Binding]:
        """Those of the cluster first, then by name: the same question has the same answer."""
        for where in ("", namespace) if namespace else ("",):
            found: dict[Place, Binding] = {}
            for subject in subjects:
                found.update(self._bound.get((where, subject), {}))
            yield from (found[place] for place in sorted(found))


def _allowed_by(held: Held) -> Decision:
    source = held.binding.source(held.subject)
    return Decision(allowed=True, reason=f"RBAC: allowed by {source}")


def _subject(subject: Object, namespace: str) -> Subject | None:
    kind, name = subject.get("kind", ""), subject.get("name", "")
    if kind in {"User", "Group"}:
        return kind, name
    where = subject.get("namespace") or namespace
    if kind == "ServiceAccount" and where:
        return "User", service_account_user(where, name)
    return None


def _described(subject: Object, namespace: str) -> str:
    kind, name = subject.get("kind", ""), subject.get("name", "")
    if kind == "ServiceAccount":
        name = f"{name}/{subject.get('namespace') or namespace}"
    return f"{kind} {quoted(name)}"
