"""Where the changelog of a stream goes, one file for each kind of sink."""
