"""The demo's whole history in order: what was said, what was forgotten, what was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import time

from junior_memory.demo import first_month, second_month, third_month
from junior_memory.demo.cast import (
    DESIGN,
    ENGINEERING,
    HANA,
    HANA_DM,
    MARA,
    MARA_DM,
    MARA_WEB,
    PARTNERS,
    RELEASE,
    SUPPORT,
    TEO,
    TEO_DM,
    TEO_MAIL,
    DemoConversation,
    DemoCorrection,
    DemoDispute,
    DemoForget,
    DemoIdentity,
    DemoPlace,
    DemoRecall,
    DemoReport,
    hana,
    mara,
    mara_web,
    teo,
    teo_mail,
)


def conversations() -> Sequence[DemoConversation]:
    """Every completed conversation, oldest first."""
    told = (
        *first_month.CONVERSATIONS,
        *second_month.CONVERSATIONS,
        *third_month.CONVERSATIONS,
    )
    return sorted(told, key=lambda conversation: (conversation.day, conversation.ends_at))


FORGETS: tuple[DemoForget, ...] = (
    DemoForget(-38, time(18, 30), TEO, "allergic to hazelnuts"),
    DemoForget(-30, time(7, 15), HANA, "27 inch display"),
    DemoForget(-25, time(16, 45), MARA, "the accordion"),
)
"""Two of these are said again later in the same words, and must not come back by themselves."""


CORRECTIONS: tuple[DemoCorrection, ...] = (
    DemoCorrection(
        -44, time(12, 20), MARA, "Sings alto in a choir in Altona.", "Sings alto in two choirs."
    ),
    DemoCorrection(
        -10,
        time(19, 5),
        MARA,
        "Sings alto in two choirs.",
        "Sings alto in a choir in Flensburg, on Mondays.",
    ),
    DemoCorrection(
        -20,
        time(8, 40),
        MARA,
        "Prefers short answers with the code first.",
        "Prefers short answers; the code first when there is code.",
    ),
)


REPORTS: tuple[DemoReport, ...] = (
    DemoReport(
        -1,
        time(9, 5),
        TEO,
        "answers partner questions on weekdays only",
        "We answer on Saturdays as well, since the winter timetable.",
    ),
)

DISPUTES: tuple[DemoDispute, ...] = (
    DemoDispute(-2, time(10, 10), MARA, "Works from Hamburg.", "No longer works from Hamburg."),
    DemoDispute(
        -2, time(10, 11), MARA, "Uses Neovim for everything.", "Moved from Neovim to Helix."
    ),
    DemoDispute(
        -2,
        time(10, 12),
        TEO,
        "Prefers answers in Spanish when it's just the two of them.",
        "Prefers answers in English.",
    ),
)
"""What the rules cannot see and a model would: the demo runs without one."""


def _asked(
    day: int, at: str, actor: DemoIdentity, thread: str, place: DemoPlace, text: str
) -> DemoRecall:
    return DemoRecall(day, time.fromisoformat(at), actor, f"conv-{thread}", place, text)


RECALLS: tuple[DemoRecall, ...] = (
    _asked(-85, "15:02", mara, "ask-editor", MARA_DM, "How do I jump to a symbol in Neovim?"),
    _asked(-80, "09:20", hana, "ask-hotfix", RELEASE, "Which branch do I start a hotfix from?"),
    _asked(-76, "09:41", teo, "ask-lunch", TEO_DM, "Find a place for the team lunch on Friday."),
    _asked(-73, "10:05", mara, "ask-import", MARA_WEB, "The import failed with FW-1207, what now?"),
    _asked(-69, "13:15", hana, "ask-color", DESIGN, "I need a new color for warnings."),
    _asked(
        -67, "08:45", teo_mail, "ask-refund", TEO_MAIL, "Draft a refund for a missed connection."
    ),
    _asked(-63, "11:30", teo, "ask-oncall", ENGINEERING, "When does the on-call shift change?"),
    _asked(-59, "14:10", teo, "ask-release-day", RELEASE, "When do we cut the release branch?"),
    _asked(-56, "09:00", hana, "ask-screens", HANA_DM, "Make a list of frames for booking at 390."),
    _asked(-53, "10:20", mara_web, "ask-reports", MARA_WEB, "Why is the bookings report slow?"),
    _asked(-50, "12:05", hana, "ask-review", DESIGN, "What do I post before the design review?"),
    _asked(-47, "15:40", mara, "ask-payments", ENGINEERING, "How many approvals for payments?"),
    _asked(-44, "09:10", mara, "ask-drink", MARA_DM, "Order me a coffee or a tea for the meeting?"),
    _asked(-42, "11:05", teo, "ask-language", TEO_DM, "Summarise the tide thread, which language?"),
    _asked(
        -40, "13:35", teo, "ask-partners", PARTNERS, "How do tidal operators upload their file?"
    ),
    _asked(
        -36, "09:45", teo, "ask-rollback", RELEASE, "Ticket printing broke, how do I roll back?"
    ),
    _asked(-33, "10:55", mara, "ask-answers", MARA_DM, "Show me a query for late boats per week."),
    _asked(-30, "16:00", hana, "ask-lost", SUPPORT, "Someone lost a jacket on deck two."),
    _asked(-27, "09:15", hana, "ask-axe", DESIGN, "How do I run an accessibility check?"),
    _asked(
        -22, "08:50", teo_mail, "ask-school", TEO_MAIL, "Offer a price to a school group of 24."
    ),
    _asked(-18, "14:25", mara, "ask-helix", MARA_DM, "Rename a variable in Helix?"),
    _asked(
        -16, "12:15", teo, "ask-lunch-again", TEO_DM, "Suggest a dessert for the Christmas lunch."
    ),
    _asked(-13, "10:30", teo, "ask-api", SUPPORT, "How long does version 3 of the API live?"),
    _asked(-10, "11:50", mara, "ask-home", MARA_DM, "Where do I work from, for the tax form?"),
    _asked(-7, "09:05", mara, "ask-tide-job", ENGINEERING, "The tide job stopped again."),
    _asked(-5, "10:00", hana, "ask-motion", DESIGN, "Which duration for the new drawer animation?"),
    _asked(-2, "15:45", hana, "ask-nothing", HANA_DM, "What is the capital of Mongolia?"),
    _asked(-1, "09:30", teo, "ask-calls", TEO_DM, "Plan a call with Illes Ferries this week."),
)
"""What the host asks before a run; one of them finds nothing, as it should."""
