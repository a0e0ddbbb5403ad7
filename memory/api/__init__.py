"""The REST API, for `@mastra/client-js` and for anything else that speaks HTTP. Needs Django REST Framework.

`include("memory.api.urls")` under a path that ends in `memory/`; the client calls it `/api/memory/`.
"""
