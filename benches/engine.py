"""The engine under the local chat model, each thing beside what it replaces, in one run.

    evidence models get smollm2
    python benches/engine.py [--part together tree rounding memory theirs]

- `together`: 16 requests at the same time, one after another, and by transformers' own generate, one after another
  and padded into one batch.
- `tree`: a root, three children, nine grandchildren, each of which goes on from its parent's prompt and reply with a
  passage of its own; each level's at the same time; with the beginnings kept and without.
- `rounding`: how far log-probabilities move with the company a reply has, and from a plain forward pass.
- `memory`: the most bytes that were kept under a limit.
- `theirs`: transformers' own continuous batching.

Everything comes from seed 0, in fp32, with as many threads as torch takes. Every figure is the better of two runs that
take turns; read the ratios.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from typing import TYPE_CHECKING, Any

import torch

from langgraph_evidence.models.base import read_pretrained
from langgraph_evidence.models.causal import CausalModel, Sampling, smollm2_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

REQUESTS, WRITTEN = 16, 16
PASSAGE, OWN, REPLY = 150, 50, 8
LIMIT = 64 * 2**20
NOUNS = "river city film king born wrote year music war book house north old first state line game church law".split()

Prompt = list[int]


class Bench:
    """The network, and engines over it that know no beginnings yet."""

    def __init__(self) -> None:
        self.network, self.tokenizer = read_pretrained(
            smollm2_folder(), "AutoModelForCausalLM", what="a causal language model", precision="fp32"
        )
        # No token ends a reply, so that all have the same length.
        self.network.generation_config.eos_token_id = None
        self.tokenizer.eos_token = None
        self.tokenizer.pad_token = "<|endoftext|>"

    def fresh(self, cache_bytes: int = 2**29) -> CausalModel:
        """An engine over the network."""
        return CausalModel(self.network, self.tokenizer, name="smollm2", cache_bytes=cache_bytes)

    def text(self, words: int, chance: random.Random) -> Prompt:
        """The tokens of so many words."""
        return list(self.tokenizer(" ".join(chance.choice(NOUNS) for _ in range(words)))["input_ids"])

    def generate(self, prompts: Sequence[Prompt], limit: int) -> torch.Tensor:
        """Tokens of replies by transformers' own generate, all in one batch padded to the left."""
        longest = max(map(len, prompts))
        ids = torch.tensor([[0] * (longest - len(prompt)) + prompt for prompt in prompts])
        mask = torch.tensor([[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts])
        with torch.inference_mode():
            tokens: torch.Tensor = self.network.generate(
                ids, attention_mask=mask, max_new_tokens=limit, min_new_tokens=limit, do_sample=False, pad_token_id=0
            )
        return tokens


async def ask(model: CausalModel, prompt: Prompt, limit: int) -> list[Any]:
    """The tokens of one greedy reply."""
    steps = model.agenerate(prompt, limit=limit, sampling=Sampling(seeds=[0]))
    return [step[0] async for step in steps]


async def at_once(model: CausalModel, prompts: Sequence[Prompt], limit: int) -> list[list[Any]]:
    """Replies to prompts that come at the same time."""
    return list(await asyncio.gather(*(ask(model, prompt, limit) for prompt in prompts)))


async def in_turn(model: CausalModel, prompts: Sequence[Prompt], limit: int) -> list[list[Any]]:
    """Replies to prompts that come one after another."""
    return [await ask(model, prompt, limit) for prompt in prompts]


def compared(ways: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The seconds of each way: the better of two runs that take turns."""
    best: dict[str, float] = {}
    for _ in range(2):
        for name, way in ways.items():
            begun = time.perf_counter()
            way()
            best[name] = min(best.get(name, float("inf")), time.perf_counter() - begun)
    return best


def some_prompts(bench: Bench) -> list[Prompt]:
    """Prompts of 20 to 60 words that have no beginning in common."""
    chance = random.Random(0)
    return [[100 + number, *bench.text(chance.randrange(20, 60), chance)] for number in range(REQUESTS)]


def together(bench: Bench) -> None:
    """Prints tokens a second."""
    prompts = some_prompts(bench)
    ways: dict[str, Callable[[], object]] = {
        "one after another": lambda: asyncio.run(in_turn(bench.fresh(), prompts, WRITTEN)),
        "generate, one after another": lambda: [bench.generate([prompt], WRITTEN) for prompt in prompts],
        "generate, one padded batch": lambda: bench.generate(prompts, WRITTEN),
        "at the same time": lambda: asyncio.run(at_once(bench.fresh(), prompts, WRITTEN)),
    }
    seconds = compared(ways)
    for name, taken in seconds.items():
        rate, ratio = REQUESTS * WRITTEN / taken, seconds["one after another"] / taken
        print(f"together: {name:28} {rate:7.1f} tokens/s, x{ratio:.2f}")


async def grow(bench: Bench, model: CausalModel) -> None:
    """Asks for a tree of 13 replies."""
    chance = random.Random(0)
    level = [bench.text(PASSAGE, chance)]
    for depth in range(3):
        replies = await at_once(model, level, REPLY)
        if depth < 2:
            level = [
                [*prompt, *(token.id for token in reply), *bench.text(OWN, chance)]
                for prompt, reply in zip(level, replies, strict=True)
                for _ in range(3)
            ]


def tree(bench: Bench) -> None:
    """Prints the seconds of a tree."""
    ways: dict[str, Callable[[], object]] = {
        "nothing kept": lambda: asyncio.run(grow(bench, bench.fresh(cache_bytes=0))),
        "beginnings kept": lambda: asyncio.run(grow(bench, bench.fresh())),
    }
    seconds = compared(ways)
    for name, taken in seconds.items():
        print(f"tree: {name:16} {taken:6.1f} s, x{seconds['nothing kept'] / taken:.2f}")


def rounding(bench: Bench) -> None:
    """Prints the largest differences of log-probabilities."""
    prompts = some_prompts(bench)
    alone = asyncio.run(in_turn(bench.fresh(cache_bytes=0), prompts, WRITTEN))
    crowd = asyncio.run(at_once(bench.fresh(), prompts, WRITTEN))
    same = sum([t.id for t in one] == [t.id for t in other] for one, other in zip(alone, crowd, strict=True))
    equal, company, plain = 0, 0.0, 0.0
    for prompt, one, other in zip(prompts, alone, crowd, strict=True):
        ids = torch.tensor([[*prompt, *(token.id for token in one)]])
        with torch.inference_mode():
            scores = torch.log_softmax(bench.network(ids).logits[0, len(prompt) - 1 : -1], -1)
        for place, (mine, theirs) in enumerate(zip(one, other, strict=True)):
            if mine.id != theirs.id:
                break
            equal += mine.logprob == theirs.logprob
            company = max(company, abs(mine.logprob - theirs.logprob))
            plain = max(plain, abs(theirs.logprob - float(scores[place, theirs.id])))
    print(f"rounding: {same} of {REQUESTS} greedy replies of {WRITTEN} tokens are the same alone and in company")
    print(f"rounding: {equal} of {REQUESTS * WRITTEN} log-probabilities are the same bit for bit")
    print(f"rounding: at most {company:.1e} from alone, {plain:.1e} from a plain forward pass")


def memory(bench: Bench) -> None:
    """Prints the most bytes kept."""
    model, chance, most = bench.fresh(cache_bytes=LIMIT), random.Random(0), 0
    for _ in range(12):
        list(model.generate(bench.text(PASSAGE, chance), limit=2, sampling=Sampling(seeds=[0])))
        most = max(most, model.engine.cache.bytes)
    print(f"memory: at most {most / 2**20:.1f} MiB of {LIMIT / 2**20:.0f} MiB were kept of 12 prompts")


def theirs(bench: Bench) -> None:
    """Prints the seconds of 8 requests of 16 tokens."""
    from transformers import GenerationConfig

    prompts, how = some_prompts(bench)[:8], GenerationConfig(max_new_tokens=16, do_sample=False, eos_token_id=-1)
    ways: dict[str, Callable[[], object]] = {
        "the engine": lambda: asyncio.run(at_once(bench.fresh(), prompts, 16)),
        "transformers' continuous batching": lambda: bench.network.generate_batch(prompts, generation_config=how),
    }
    for name, taken in compared(ways).items():
        print(f"theirs: {name:34} {taken:6.1f} s for 8 requests of 16 tokens")


PARTS = {part.__name__: part for part in (together, tree, rounding, memory, theirs)}


def main() -> None:
    """Runs the parts that are asked for, or all but transformers' own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", nargs="+", choices=PARTS, default=[name for name in PARTS if name != "theirs"])
    parts = parser.parse_args().part
    bench = Bench()
    print(f"{torch.get_num_threads()} threads, fp32, seed 0")
    for name in parts:
        PARTS[name](bench)


if __name__ == "__main__":
    main()
