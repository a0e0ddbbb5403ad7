"""The semantics of the contract, as verbs of the managers.

The only place that joins querysets and embedders. A manager gets its models from Django: the models name
their managers, not the reverse.
"""
