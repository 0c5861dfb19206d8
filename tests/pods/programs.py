"""Shell scripts for what busybox cannot do. The test image of Kubernetes has our probe for it, the
built-in image of the embedded home has Python.
"""

import shlex


def fetch(url: str, header: str) -> str:
    """Prints what an HTTPS server answers, whoever it is. The shell expands the header."""
    program = (
        "import ssl, sys, urllib.request as u;"
        " name, value = sys.argv[2].split(': ', 1);"
        " print(u.urlopen(u.Request(sys.argv[1], headers={name: value}), timeout=5,"
        " context=ssl._create_unverified_context()).read().decode())"
    )
    words = f'{shlex.quote(url)} "{header}"'
    return _either(f"probe get {words}", f"python3 -c {shlex.quote(program)} {words}")


def udp_echo(port: int) -> str:
    """Answers each datagram with the host's name and what was in it."""
    program = (
        f"import socket as s; o = s.socket(s.AF_INET, s.SOCK_DGRAM); o.bind(('', {port}))\n"
        "while 1: d, a = o.recvfrom(999); o.sendto(s.gethostname().encode() + b' ' + d, a)"
    )
    return _either(f"exec probe echo :{port}", f"exec python3 -c {shlex.quote(program)}")


def udp_ask(host: str, port: int, text: str) -> str:
    """Sends a datagram and prints the answer."""
    program = (
        "import socket as s; o = s.socket(s.AF_INET, s.SOCK_DGRAM); o.settimeout(3);"
        f" o.sendto({text.encode()!r}, ({host!r}, {port})); print(o.recv(999).decode())"
    )
    return _either(f"probe ask {host}:{port} {text}", f"python3 -c {shlex.quote(program)}")


def _either(probe: str, python: str) -> str:
    return f"if command -v probe >/dev/null; then {probe}; else {python}; fi"
