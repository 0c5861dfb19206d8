"""virtctl: one file for each command, loaded when it is called.

main.py        the table of commands; errors become one sentence and an exit code
exit_codes.py  what the exit codes mean
options.py     options that several commands have
up.py down.py status.py doctor.py version.py
render/        how results and steps look
"""
