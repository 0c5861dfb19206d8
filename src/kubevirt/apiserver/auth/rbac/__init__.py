"""Role-based access: who is bound to which rules, and what follows from that.

rules.py       a rule: what it allows, what it covers, how it is shown
role.py        the rules of one role, compiled so that a request finds the few that matter
policy.py      all roles and bindings, by subject; kept current one object at a time
aggregation.py cluster roles made of others
escalation.py  nobody gives away what they do not hold
defaults.py    the roles and bindings that every cluster starts with
"""
