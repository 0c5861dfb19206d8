"""Who somebody is, by what they show."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from kubevirt.apiserver.auth import front_proxy
from kubevirt.apiserver.auth.authentication import Authentication
from kubevirt.apiserver.auth.authority import Authority, Wanted, signing_key
from kubevirt.apiserver.auth.authorization import Authorization
from kubevirt.apiserver.auth.certificates import ClientCertificates
from kubevirt.apiserver.auth.credentials import BadCredentials, Credentials
from kubevirt.apiserver.auth.front_proxy import FrontProxy, FrontProxySettings
from kubevirt.apiserver.auth.headers import Headers
from kubevirt.apiserver.auth.token_requests import TokenIssuer
from kubevirt.apiserver.auth.tokens import TokenKey, Tokens, TokenSettings
from kubevirt.apiserver.refusals import Refusal
from kubevirt.apiserver.registry.identity import ANONYMOUS, Identity
from kubevirt.base.virtual_time import VirtualClock

pytestmark = pytest.mark.virtual_time

Object = Mapping[str, Any]
BOUND_KINDS = {"Pod": "pods", "Secret": "secrets", "Node": "nodes"}


class Stored(dict[tuple[str, str, str], Object]):
    """What is there: a store of a few objects."""

    async def get(self, resource: str, namespace: str, name: str) -> Object | None:  # type: ignore[override]  # the port's, not a dict's
        return dict.get(self, (resource, namespace, name))

    def put(self, resource: str, namespace: str, name: str, uid: str, **spec: str) -> None:
        metadata = {"name": name, "namespace": namespace, "uid": uid}
        self[resource, namespace, name] = {"metadata": metadata, "spec": spec}


class House:
    """A server's doors, with everything that opens them."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        now = clock.now()
        self.authority, self.proxies = Authority.create("ca", now), Authority.create("proxies", now)
        self.stored = Stored()
        self.stored.put("serviceaccounts", "lab", "robot", "sa-1")
        self.stored.put("pods", "lab", "one", "pod-1", serviceAccountName="robot", nodeName="n1")
        self.stored.put("secrets", "lab", "s", "secret-1")
        self.stored.put("nodes", "", "n1", "node-1")
        self.key, settings = TokenKey(signing_key()), TokenSettings()
        self.issuer = TokenIssuer(self.key, settings, self.stored, clock)
        self.tokens = Tokens([self.key], settings, self.stored, clock)
        proxies = ClientCertificates([self.proxies.pair.certificate])
        self.doors = Authentication(
            clock=clock,
            certificates=ClientCertificates([self.authority.pair.certificate]),
            tokens=self.tokens,
            front_proxy=FrontProxy(proxies, FrontProxySettings()),
        )

    async def token(self, **spec: Any) -> str:
        answer = await self.issuer.answer({"spec": spec}, "lab", "robot")
        return str(answer["status"]["token"])

    async def see(self, certificate: bytes = b"", *headers: tuple[str, str]) -> Identity:
        return await self.doors.identify(
            Credentials(certificate=certificate, headers=Headers(headers))
        )


@pytest.fixture
async def house(virtual_clock: VirtualClock) -> House:
    return House(virtual_clock)


def shown(authority: Authority, wanted: Wanted, now: datetime) -> bytes:
    pem = authority.issue(wanted, now).certificate
    return x509.load_pem_x509_certificate(pem).public_bytes(Encoding.DER)


def bearer(token: str) -> tuple[str, str]:
    return "Authorization", f"Bearer {token}"


async def refused(house: House, certificate: bytes = b"", *headers: tuple[str, str]) -> bool:
    with pytest.raises(Refusal) as caught:
        await house.see(certificate, *headers)
    return (caught.value.status.code, caught.value.status.message) == (401, "Unauthorized")


async def test_whoever_shows_nothing_is_anonymous(house: House) -> None:
    assert await house.see() == ANONYMOUS
    assert await house.see(b"", ("Authorization", "Basic YTpi")) == ANONYMOUS
    assert await house.see(b"", ("Authorization", "Bearer")) == ANONYMOUS


async def test_a_certificate_names_the_user_and_the_groups(house: House) -> None:
    found = await house.see(
        shown(house.authority, Wanted.client("ann", ["ops", "dev"]), house.clock.now())
    )
    assert (found.user, found.groups) == ("ann", ("ops", "dev", "system:authenticated"))
    assert found.extra["authentication.kubernetes.io/credential-id"][0].startswith("X509SHA256=")


async def test_a_certificate_expires_while_the_connection_lasts(house: House) -> None:
    certificate = shown(house.authority, Wanted.client("ann"), house.clock.now())
    await house.see(certificate)
    await house.clock.sleep(timedelta(days=366).total_seconds())
    assert await refused(house, certificate)


async def test_a_certificate_of_another_authority_is_refused(house: House) -> None:
    other = Authority.create("ca", house.clock.now())
    assert await refused(house, shown(other, Wanted.client("ann"), house.clock.now()))
    assert await refused(house, b"no certificate")


async def test_a_server_certificate_is_nobody(house: House) -> None:
    wanted = Wanted.server("system:admin", ["localhost"])
    assert await refused(house, shown(house.authority, wanted, house.clock.now()))


async def test_a_certificate_goes_before_a_token(house: House) -> None:
    ann = shown(house.authority, Wanted.client("ann"), house.clock.now())
    assert (await house.see(ann, bearer("rubbish"))).user == "ann"
    other = shown(Authority.create("ca", house.clock.now()), Wanted.client("x"), house.clock.now())
    found = await house.see(other, bearer(await house.token()))
    assert found.user == "system:serviceaccount:lab:robot"


async def test_a_token_names_its_account(house: House) -> None:
    found = await house.see(b"", bearer(await house.token()))
    assert found.user == "system:serviceaccount:lab:robot"
    assert found.uid == "sa-1"
    assert found.groups == (
        "system:serviceaccounts",
        "system:serviceaccounts:lab",
        "system:authenticated",
    )
    assert found.extra["authentication.kubernetes.io/credential-id"][0].startswith("JTI=")


async def test_a_token_of_a_pod_tells_where_it_runs(house: House) -> None:
    ref = {"kind": "Pod", "apiVersion": "v1", "name": "one"}
    found = await house.see(b"", bearer(await house.token(boundObjectRef=ref)))
    extra = {key.rpartition("/")[2]: values for key, values in found.extra.items()}
    assert extra["pod-name"] == ("one",)
    assert extra["pod-uid"] == ("pod-1",)
    assert extra["node-name"] == ("n1",)
    assert extra["node-uid"] == ("node-1",)


async def test_a_browser_shows_its_token_as_a_protocol(house: House) -> None:
    import base64

    encoded = base64.urlsafe_b64encode((await house.token()).encode()).rstrip(b"=").decode()
    protocols = f"base64url.bearer.authorization.k8s.io.{encoded}, v5.channel.k8s.io"
    found = await house.see(b"", ("Sec-WebSocket-Protocol", protocols))
    assert found.user == "system:serviceaccount:lab:robot"
    broken = "base64url.bearer.authorization.k8s.io.%%%"
    assert await refused(house, b"", ("Sec-WebSocket-Protocol", broken))


async def test_a_token_expires_though_it_was_believed_a_moment_ago(house: House) -> None:
    token = await house.token(expirationSeconds=600)
    await house.clock.sleep(655)
    await house.see(b"", bearer(token))
    await house.clock.sleep(10)
    assert await refused(house, b"", bearer(token))


@pytest.mark.parametrize("kind", BOUND_KINDS)
async def test_a_token_ends_with_what_it_is_bound_to(house: House, kind: str) -> None:
    name = {"Pod": "one", "Secret": "s", "Node": "n1"}[kind]
    where = "" if kind == "Node" else "lab"
    ref = {"kind": kind, "apiVersion": "v1", "name": name}
    token = await house.token(boundObjectRef=ref)
    await house.see(b"", bearer(token))
    house.stored.put(BOUND_KINDS[kind], where, name, "another", serviceAccountName="robot")
    await house.clock.sleep(11)
    with pytest.raises(BadCredentials, match=f"{kind.lower()} UID \\(another\\) does not match"):
        await house.tokens.verify(token)
    del house.stored[BOUND_KINDS[kind], where, name]
    with pytest.raises(BadCredentials, match="service account token has been invalidated"):
        await house.tokens.verify(token)


async def test_a_token_ends_with_its_account(house: House) -> None:
    token = await house.token()
    await house.see(b"", bearer(token))
    house.stored.put("serviceaccounts", "lab", "robot", "sa-2")
    await house.clock.sleep(11)
    with pytest.raises(BadCredentials, match=r"service account UID \(sa-2\) does not match claim"):
        await house.tokens.verify(token)
    del house.stored["serviceaccounts", "lab", "robot"]
    with pytest.raises(BadCredentials, match='serviceaccounts "robot" not found'):
        await house.tokens.verify(token)


async def test_a_token_for_others_is_not_for_us(house: House) -> None:
    token = await house.token(audiences=["vault"])
    assert await refused(house, b"", bearer(token))
    found = await house.tokens.verify(token, ["vault", "elsewhere"])
    assert found.audiences == ("vault",)


@pytest.mark.parametrize("how", ["none", "HS256", "other key", "issuer", "cut", "future"])
async def test_a_token_that_we_did_not_sign_is_refused(house: House, how: str) -> None:
    token = await house.token()
    claims = jwt.decode(token, options={"verify_signature": False})
    header = {"kid": house.key.id}
    match how:
        case "none":
            token = jwt.encode(claims, "", algorithm="none", headers=header)
        case "HS256":
            secret = "the public half of the key, used as a shared secret, is 32 bytes"
            token = jwt.encode(claims, secret, algorithm="HS256", headers=header)
        case "other key":
            token = jwt.encode(
                claims, TokenKey(signing_key())._key, algorithm="ES256", headers=header
            )
        case "issuer":
            claims["iss"] = "https://elsewhere.example"
            token = jwt.encode(claims, house.key._key, algorithm="ES256", headers=header)
        case "cut":
            token = token[:-8]
        case "future":
            claims["nbf"] += 3600
            token = jwt.encode(claims, house.key._key, algorithm="ES256", headers=header)
    assert await refused(house, b"", bearer(token))


@pytest.mark.parametrize("token", ["x", "a.b.c", "....", "é", "eyJ9.eyJ9.AAAA", "{}", "\ud800"])
async def test_rubbish_is_refused(house: House, token: str) -> None:
    assert await refused(house, b"", bearer(token))


async def test_a_proxy_that_we_trust_says_who_it_is(house: House) -> None:
    proxy = shown(house.proxies, Wanted.client("front-proxy-client"), house.clock.now())
    said = Identity(
        user="ann",
        uid="7",
        groups=("ops", "dev"),
        extra={"example.org/why": ("because", "so"), "ä": ("1",)},
    )
    found = await house.see(proxy, *front_proxy.headers_for(said))
    assert found.groups == ("ops", "dev", "system:authenticated")
    assert (found.user, found.uid, found.extra) == (said.user, said.uid, said.extra)


async def test_nobody_else_says_who_they_are(house: House) -> None:
    claim = ("X-Remote-User", "admin")
    assert await house.see(b"", claim) == ANONYMOUS
    ann = shown(house.authority, Wanted.client("front-proxy-client"), house.clock.now())
    assert (await house.see(ann, claim)).user == "front-proxy-client"
    unknown = shown(house.proxies, Wanted.client("another"), house.clock.now())
    assert await refused(house, unknown, claim)
    silent = shown(house.proxies, Wanted.client("front-proxy-client"), house.clock.now())
    assert await refused(house, silent)


def test_a_moment_far_away_is_one() -> None:
    from kubevirt.apiserver.auth.tokens import _moment

    assert _moment(-5) == datetime(1970, 1, 1, tzinfo=UTC)
    assert _moment(1 << 62) > datetime(3000, 1, 1, tzinfo=UTC)


# To act as another


def allow(authorization: Authorization, user: str, *rules: Object) -> None:
    group = "rbac.authorization.k8s.io"
    role = {"metadata": {"name": "r"}, "rules": list(rules)}
    authorization.observe(group, "clusterroles", "", "r", role)
    ref = {"kind": "ClusterRole", "name": "r"}
    subjects = [{"kind": "User", "name": user}]
    binding = {"metadata": {"name": "b"}, "roleRef": ref, "subjects": subjects}
    authorization.observe(group, "clusterrolebindings", "", "b", binding)


async def acting(house: House, authorization: Authorization, *headers: tuple[str, str]) -> Identity:
    ann = shown(house.authority, Wanted.client("ann"), house.clock.now())
    caller = await house.doors.admit(
        Credentials(certificate=ann, headers=Headers(headers)), authorization
    )
    assert caller.real.user == "ann"
    assert caller.is_impersonating is bool(headers)
    return caller.acting


IMPERSONATE = {"verbs": ["impersonate"], "apiGroups": [""]}


async def test_each_part_of_another_must_be_allowed(house: House) -> None:
    authorization = Authorization()
    allow(authorization, "ann", {**IMPERSONATE, "resources": ["users"]})
    found = await acting(house, authorization, ("Impersonate-User", "bob"))
    assert (found.user, found.groups) == ("bob", ("system:authenticated",))
    for header, what in (
        (("Impersonate-Group", "system:masters"), 'groups "system:masters" is forbidden'),
        (("Impersonate-Uid", "7"), 'uids.authentication.k8s.io "7" is forbidden'),
        (
            ("Impersonate-Extra-example.org%2fwhy", "so"),
            'cannot impersonate resource "userextras/example.org/why" in API group',
        ),
    ):
        with pytest.raises(Refusal) as caught:
            await acting(house, authorization, ("Impersonate-User", "bob"), header)
        assert what in caught.value.status.message
        assert caught.value.status.code == 403


async def test_an_account_brings_its_groups(house: House) -> None:
    authorization = Authorization()
    allow(authorization, "ann", {**IMPERSONATE, "resources": ["serviceaccounts", "groups"]})
    who = ("Impersonate-User", "system:serviceaccount:lab:robot")
    found = await acting(house, authorization, who)
    assert found.groups[:2] == ("system:serviceaccounts", "system:serviceaccounts:lab")
    found = await acting(house, authorization, who, ("Impersonate-Group", "ops"))
    assert found.groups == ("ops", "system:authenticated")


async def test_an_anonymous_one_stays_unknown(house: House) -> None:
    authorization = Authorization()
    allow(authorization, "ann", {**IMPERSONATE, "resources": ["users"]})
    found = await acting(house, authorization, ("Impersonate-User", "system:anonymous"))
    assert found.groups == ("system:unauthenticated",)


async def test_groups_without_a_user_are_nobody(house: House) -> None:
    with pytest.raises(Refusal) as caught:
        await acting(house, Authorization(), ("Impersonate-Group", "ops"))
    assert caught.value.status.code == 500
    assert (await acting(house, Authorization())).user == "ann"
