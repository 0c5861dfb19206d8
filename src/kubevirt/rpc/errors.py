"""What can go wrong between two programs.

UserError
└── Refused           the other side understood, and said no: its message is for the user
Unreachable
└── NoAnswer          it is not there, or did not answer in time
"""

from kubevirt.base.errors import Unreachable, UserError


class Refused(UserError):  # noqa: N818  # it is the other side's word, not a mistake of ours
    """The other side's own words."""


class NoAnswer(Unreachable):
    pass
