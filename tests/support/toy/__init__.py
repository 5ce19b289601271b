"""A method as small as one can be: a query is asked for, its passages are read, the answer is asked for.

It is the model for a new method's folder; CONTRIBUTING.md registers it, and the conformance suite asks of it what it
asks of every method.
"""

from toy.graph import create_toy
from toy.settings import ToySettings

__all__ = ["ToySettings", "create_toy"]
