"""What every training shares: data by folds, the loop with its checkpoints, groups, metrics with their intervals.

`loop` says how a head's training is written; `data` and `multihop` read what is learnt from.
"""

from langgraph_evidence.training.base.classification import auroc, balanced_accuracy, best_threshold, bootstrap
from langgraph_evidence.training.base.data import ANY_FOLD, HELD_OUT_FOLDS, TRAIN_FOLDS, TUNE_FOLD, DataFolder, Row
from langgraph_evidence.training.base.groups import Group, group_step
from langgraph_evidence.training.base.intervals import Means, Metrics, with_intervals
from langgraph_evidence.training.base.loop import save_trained, train
from langgraph_evidence.training.base.multihop import FILES, SENTENCE_FILES, full_ranking, passages_of
from langgraph_evidence.training.base.options import Progress, TrainOptions, TrainResult, Watch

__all__ = [
    "ANY_FOLD", "FILES", "HELD_OUT_FOLDS", "SENTENCE_FILES", "TRAIN_FOLDS", "TUNE_FOLD", "DataFolder", "Group",
    "Means", "Metrics", "Progress", "Row", "TrainOptions", "TrainResult", "Watch", "auroc", "balanced_accuracy",
    "best_threshold", "bootstrap", "full_ranking", "group_step", "passages_of", "save_trained", "train",
    "with_intervals",
]  # fmt: skip
