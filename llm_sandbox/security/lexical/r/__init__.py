"""Engine for R by tokens, brackets and calls, as no grammar of R can be installed."""
