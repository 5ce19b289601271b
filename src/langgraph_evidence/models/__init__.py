"""Local models, inference only: one room a model, with the same name in `training`.

| room | what it holds |
|---|---|
| `base` | the shared encoder, adapters over it, and how full-size models are loaded and shared |
| `query_scorer` | which query would find its passage first (FuRePA) |
| `entailment` | whether passages entail a sentence |
| `reader` | the answer that passages give, or that they give none |
| `sentence_ranker` | which sentences matter to a question or claim |
| `progress_reward` | how good a partial answer is (Think&Cite) |
| `causal` | causal language models: one loader, one way to write, one likelihood |
| `remote` | models behind a scoring server |

Import from a room's front door (`from langgraph_evidence.models.reader import Reader`); nothing heavy is loaded before
a name is asked for. `default_<model>()` gives the one that a process shares, loaded once whoever asks first.
`weights/` holds what is shipped, with a card each.
"""
