"""Tools beside a run: the project folder, doctor, tuning of windows, equivalence of programs."""
