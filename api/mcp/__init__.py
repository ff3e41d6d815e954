"""The four tools by the Model Context Protocol: `/mcp` over HTTP, `manage.py mcp` over stdio.

Stateless: every message says by itself who asks and for whom, so any process answers any of them.
The protocol is spoken here and not by its reference server, which needs a task group that lives as
long as the web process, where Django's application offers none; the reference client is what the
tests call it with.
"""
