"""Data sets, official metrics, baselines, a runner that survives a kill, reports, and a closed world to measure on."""
