"""The core of all rule languages: terms, tokens, clauses, diagnostics."""
