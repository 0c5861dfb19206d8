"""Services by nftables: who is behind which address (`fronts.py`), and the rules for it (`rules.py`)."""
