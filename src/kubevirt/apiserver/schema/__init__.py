"""What an object may be: structural schemas, and what follows from them for every write.

A schema is compiled once (`structural`) and then asked: which fields are unknown (`pruning`), which
values are missing (`defaulting`), what is wrong and in whose words (`validation`, `listtypes`,
`metadata`, `cel`). Everything here is data in, data out, in Kubernetes' own terms.
"""
