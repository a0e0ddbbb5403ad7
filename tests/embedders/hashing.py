import math
import unicodedata

from memory.embedders import BaseEmbedder, EmbedResult


class HashEmbedder(BaseEmbedder):
    def __init__(self, dimensions=64, model=None):
        self.dimensions = dimensions
        self.model = model or f"hash-{dimensions}"
        self.calls = []

    def embed(self, texts):
        self.calls.append(list(texts))
        toks = [self.tokens(t) for t in texts]
        return EmbedResult([self.vec(t) for t in toks], sum(map(len, toks)))

    def tokens(self, text):
        return "".join(c if unicodedata.category(c)[0] in "LN" else " " for c in text.lower()).split(" ") and [
            t for t in "".join(c if unicodedata.category(c)[0] in "LN" else "\n" for c in text.lower()).split("\n") if t
        ]

    def vec(self, toks):
        v = [0.0] * self.dimensions
        for t in toks:
            h = 0x811C9DC5
            for b in t.encode():
                h = ((h ^ b) * 0x01000193) & 0xFFFFFFFF
            v[h % self.dimensions] += -1 if h >> 31 else 1
        n = math.sqrt(sum(x * x for x in v))
        return [x / n for x in v] if n else v
