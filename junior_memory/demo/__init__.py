"""A fictional team's ninety days, which `manage.py demo` hands in and lets the worker process.

Plain data, no Django: `cast` says who and where, the three months what was said, `story` puts
everything in order with what was forgotten and what was asked for.
"""

from junior_memory.demo.cast import (
    AGENT,
    IDENTITIES,
    ORGANIZATION,
    PEOPLE,
    DemoAgent,
    DemoConversation,
    DemoForget,
    DemoIdentity,
    DemoOrganization,
    DemoPerson,
    DemoRecall,
)
from junior_memory.demo.story import FORGETS, RECALLS, conversations

__all__ = [
    "AGENT",
    "FORGETS",
    "IDENTITIES",
    "ORGANIZATION",
    "PEOPLE",
    "RECALLS",
    "DemoAgent",
    "DemoConversation",
    "DemoForget",
    "DemoIdentity",
    "DemoOrganization",
    "DemoPerson",
    "DemoRecall",
    "conversations",
]
