"""Measures of an answer that may be trusted: its citations, its support, when to decline, and what fools a verifier.

| module | what it holds |
|---|---|
| `sources` | the questions of a fold, with paragraphs and gold |
| `recorded` | runs of a method, kept whole, so that verifiers are compared without running it again |
| `alce` | citation recall and precision, by any judge |
| `gold` | how many quotes are gold supporting sentences |
| `guesses`, `risk`, `calibration` | best guesses, which of them a score declines, and whether it means what it says |
| `facts`, `changes`, `denials`, `rewordings`, `sets` | true answers, made false by one fact or said anew |
| `items`, `details`, `statements`, `verbs` | what those are made of |
| `tricks` | passages that order a verifier to believe |
| `verifiers`, `reports` | the verifiers by name, and the measures as tables |

`benches/citations.py` prints them. Nothing here is used in training.
"""
