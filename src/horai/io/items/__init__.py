"""Items of a stream from files and from memory."""
