"""Fitting of the offline model's tables."""
