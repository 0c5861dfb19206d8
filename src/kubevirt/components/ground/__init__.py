"""What every program stands on, whichever home it lives in.

configuration.py  the settings of the KubeVirt object as they are now
verbosity.py      how much a program logs, by those settings
tls.py            certificates from files, used as they are now
flags.py          what all programs understand on their command lines
program.py        a program from its first line to its last: log, client, settings, signals

`kube/http/health.py` has the small server for /metrics and /healthz.
"""
