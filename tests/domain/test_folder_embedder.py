"""`local` with the path of a sentence-transformers folder: computed here, offline, or refused."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from junior_memory import access, embedder_health, embedding_models, embeddings, vector
from junior_memory.models import EmbeddingModel, MemoryEmbedding, ModelCall
from junior_memory.providers import (
    EmbeddingFailed,
    ModelName,
    UnusableEmbedder,
    embedder_for,
    registry,
)
from junior_memory.providers.folder import FolderEmbedder
from junior_memory.search import search_memories
from tests.cast import Cast
from tests.factories import make_memory

WORDS = "prefers oolong tea in the morning keeps a kayak garage".split()
VOCABULARY = {
    word: place for place, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS])
}
SIZE, HEADS, LAYERS, INNER, REACH = 8, 2, 2, 16, 12
MakeFolder = Callable[..., Path]


def weights() -> dict[str, Any]:
    chance = np.random.default_rng(5)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(VOCABULARY), SIZE),
        "embeddings.position_embeddings.weight": (REACH, SIZE),
        "embeddings.token_type_embeddings.weight": (2, SIZE),
    }
    parts = {
        "attention.self.query": (SIZE, SIZE),
        "attention.self.key": (SIZE, SIZE),
        "attention.self.value": (SIZE, SIZE),
        "attention.output.dense": (SIZE, SIZE),
        "intermediate.dense": (INNER, SIZE),
        "output.dense": (SIZE, INNER),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        for name, (rows, columns) in parts.items():
            shapes[f"encoder.layer.{layer}.{name}.weight"] = (rows, columns)
            shapes[f"encoder.layer.{layer}.{name}.bias"] = (rows,)
        norms += [
            f"encoder.layer.{layer}.{each}.LayerNorm" for each in ("attention.output", "output")
        ]
    for name in norms:
        shapes[f"{name}.weight"] = shapes[f"{name}.bias"] = (SIZE,)
    return {name: chance.normal(0, 0.5, shape).astype(np.float32) for name, shape in shapes.items()}


@pytest.fixture
def make_folder(tmp_path: Path) -> MakeFolder:
    """Write a small model as sentence-transformers lays it out; `config` changes what it says."""

    def make(*, pooling: str = "mean", limit: int | None = None, **config: Any) -> Path:
        folder = tmp_path / "model"
        (folder / "1_Pooling").mkdir(parents=True)
        described = {
            "model_type": "bert",
            "hidden_size": SIZE,
            "num_attention_heads": HEADS,
            "num_hidden_layers": LAYERS,
            "max_position_embeddings": REACH,
            "hidden_act": "gelu",
            "layer_norm_eps": 1e-12,
            **config,
        }
        modules = [
            {"path": path, "type": f"sentence_transformers.models.{name}"}
            for path, name in (("", "Transformer"), ("1_Pooling", "Pooling"), ("2", "Normalize"))
        ]
        pool = {
            f"pooling_mode_{name}": name.startswith(pooling)
            for name in ("mean_tokens", "cls_token")
        }
        files = {"config": described, "modules": modules, "1_Pooling/config": pool}
        if limit:
            files["sentence_bert_config"] = {"max_seq_length": limit}
        for name, content in files.items():
            (folder / f"{name}.json").write_text(json.dumps(content))
        tokenizer = Tokenizer(models.WordLevel(VOCABULARY, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
        )
        tokenizer.save(str(folder / "tokenizer.json"))
        save_file(weights(), folder / "model.safetensors")
        return folder

    return make


def embedded(embedder: FolderEmbedder, *texts: str) -> Any:
    return np.array(embedder.embed(texts).vectors)


def calculated(words: list[str], *, pooling: str = "mean") -> list[float]:
    """Calculate one text's vector number by number, as the papers write it."""
    w = {name: value.tolist() for name, value in weights().items()}
    ids = [2, *(VOCABULARY.get(word, 1) for word in words), 3]

    def norm(name: str, row: list[float]) -> list[float]:
        mean = sum(row) / SIZE
        deviation = math.sqrt(sum((x - mean) ** 2 for x in row) / SIZE + 1e-12)
        return [
            (x - mean) / deviation * g + b
            for x, g, b in zip(row, w[f"{name}.weight"], w[f"{name}.bias"], strict=True)
        ]

    def linear(name: str, row: list[float]) -> list[float]:
        return [
            sum(a * b for a, b in zip(row, line, strict=True)) + bias
            for line, bias in zip(w[f"{name}.weight"], w[f"{name}.bias"], strict=True)
        ]

    def add(*rows: list[float]) -> list[float]:
        return [sum(values) for values in zip(*rows, strict=True)]

    states = [
        norm(
            "embeddings.LayerNorm",
            add(
                w["embeddings.word_embeddings.weight"][each],
                w["embeddings.position_embeddings.weight"][place],
                w["embeddings.token_type_embeddings.weight"][0],
            ),
        )
        for place, each in enumerate(ids)
    ]
    width = SIZE // HEADS
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        q, k, v = (
            [linear(f"{name}.attention.self.{part}", row) for row in states]
            for part in ("query", "key", "value")
        )
        after = []
        for place, row in enumerate(states):
            mixed: list[float] = []
            for head in range(HEADS):
                span = slice(head * width, (head + 1) * width)
                scores = [
                    math.exp(
                        sum(a * b for a, b in zip(q[place][span], other[span], strict=True))
                        / math.sqrt(width)
                    )
                    for other in k
                ]
                mixed += [
                    sum(s * other[span][column] for s, other in zip(scores, v, strict=True))
                    / sum(scores)
                    for column in range(width)
                ]
            seen = norm(
                f"{name}.attention.output.LayerNorm",
                add(linear(f"{name}.attention.output.dense", mixed), row),
            )
            inner = [
                x * (1 + math.erf(x / math.sqrt(2))) / 2
                for x in linear(f"{name}.intermediate.dense", seen)
            ]
            after.append(
                norm(f"{name}.output.LayerNorm", add(linear(f"{name}.output.dense", inner), seen))
            )
        states = after
    pooled = states[0] if pooling == "cls" else [x / len(ids) for x in add(*states)]
    length = math.sqrt(sum(x * x for x in pooled))
    return [x / length for x in pooled]


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_vectors_are_what_the_model_says(make_folder: MakeFolder, pooling: str) -> None:
    embedder = FolderEmbedder(str(make_folder(pooling=pooling)))
    assert (embedder.dimensions, embedder.max_tokens, embedder.provider) == (SIZE, REACH, "local")
    texts = ("prefers oolong tea", "tea", "keeps a strange kayak in the garage")
    expected = [calculated(text.split(), pooling=pooling) for text in texts]
    assert np.allclose(embedded(embedder, *texts), expected, atol=2e-6)


def test_company_and_padding_change_no_vector(make_folder: MakeFolder) -> None:
    embedder = FolderEmbedder(str(make_folder()))
    texts = ["tea", "keeps a kayak in the garage", "", "oolong tea in the morning"] * 6
    together = embedded(embedder, *texts)
    alone = np.concatenate([embedded(embedder, text) for text in texts])
    assert np.allclose(together, alone, atol=1e-6)
    assert not together[2].any()
    assert not np.allclose(together[0], together[1], atol=0.1)
    assert np.allclose(np.linalg.norm(together[[0, 1, 3]], axis=1), 1)


def test_the_order_of_words_counts(make_folder: MakeFolder) -> None:
    embedder = FolderEmbedder(str(make_folder()))
    one, other = embedded(embedder, "oolong tea morning", "morning tea oolong")
    assert not np.allclose(one, other, atol=1e-3)


def test_what_is_beyond_the_models_limit_counts_for_nothing(make_folder: MakeFolder) -> None:
    embedder = FolderEmbedder(str(make_folder(limit=5)))
    assert embedder.max_tokens == 5
    short, long = embedded(embedder, "prefers oolong tea", "prefers oolong tea in the morning")
    assert np.allclose(short, long, atol=1e-6)
    assert embedded(embedder, "tea " * 100_000).shape == (1, SIZE)


@pytest.mark.parametrize(("family", "first"), [("bert", 0), ("roberta", 2), ("xlm-roberta", 2)])
def test_each_family_counts_positions_its_own_way(
    make_folder: MakeFolder, family: str, first: int
) -> None:
    embedder = FolderEmbedder(str(make_folder(model_type=family)))
    assert embedder.max_tokens == REACH - first
    assert np.allclose(embedded(embedder, "tea")[0], calculated(["tea"]), atol=1e-5) == (not first)


def refusal(folder: Path) -> str:
    with pytest.raises(UnusableEmbedder) as caught:
        embedder_for(ModelName.read(f"local:{folder}"))
    return str(caught.value)


def test_what_cannot_be_used_is_refused_with_its_reason(
    make_folder: MakeFolder, tmp_path: Path
) -> None:
    assert "holds no sentence-transformers model" in refusal(tmp_path / "nowhere")
    folder = make_folder(model_type="mpnet")
    assert find_spec("sentence_transformers") is None
    assert "needs the package sentence-transformers" in refusal(folder)
    (folder / "config.json").write_text("{")
    assert "cannot be read" in refusal(folder)


def test_an_unusable_folder_is_a_system_check(settings: Any, tmp_path: Path) -> None:
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {
        "embedder": "local",
        "embedding_model": str(tmp_path / "nowhere"),
    }
    fault = embedder_health.settings_fault()
    assert fault is not None
    assert fault.id == embedder_health.UNUSABLE


def test_weights_that_cannot_be_read_fail_by_a_reason(make_folder: MakeFolder) -> None:
    folder = make_folder()
    (folder / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(EmbeddingFailed, match="unreadable"):
        FolderEmbedder(str(folder)).embed(["tea"])


def test_a_cutoff_of_ones_own_counts(make_folder: MakeFolder) -> None:
    folder = str(make_folder())
    assert FolderEmbedder(folder, cutoff=0.3).cutoff == 0.3
    assert FolderEmbedder(folder).cutoff < FolderEmbedder(folder).nameless_cutoff


def test_memories_are_embedded_by_the_worker_and_found_for_nothing(
    cast: Cast, now: datetime, settings: Any, make_folder: MakeFolder
) -> None:
    folder = make_folder()
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {
        "embedder": "local",
        "embedding_model": str(folder),
    }
    vector.query_vectors.clear()
    memory = make_memory(content="prefers oolong tea", owner=cast.alice, now=now)
    assert not MemoryEmbedding.objects.exists()
    assert embeddings.embed_memories([memory.pk], now=now) == 1
    model = EmbeddingModel.objects.get()
    assert (model.provider, model.model, model.dimensions) == ("local", str(folder), SIZE)
    assert embedding_models.is_remote(model)
    hits = search_memories(access.person(cast.alice), "kayak", now=now).hits
    assert [hit.memory for hit in hits] == [memory]
    assert hits[0].legs == ("vector",)
    assert not ModelCall.objects.exists()
    registry._local.cache_clear()
