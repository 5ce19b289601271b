"""How the shipped weights were made, and are made anew: one room a model, with the same name in `models`.

`heads.HEADS` names every trained head with its training and its metrics; `evidence train` and `evidence models measure`
run them. `base` holds what they share; `offline_planner` fits the tables of `llm.offline`. Needs the extra `train`.
"""
