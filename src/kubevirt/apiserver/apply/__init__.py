"""Server-side apply: who owns which field, and what follows when somebody writes.

Every write goes through here, not only applies: `writes.update` keeps `metadata.managedFields` true
for create, update and patch, `writes.apply` merges a configuration and finds conflicts. The meaning
of it all is that of Kubernetes' structured-merge-diff; the tests hold it against a real server.

Below that: `fieldset` (sets of field paths and their FieldsV1 form), `types` (how a schema's values
merge), the walks over typed values (`merging`, `comparing`, `owning`, `removing`, `checking`,
`reconciling`), and `managed` (entries and managers).
"""
