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
    DemoCorrection,
    DemoDispute,
    DemoForget,
    DemoIdentity,
    DemoOrganization,
    DemoPerson,
    DemoRecall,
    DemoReport,
)
from junior_memory.demo.story import CORRECTIONS, DISPUTES, FORGETS, RECALLS, REPORTS, conversations

__all__ = [
    "AGENT",
    "CORRECTIONS",
    "DISPUTES",
    "FORGETS",
    "IDENTITIES",
    "ORGANIZATION",
    "PEOPLE",
    "RECALLS",
    "REPORTS",
    "DemoAgent",
    "DemoConversation",
    "DemoCorrection",
    "DemoDispute",
    "DemoForget",
    "DemoIdentity",
    "DemoOrganization",
    "DemoPerson",
    "DemoRecall",
    "DemoReport",
    "conversations",
]
