"""What all rule languages share: terms, tokens, clauses, diagnostics."""
