"""What an installation consists of: one pure function, `objects.objects(options, definitions)`.

options.py     what may differ from one installation to the next
objects.py     everything, in an order in which it can be applied
people.py      what users may do with machines: admin, edit, view, and the small ones
rights.py      what our own programs may do, each right with its reason
front.py       how the API server comes to virt-api: Service, APIServices, webhooks
settings.py    the KubeVirt object
digest.py      one word for all of it, by which nothing is applied twice

Who applies it: virt-operator to a cluster, `virtctl up` to the embedded home, both by
`components/ground/installing.py`. The Deployments and the DaemonSet of a cluster are the operator's and not here.
"""
