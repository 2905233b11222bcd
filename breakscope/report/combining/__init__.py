"""Several sources as one report: predictions with observations, reports with reports, repeats with repeats."""
