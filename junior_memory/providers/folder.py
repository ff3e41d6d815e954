"""`local` with a path: a sentence-transformers folder on this disk. Nothing is ever downloaded.

The encoders that most such folders hold (BERT and its like, weights as safetensors) are computed
here, with numpy and the tokenizer's own library. Others need the package sentence-transformers.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from junior_memory.providers.base import (
    READS,
    Embedded,
    EmbeddingFailed,
    Matrix,
    Vector,
    normalised,
)

logger = logging.getLogger(__name__)

CUTOFF = 0.465
NAMELESS_CUTOFF = 0.635
"""Measured with all-MiniLM-L6-v2 together with `gates.SPEAKS_FOR_ITSELF`."""

BATCH = 16
"""Texts that are encoded together, of about one length."""

CHARACTERS_PER_TOKEN = 16
"""More than any text has in the mean: what is beyond is cut before it is read for tokens."""

POSITIONS_BEFORE = {"bert": 0, "roberta": 2, "xlm-roberta": 2}
"""The families that are computed here, and how many positions are never used."""

_loading = threading.Lock()


class UnusableFolder(Exception):
    """A folder that cannot be used, and why."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What a folder says about its model."""

    family: str
    dimensions: int
    max_tokens: int
    heads: int
    layers: int
    epsilon: float
    pooling: str
    is_plain: bool
    """Made of nothing but an encoder, a pooling that we know, and normalisation."""


def read_shape(folder: Path) -> Shape:
    """Read a folder's description; raises UnusableFolder."""
    if not (folder / "config.json").is_file() or not (folder / "modules.json").is_file():
        raise UnusableFolder("it holds no sentence-transformers model (config.json, modules.json)")
    try:
        config = _json(folder / "config.json")
        modules = [str(each["type"]).rpartition(".")[2] for each in _json(folder / "modules.json")]
        places = [str(each["path"]) for each in _json(folder / "modules.json")]
        pooling = next(
            (
                _pooling(_json(folder / path / "config.json"))
                for path in places
                if "Pooling" in path
            ),
            "",
        )
        family = str(config["model_type"])
        reach = int(config["max_position_embeddings"]) - POSITIONS_BEFORE.get(family, 0)
        limits = folder / "sentence_bert_config.json"
        asked = _json(limits).get("max_seq_length") if limits.is_file() else None
        return Shape(
            family=family,
            dimensions=int(config["hidden_size"]),
            max_tokens=min(reach, int(asked or reach)),
            heads=int(config["num_attention_heads"]),
            layers=int(config["num_hidden_layers"]),
            epsilon=float(config.get("layer_norm_eps", 1e-12)),
            pooling=pooling,
            is_plain=(
                family in POSITIONS_BEFORE
                and config.get("hidden_act") == "gelu"
                and config.get("position_embedding_type", "absolute") == "absolute"
                and pooling in {"mean", "first"}
                and set(modules) <= {"Transformer", "Pooling", "Normalize"}
                and (folder / "model.safetensors").is_file()
                and (folder / "tokenizer.json").is_file()
            ),
        )
    except (KeyError, TypeError, ValueError, OSError) as error:
        raise UnusableFolder(f"its description cannot be read ({type(error).__name__})") from None


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _pooling(config: dict[str, Any]) -> str:
    """Name the one way in which token vectors become a text's; empty for another or several."""
    modes = {name for name, is_on in config.items() if name.startswith("pooling_mode_") and is_on}
    named = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "first"}
    return named.get(next(iter(modes)), "") if len(modes) == 1 else ""


class FolderEmbedder:
    """The model of one folder. The worker embeds memories; a query takes some milliseconds."""

    provider = "local"
    is_local = False
    unrelated: float | None = 0.91
    list_weight = READS

    def __init__(self, folder: str, *, cutoff: float | None = None) -> None:
        self.model = folder
        self._folder = Path(folder)
        shape = read_shape(self._folder)
        self._encode = _encoder_of(self._folder, shape)
        self.dimensions: int | None = shape.dimensions
        self.max_tokens = shape.max_tokens
        self.cutoff = cutoff or CUTOFF
        self.nameless_cutoff = cutoff or NAMELESS_CUTOFF

    def embed(
        self,
        texts: Sequence[str],
        *,
        timeout_seconds: float = 0,  # noqa: ARG002 - nobody else is waited for
        attempts: int = 1,  # noqa: ARG002
    ) -> Embedded:
        """Return normalised vectors; a text without a word has one of zeros.

        Raises EmbeddingFailed when the weights cannot be read.
        """
        longest = CHARACTERS_PER_TOKEN * self.max_tokens
        asked = [text[:longest] for text in texts]
        places = sorted(
            (place for place, text in enumerate(asked) if text.strip()),
            key=lambda place: len(asked[place]),
        )
        vectors: list[Vector] = [[0.0] * (self.dimensions or 0) for _ in texts]
        for start in range(0, len(places), BATCH):
            batch = places[start : start + BATCH]
            for place, vector in zip(batch, self._encode([asked[p] for p in batch]), strict=True):
                vectors[place] = normalised(vector.tolist())
        return Embedded(tuple(vectors))


Encode = Callable[[Sequence[str]], Matrix]


def _encoder_of(folder: Path, shape: Shape) -> Encode:
    """Return what makes vectors of texts, loaded when it is first asked."""
    if shape.is_plain and find_spec("tokenizers") and find_spec("safetensors"):
        return lambda texts: _loaded(folder)(texts)
    if find_spec("sentence_transformers"):
        return lambda texts: _library(folder)(texts)
    if shape.is_plain:
        raise UnusableFolder("the packages tokenizers and safetensors are not installed")
    raise UnusableFolder(
        f"a {shape.family} model like this one needs the package sentence-transformers,"
        " which is not installed"
    )


def _loaded(folder: Path) -> Encode:
    try:
        with _loading:
            return _load(folder)
    except Exception as error:  # noqa: BLE001 - whatever is wrong, search goes on by words
        logger.error("the weights of a local model cannot be read (%s)", type(error).__name__)
        raise EmbeddingFailed("unreadable", is_permanent=True) from None


@lru_cache(maxsize=2)
def _load(folder: Path) -> Encode:
    if find_spec("threadpoolctl"):
        # For texts as short as these, threads of the algebra library wait longer than they work.
        import_module("threadpoolctl").threadpool_limits(limits=1, user_api="blas")
    return _Encoder(folder, read_shape(folder)).encode


def _library(folder: Path) -> Encode:
    with _loading:
        return _load_library(folder)


@lru_cache(maxsize=2)
def _load_library(folder: Path) -> Encode:
    library: Any = import_module("sentence_transformers")
    model = library.SentenceTransformer(str(folder), device="cpu", local_files_only=True)

    def encode(texts: Sequence[str]) -> Matrix:
        found = model.encode(list(texts), show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(found, dtype=np.float32)

    return encode


class _Encoder:
    """A transformer encoder with learned positions and normalisation after each step.

    Devlin, Chang, Lee and Toutanova 2019; Reimers and Gurevych 2019 for the pooling.
    """

    def __init__(self, folder: Path, shape: Shape) -> None:
        tokenizers: Any = import_module("tokenizers")
        safetensors: Any = import_module("safetensors.numpy")
        self._shape = shape
        self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_length=shape.max_tokens)
        loaded = safetensors.load_file(str(folder / "model.safetensors"))
        prefix = next(
            name.removesuffix("embeddings.word_embeddings.weight")
            for name in loaded
            if name.endswith("embeddings.word_embeddings.weight")
        )
        self._weights = {
            name.removeprefix(prefix): np.asarray(value, dtype=np.float32)
            for name, value in loaded.items()
        }

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return one vector for each text, not normalised."""
        pieces = [one.ids for one in self._tokenizer.encode_batch(list(texts))]
        longest = max(1, *(len(ids) for ids in pieces))
        ids = np.zeros((len(pieces), longest), dtype=np.int64)
        mask = np.zeros((len(pieces), longest), dtype=np.float32)
        for row, found in enumerate(pieces):
            ids[row, : len(found)] = found
            mask[row, : len(found)] = 1
        hidden = self._embeddings(ids)
        # What is no token is so unlikely that nothing attends to it.
        unseen = (mask[:, None, None, :] - 1) * np.float32(1e9)
        for number in range(self._shape.layers):
            hidden = self._layer(f"encoder.layer.{number}", hidden, unseen)
        if self._shape.pooling == "first":
            return np.asarray(hidden[:, 0], dtype=np.float32)
        counted = np.maximum(mask.sum(axis=1, keepdims=True), 1)
        return np.asarray((hidden * mask[:, :, None]).sum(axis=1) / counted, dtype=np.float32)

    def _embeddings(self, ids: Any) -> Matrix:
        first = POSITIONS_BEFORE[self._shape.family]
        words = self._weights["embeddings.word_embeddings.weight"][ids]
        places = self._weights["embeddings.position_embeddings.weight"]
        kinds = self._weights["embeddings.token_type_embeddings.weight"]
        hidden = words + places[first : first + ids.shape[1]] + kinds[0]
        return self._normalise("embeddings.LayerNorm", hidden)

    def _layer(self, name: str, hidden: Matrix, unseen: Matrix) -> Matrix:
        count, length, size = hidden.shape
        width = size // self._shape.heads

        def parted(part: str) -> Matrix:
            whole = self._linear(f"{name}.attention.self.{part}", hidden)
            return whole.reshape(count, length, self._shape.heads, width).transpose(0, 2, 1, 3)

        scores = parted("query") @ parted("key").transpose(0, 1, 3, 2) / np.float32(width**0.5)
        scores += unseen
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        mixed = (scores @ parted("value")).transpose(0, 2, 1, 3).reshape(count, length, size)
        seen = self._linear(f"{name}.attention.output.dense", mixed)
        hidden = self._normalise(f"{name}.attention.output.LayerNorm", seen + hidden)
        inner = _gelu(self._linear(f"{name}.intermediate.dense", hidden))
        outer = self._linear(f"{name}.output.dense", inner)
        return self._normalise(f"{name}.output.LayerNorm", outer + hidden)

    def _linear(self, name: str, hidden: Matrix) -> Matrix:
        weight, bias = self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]
        return np.asarray(hidden @ weight.T + bias, dtype=np.float32)

    def _normalise(self, name: str, hidden: Matrix) -> Matrix:
        centred = hidden - hidden.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + self._shape.epsilon)
        weight, bias = self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]
        return np.asarray(centred / spread * weight + bias, dtype=np.float32)


def _gelu(values: Matrix) -> Matrix:
    """x times the normal distribution function, by Abramowitz and Stegun 7.1.26 (within 2e-7)."""
    scaled = np.abs(values) / np.float32(2**0.5)
    t = 1 / (1 + np.float32(0.3275911) * scaled)
    series = np.float32(1.061405429) * t - np.float32(1.453152027)
    series = (series * t + np.float32(1.421413741)) * t - np.float32(0.284496736)
    series = (series * t + np.float32(0.254829592)) * t
    error = np.sign(values) * (1 - series * np.exp(-scaled * scaled))
    return np.asarray(values * (1 + error) / 2, dtype=np.float32)
