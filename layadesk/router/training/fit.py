"""Fit the network: one table of piece weights, with a gate that learns which sentences hold the request.

For a text with sentences s, each with pieces p of weight idf(p):
    z_s = Σ idf·row(p)      m_s = Σ idf²      gate_s = exp(clip(SHARPNESS·z_s[gate] / sqrt(m_s + 1), ±GATE_MOST))
    scores = Σ gate_s·z_s / sqrt(Σ gate_s²·m_s + 1) + bias
With a single sentence this is a linear model; a paste is read and set aside.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from layadesk.domain.routing_labels import DOMAINS, TASKS
from layadesk.router.network import GATE_MOST, SHARPNESS, Facts, Network
from layadesk.router.pieces import cut
from layadesk.router.reading import Reading, read
from layadesk.router.training.distort import Side, distorted
from layadesk.router.training.features import Bags, Vocabulary, bags, choose_vocabulary
from layadesk.router.training.rows import PROJECT, Row

N_COLUMNS: Final = len(TASKS) + len(DOMAINS)
_Batch = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, int]  # ids, offsets, text_of, is_signs, texts


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a training run can vary."""

    vocabulary: int = 64_000
    epochs: int = 5
    batch: int = 128
    rate: float = 0.02
    decay: float = 2e-6
    dropout: float = 0.3
    smoothing: float = 0.05
    domain_weight: float = 0.5
    balance: float = 0.5
    project_weight: float = 8.0
    gate_weight: float = 0.1
    seed: int = 1
    is_baseline: bool = False

    @property
    def reader(self) -> Callable[[str], Reading]:
        """How it reads; the baseline takes the first 480 and the last 160 characters as they are."""
        return _first_and_last if self.is_baseline else read


@dataclass(frozen=True, slots=True)
class Fitted:
    """The network as arrays: `table` [pieces, columns + 1], the last column is the gate."""

    vocabulary: Vocabulary
    table: NDArray[np.float32]
    bias: NDArray[np.float32]
    recipe: Recipe


def fit(rows: Sequence[Row], pasted: Mapping[str, Sequence[str]], recipe: Recipe) -> Fitted:
    """Train on `rows`; the same rows and recipe give the same network on the same machine."""
    torch.manual_seed(recipe.seed)
    torch.use_deterministic_algorithms(True)
    plain = bags([row.text for row in rows], recipe.reader)
    vocabulary = choose_vocabulary(plain, recipe.vocabulary)
    n = len(vocabulary.buckets)
    idf = torch.from_numpy(np.append(vocabulary.idf, np.float32(0)))
    table = torch.zeros(n + 1, N_COLUMNS + 1, requires_grad=True)
    bias = torch.zeros(N_COLUMNS, requires_grad=True)
    optimiser = torch.optim.Adam([{"params": [table]}, {"params": [bias], "lr": 0.01}], lr=recipe.rate)
    tasks, domains = labels(rows)
    weights = torch.from_numpy(_weights(rows, recipe))
    n_steps = recipe.epochs * ((len(rows) + recipe.batch - 1) // recipe.batch)
    step = 0
    for epoch in range(recipe.epochs):
        rng = random.Random(f"{recipe.seed} {epoch}")
        seen = plain
        if not recipe.is_baseline:
            changed = [distorted(row.text, row.lang, pasted, rng) for row in rows]
            seen = bags([text for text, _ in changed])
            asks = asking(plain, seen, [side for _, side in changed])
        numbers = torch.from_numpy(vocabulary.numbers(seen.ids)).long()
        order = np.random.default_rng(recipe.seed * 100 + epoch).permutation(len(rows))
        for at in range(0, len(rows), recipe.batch):
            chosen = order[at : at + recipe.batch]
            optimiser.param_groups[0]["lr"] = recipe.rate * (1 - step / n_steps)
            step += 1
            batch = _batch(seen, numbers, chosen)
            scores, gates = forward((table, bias, idf), batch, dropout=recipe.dropout, gated=not recipe.is_baseline)
            index = torch.from_numpy(chosen)
            loss = _loss(scores[:, : len(TASKS)], tasks[index], weights[index], recipe.smoothing)
            loss = loss + recipe.domain_weight * _loss(
                scores[:, len(TASKS) :], domains[index], weights[index], recipe.smoothing
            )
            loss = loss + recipe.decay * table.square().sum()
            if not recipe.is_baseline:
                loss = loss + recipe.gate_weight * _gate_loss(gates, asks[_sentences_of(seen, chosen)])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return Fitted(vocabulary, table.detach().numpy()[:n], bias.detach().numpy(), recipe)


def forward(
    weights: tuple[torch.Tensor, torch.Tensor, torch.Tensor], batch: _Batch, *, dropout: float = 0.0, gated: bool = True
) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores [texts of the batch, N_COLUMNS], and the logarithm of each gate. `weights`: table, bias, idf."""
    table, bias, idf = weights
    ids, offsets, text_of, is_signs, n_texts = batch
    share = idf[ids]
    if dropout:
        share = share * (torch.rand(len(ids)) >= dropout) / (1 - dropout)
    z = functional.embedding_bag(ids, table, offsets, mode="sum", per_sample_weights=share)
    mass = functional.embedding_bag(ids, (idf * idf)[:, None], offsets, mode="sum")
    opens = SHARPNESS * z[:, -1:] / torch.sqrt(mass + 1)
    gate = torch.exp(opens.clamp(-GATE_MOST, GATE_MOST))
    gate = torch.where(is_signs[:, None], torch.ones_like(gate), gate) if gated else torch.ones_like(gate)
    total = torch.zeros(n_texts, N_COLUMNS).index_add(0, text_of, gate * z[:, :-1])
    norm = torch.zeros(n_texts, 1).index_add(0, text_of, gate * gate * mass)
    return total / torch.sqrt(norm + 1) + bias, opens[:, 0]


def scores_of(fitted: Fitted, texts: Sequence[str], batch: int = 256) -> NDArray[np.float32]:
    """Scores [len(texts), N_COLUMNS], computed as the program will; those of the baseline as in training."""
    if not fitted.recipe.is_baseline:
        network = network_of(fitted)
        return np.stack([network.forward(cut(read(text))) for text in texts])
    seen = bags(texts, fitted.recipe.reader)
    numbers = torch.from_numpy(fitted.vocabulary.numbers(seen.ids)).long()
    table = torch.from_numpy(np.vstack((fitted.table, np.zeros((1, N_COLUMNS + 1), dtype=np.float32))))
    idf = torch.from_numpy(np.append(fitted.vocabulary.idf, np.float32(0)))
    bias = torch.from_numpy(fitted.bias)
    out = []
    with torch.no_grad():
        for at in range(0, len(texts), batch):
            chosen = np.arange(at, min(at + batch, len(texts)))
            gated = not fitted.recipe.is_baseline
            out.append(forward((table, bias, idf), _batch(seen, numbers, chosen), gated=gated)[0].numpy())
    scores: NDArray[np.float32] = np.concatenate(out)
    return scores


def _first_and_last(text: str) -> Reading:
    text = text.lower()
    read_text = text if len(text) <= 640 else f"{text[:480]}\n{text[-160:]}"
    return Reading(read_text, read_text, (), len(text), text.count("\n") + 1)


def network_of(fitted: Fitted) -> Network:
    """The network as the program runs it, with weights as they are stored."""
    idf = fitted.vocabulary.idf
    table = (fitted.table * idf[:, None]).astype(np.float16).astype(np.float32)
    mass = (idf * idf).astype(np.float16).astype(np.float32)
    return Network(fitted.vocabulary.buckets.astype(np.uint32), table, mass, fitted.bias, Facts("", {}))


def labels(rows: Sequence[Row]) -> tuple[torch.Tensor, torch.Tensor]:
    """Task and domain numbers; -100 where unknown."""
    tasks = [TASKS.index(row.task) if row.task else -100 for row in rows]
    domains = [DOMAINS.index(row.domain) if row.domain else -100 for row in rows]
    return torch.tensor(tasks), torch.tensor(domains)


def _batch(seen: Bags, numbers: torch.Tensor, chosen: NDArray[np.intp]) -> _Batch:
    sentences = _sentences_of(seen, chosen)
    lengths = seen.starts[sentences + 1] - seen.starts[sentences]
    offsets = np.concatenate(([0], np.cumsum(lengths)[:-1]))
    inside = np.arange(lengths.sum()) - np.repeat(offsets, lengths) + np.repeat(seen.starts[sentences], lengths)
    text_of = np.repeat(np.arange(len(chosen)), seen.first[chosen + 1] - seen.first[chosen])
    return (
        numbers[torch.from_numpy(inside)],
        torch.from_numpy(offsets),
        torch.from_numpy(text_of),
        torch.from_numpy(seen.is_signs[sentences]),
        len(chosen),
    )


def _sentences_of(seen: Bags, chosen: NDArray[np.intp]) -> NDArray[np.int64]:
    return np.concatenate([np.arange(seen.first[k], seen.first[k + 1]) for k in chosen])


def asking(plain: Bags, seen: Bags, sides: Sequence[Side]) -> NDArray[np.float32]:
    """For each sentence 1 where it belongs to the request, 0 where it was pasted, -1 where that is not known."""
    wanted = np.full(len(seen.text_of), -1.0, dtype=np.float32)
    for k, side in enumerate(sides):
        first, last = int(seen.first[k]), int(seen.first[k + 1]) - 1  # the signs stay open
        if side is Side.WHOLE:
            continue
        n_asking = int(plain.first[k + 1] - plain.first[k]) - 1
        wanted[first:last] = 0.0
        if side is Side.FIRST:
            wanted[first : min(first + n_asking, last)] = 1.0
        else:
            wanted[max(first, last - n_asking) : last] = 1.0
    return wanted


def _gate_loss(gates: torch.Tensor, wanted: NDArray[np.float32]) -> torch.Tensor:
    known = torch.from_numpy(wanted >= 0)
    if not bool(known.any()):
        return torch.zeros(())
    return functional.binary_cross_entropy_with_logits(gates[known], torch.from_numpy(wanted)[known])


def _loss(scores: torch.Tensor, wanted: torch.Tensor, weights: torch.Tensor, smoothing: float) -> torch.Tensor:
    each = functional.cross_entropy(scores, wanted, reduction="none", ignore_index=-100, label_smoothing=smoothing)
    known = weights * (wanted >= 0)
    return (each * known).sum() / known.sum().clamp(min=1e-6)


def _weights(rows: Sequence[Row], recipe: Recipe) -> NDArray[np.float32]:
    """A large source counts less per row; the project's own rows count more."""
    counts: dict[tuple[str, str], int] = {}
    for row in rows:
        counts[row.lang, row.source] = counts.get((row.lang, row.source), 0) + 1
    raw = np.array([counts[row.lang, row.source] ** -recipe.balance for row in rows])
    is_project = np.array([row.source == PROJECT for row in rows])
    if (~is_project).any():
        raw[is_project] = raw[~is_project].mean() * recipe.project_weight
    weights: NDArray[np.float32] = (raw / raw.mean()).astype(np.float32)
    return weights
