"""argparse whose complaints are errors of the house: one sentence, and the caller decides what becomes of it."""

import argparse
from typing import NoReturn

from kubevirt.base.errors import ConfigError


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{message}; see {self.prog} --help")
