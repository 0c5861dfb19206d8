"""Launchers of this node: where they are, who they are, what they say.

Everything here comes from a process that a guest may have broken out into. Its folders are reached through
`base.files`, its identity is its folder's and its socket's, what it tells is bounded before anybody reads it.
"""
