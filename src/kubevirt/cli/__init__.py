"""virtctl: one file for each command, loaded when it is called. docs/virtctl.md tells what each does.

main.py          the table of commands; errors become one sentence and an exit code
exit_codes.py    what the exit codes mean
options.py       options that several commands have; server_flags.py has those of all that ask a server
flags.py         flags as Go programs have them
access.py        which server, and as whom; configuring.py makes a client's configuration of it
targets.py       whom a command is about
asking.py        one conversation with a server; subresources.py has virt-api's calls
changing.py      changes of state; waiting.py follows them
consoles.py screens.py forwarding.py openssh.py  bytes between this machine and a guest, over streams/
creating/        manifests from flags
completing.py    names that the server knows, while a word is typed
render/          how results and steps look
"""
