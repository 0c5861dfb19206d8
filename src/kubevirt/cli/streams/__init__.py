"""Bytes between this machine and a guest.

stdio.py     our own standard input and output, as they are: a terminal, a pipe, a file
terminal.py  a terminal that hands on every key, and is put back however that ends
relay.py     one local stream and one websocket, until either ends
ports.py     what `tcp/8080:80` means
tcp.py udp.py  local ports that lead to a guest's
"""
