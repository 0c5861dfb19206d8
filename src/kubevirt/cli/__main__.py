"""python -m kubevirt.cli: virtctl, where no script of it is installed."""

from kubevirt.cli.main import main

if __name__ == "__main__":
    main()
