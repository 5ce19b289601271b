"""The drawing of Algorithm 1: the stages of a frame and where each outcome leads, from the table that a run follows."""

from __future__ import annotations

from langgraph_evidence.methods.rebel.graph import ALGORITHM
from langgraph_evidence.methods.rebel.state import WORK


def draw_algorithm() -> str:
    """The table as a mermaid graph: a box a stage with its line of the algorithm, an arrow an outcome."""
    lines = ["graph TD;"]
    for line in ALGORITHM:
        left, right = ("[", "]") if line.stage in WORK else ("([", "])")
        lines.append(f'    {line.stage}{left}"{line.stage}<br/><i>{line.algorithm}</i>"{right}')
    lines.append("    done([done])")
    for line in ALGORITHM:
        lines += [f"    {line.stage} -- {word} --> {after};" for word, after in line.then.items()]
    return "\n".join(lines) + "\n"
