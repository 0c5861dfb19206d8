"""The guest's agent, as far as it is known."""


class GuestAgent:
    def __init__(self) -> None:
        self.is_connected = False

    def channel_is(self, *, connected: bool) -> None:
        self.is_connected = connected
