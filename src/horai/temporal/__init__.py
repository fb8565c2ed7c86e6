"""Algorithms on points and spans of many keys at once, over sorted integer columns.

They know nothing of rules. Every module is an operator or a family of them: plain functions on
columns, with a sweep behind each that numba compiles and keeps on disk. A sweep calls no compiled
function of another file: numba throws its stored code away when the file of a sweep changes, not
when a file it draws on does, and stale code would give wrong answers.
"""
