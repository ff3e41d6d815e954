"""Twenty searches by somebody who had not seen how it is done."""

from __future__ import annotations

import pytest

from junior_memory import access
from junior_memory.search import search_memories
from tests.cast import Cast
from tests.factories import make_memory

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"

ROWS: list[tuple[str, str]] = [
    # One character: Chinese inside a run, Korean with a particle on it.
    ("爷爷血糖高不能吃甜食", "糖"),
    ("할머니는 아침마다 약을 드신다", "약"),
    # Two characters: Japanese inside a run of mixed script, Hindi.
    ("Kubernetesの設定は田中さんが管理している", "設定"),
    ("दादी का घर पहाड़ के पास है", "घर"),
    # Three characters: Thai without spaces, Arabic.
    ("แม่แพ้ปลาทะเลทุกชนิด", "ปลา"),
    ("أفضل شرب شاي بالنعناع مساء", "شاي"),
    # Another form of the word, its own compound, and marks left off.
    ("Бабушка живёт в маленькой деревне", "деревня"),
    ("Die Krankenversicherungskarte liegt oben links", "krankenversicherungskarte"),
    ("Réunion reportée à cause de la grève", "reunion reportee"),
    ("Yeğenimin etiketi #ışıkgecesi oldu", "#isikgecesi"),
    ("Tiệm bánh nằm trên đường Nguyễn Huệ", "duong"),
    ("Το φαρμακείο κλείνει νωρίς την Τετάρτη", "ΝΩΡΙΣ"),
    # Signs, names and numbers; plain C is beside the hex id.
    (f"Photo album is labelled {FAMILY} on its spine", FAMILY),
    ("Marek writes the billing service with C#", "C#"),
    ("Firmware in plain C broke at commit 9f3ac07e1b", "9f3ac07e1b"),
    ("Secrets live inside .env beside the compose script", ".env"),
    ("Build image stays pinned to node-18.2.1 until spring", "node-18.2.1"),
    ("Gateway gives up after E_CONN_504 appears", "E_CONN_504"),
    (r"Scans belong under D:\Archive\Receipts\2023", r"D:\Archive\Receipts"),
    ("Landlord answers from pavel.dvorak+flat@posteo.example", "pavel.dvorak+flat@posteo.example"),
]


@pytest.mark.parametrize(("text", "query"), ROWS)
def test_found_by(cast: Cast, text: str, query: str) -> None:
    for other, _ in ROWS:
        make_memory(owner=cast.alice, content=other)
    hits = search_memories(access.person(cast.alice), query, limit=20).hits
    assert text in [hit.memory.content for hit in hits]
    matched = [hit.memory.content for hit in hits if hit.match.words or hit.match.characters]
    assert matched == [text], matched
