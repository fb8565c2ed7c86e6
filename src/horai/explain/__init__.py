"""Answers to why, why not and what if: proofs over what a run found, whatever engine ran."""
