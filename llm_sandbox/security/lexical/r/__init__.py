"""R, read as words, brackets and calls: there is no grammar of it to install."""
