"""The OpenAPI schema of the API, for sites with drf-spectacular among their INSTALLED_APPS.

It is derived from the declarations that the views run by: :mod:`memory.api.operations`, and the fields. What
only people need, words and examples, stands in :mod:`memory.api.openapi.texts`.
"""
