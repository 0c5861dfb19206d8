"""What a pod is called, and how it finds others: hostname, /etc/hosts, /etc/resolv.conf."""

from tests.pods.objects import a_pod, a_service
from tests.pods.place import Place


async def test_a_pod_is_called_by_its_name(place: Place) -> None:
    pod = await place.run(a_pod("herbert"))
    assert await place.sh("herbert", "hostname") == "herbert\n"
    hosts = await place.sh("herbert", "cat /etc/hosts")
    assert "127.0.0.1\tlocalhost" in hosts
    assert f"{pod['status']['podIP']}\therbert" in hosts


async def test_a_pod_may_have_a_host_name_of_its_own(place: Place) -> None:
    assert await place.output("hostname", hostname="other") == "other\n"


async def test_a_pod_with_a_subdomain_is_found_by_its_full_name(place: Place) -> None:
    headless = a_service("family", app="member", clusterIP="None")
    metadata = {"name": "someone", "labels": {"app": "member"}}
    await place.create(headless)
    pod = await place.run(a_pod("someone", hostname="one", subdomain="family", metadata=metadata))
    domain = f"one.family.{place.namespace}.svc.cluster.local"
    hosts = await place.sh("someone", "cat /etc/hosts")
    assert f"{pod['status']['podIP']}\t{domain}\tone" in hosts
    await place.run(a_pod("asker"))
    await place.eventually(
        "asker",
        f"nslookup -type=a {domain}. || busybox nslookup -type=a {domain}.",
        lambda said: pod["status"]["podIP"] in said,
    )


async def test_host_aliases_are_in_the_hosts_file(place: Place) -> None:
    aliases = [{"ip": "192.0.2.7", "hostnames": ["lamp.example", "lamp"]}]
    hosts = await place.output("cat /etc/hosts", hostAliases=aliases)
    assert "192.0.2.7\tlamp.example\tlamp" in hosts


async def test_cluster_first_asks_the_clusters_dns(place: Place) -> None:
    said = await place.output("cat /etc/resolv.conf")
    find = (
        "get",
        "service",
        "kube-dns",
        "--namespace=kube-system",
        "-o=jsonpath={.spec.clusterIP}",
    )
    address = (await place.kubectl(*find)).stdout
    assert f"nameserver {address}\n" in said
    search = next(line for line in said.splitlines() if line.startswith("search "))
    zones = [f"{place.namespace}.svc.cluster.local", "svc.cluster.local", "cluster.local"]
    assert search.split()[1:4] == zones
    assert "options ndots:5" in said


async def test_a_pod_may_bring_its_own_dns_settings(place: Place) -> None:
    settings = {
        "nameservers": ["192.0.2.53"],
        "searches": ["example.org"],
        "options": [{"name": "ndots", "value": "2"}, {"name": "rotate"}],
    }
    said = await place.output("cat /etc/resolv.conf", dnsPolicy="None", dnsConfig=settings)
    # Kubernetes writes options in any order.
    assert sorted(sorted(line.split()) for line in said.splitlines()) == [
        ["192.0.2.53", "nameserver"],
        ["example.org", "search"],
        ["ndots:2", "options", "rotate"],
    ]


async def test_settings_of_its_own_are_added_to_the_clusters(place: Place) -> None:
    settings = {"searches": ["example.org"], "options": [{"name": "ndots", "value": "2"}]}
    said = await place.output("cat /etc/resolv.conf", dnsConfig=settings)
    search = next(line for line in said.splitlines() if line.startswith("search "))
    assert search.split()[-1] == "example.org"
    assert "svc.cluster.local" in search
    assert "ndots:2" in said
    assert "ndots:5" not in said


async def test_the_default_policy_is_the_nodes(place: Place) -> None:
    said = await place.output("cat /etc/resolv.conf", dnsPolicy="Default")
    assert "nameserver" in said
    assert "cluster.local" not in said


async def test_a_host_name_may_be_the_whole_name(place: Place) -> None:
    domain = f"one.family.{place.namespace}.svc.cluster.local"
    said = await place.output(
        "hostname", hostname="one", subdomain="family", setHostnameAsFQDN=True
    )
    # A kernel's host name has 64 bytes, and this pod's fits.
    assert said == f"{domain}\n"
