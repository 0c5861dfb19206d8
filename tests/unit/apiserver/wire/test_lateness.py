"""What protobuf costs, nobody pays who does not send it."""

import subprocess
import sys


def test_a_server_is_there_before_protobuf_is() -> None:
    program = (
        "import sys, kubevirt.apiserver.server; "
        "print([name for name in sys.modules if name.startswith(('google', 'kubevirt.apiserver.wire.'))])"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert said.stdout == "[]\n"
