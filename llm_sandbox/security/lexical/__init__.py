"""Code read as a row of words: comments, strings and code told apart, without any grammar."""
