"""What wild descriptions are made of: entities with several arguments of different sorts.

A form is an entity with slots: `$e` is one of the entities, `$n` a number (whole or decimal), `$v`
anything. Where other descriptions keep to one entity per rule, these join several.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

import horai

SLOT = re.compile(r"\$([env])")
CONSTANTS = {
    "e": ("x", "y"),
    "n": ("1", "2", "2.0", "0.5"),
    "v": ("1", "1.0", "2", "a", "k(a)", "k(1)", '"a"'),
}


@dataclass(frozen=True, slots=True)
class Form:
    """An event (no values) or a fluent, with slots for arguments and values."""

    text: str
    values: tuple[str, ...] = ()
    simple: bool = False

    @property
    def name(self) -> str:
        """What it is called."""
        return self.text.split("(")[0]

    @property
    def slots(self) -> tuple[str, ...]:
        """The sorts of its arguments."""
        return tuple(SLOT.findall(self.text))


# What comes in with the stream. `twin` is the name of an event and of a fluent.
EVENTS = (
    Form("e0"),
    Form("e1($e)"),
    Form("w1($e,$e)"),
    Form("w2($e,$n)"),
    Form("w3($e,$v)"),
    Form("act(close($e,$n))"),
    Form("act(open($e))"),
    Form("twin($e)"),
)
FLUENTS = (
    Form("i1($e)", ("true",)),
    Form("j1($e,$e)", ("true",)),
    Form("j2($e)", ("$v",)),
    Form("per(hold($e,$n))", ("true", "false")),
    Form("per(free($e))", ("true",)),
    Form("twin($e)", ("true", "level($n)")),
)
INPUTS = "".join(
    f"collectIntervals({fluent}=_).\n"
    for fluent in ("i1(_)", "j1(_,_)", "j2(_)", "per(hold(_,_))", "per(free(_))", "twin(_)")
)

FACTS = """
thing(x). thing(y).
near(x,y). near(y,z). near(z,z).
dist(x,y,3). dist(y,x,2.5). dist(y,z,1).
limit(x,4). limit(y,7). limit(z,2).
rank(x,1). rank(y,1.0). rank(z,high). rank(x,k(a)).
route(x,[y,z,x]). route(y,[]). route(z,[1,2.5]).
"""
RELATIONS = """
reach(A,B) :- near(A,B).
reach(A,C) :- reach(A,B), near(B,C).
apart(A,B) :- thing(A), thing(B), \\+ reach(A,B).
cut_off(A) :- thing(A), \\+ joins(A).
joins(A) :- apart(_,A), reach(A,_).
even_steps(A,B) :- near(A,C), odd_steps(C,B).
odd_steps(A,B) :- near(A,B).
odd_steps(A,B) :- near(A,C), even_steps(C,B).
peers(A,B) :- near(A,B).
peers(A,B) :- near(B,A).
stop(A,B) :- route(A,L), member(B,L).
second(A,B) :- route(A,L), nth1(2,L,B).
halved(A,H) :- limit(A,N), H is N/2.
"""
PROCEDURES = """
far(N,M) :- D is abs(N-M), D > 1.
grade(N,low) :- N < 2.
grade(N,high) :- N >= 2.
total([],0).
total([H|R],N) :- total(R,M), N is M+H.
extended(L,V,M) :- append(L,[V],M).
"""
HELPERS = """
lately(A,T) :- happensAt(e1(A),T0), T0 =< T, T-T0 < 4.
linked_at(A,B,T) :- holdsAt(j1(A,B)=true,T).
linked_at(A,B,T) :- near(A,B), holdsAt(i1(B)=true,T).
lonely(A,T) :- \\+ linked_at(A,_,T), \\+ happensAt(w1(A,_),T).
"""
# How each is called; all variables of the first part have a value before.
TESTS = (
    *("near($e,$e)", "reach($e,$e)", "\\+ reach($e,$e)", "apart($e,$e)", "cut_off($e)"),
    *("\\+ peers($e,$e)", "even_steps($e,$e)", "stop($e,$v)", "rank($e,$v)", "\\+ rank($e,$v)"),
    *("far($n,$n)", "grade($n,low)", "\\+ grade($n,high)", "member($v,[1,a,k(1),2.0])"),
    *("$e \\= $e", "$e @< $e", "$n < $n", "$n =:= $n", "$n == $n", "$v == $v", "$v \\= $v"),
    *("$n + $n > 3", "$n * 0.5 =< 1", "$n mod 2 =:= 1", "number($v)", "integer($n)", "atom($v)"),
    *("$v @> $v", "compound($v)", "\\+ ($v = k(_))", "\\+ float($n)", "thing($e)"),
)
PYTHON_TESTS = ("py_odd($n)", "py_alike($v,$v)", "py_close($n,$n)", "\\+ py_close($n,$n)")
# What gives a value: the condition, the name of its variable, the sort of the value.
GIVERS = (
    *(("near($e,NEW)", "e"), ("reach(NEW,$e)", "e"), ("dist($e,_,NEW)", "n")),
    *(("limit($e,NEW)", "n"), ("rank($e,NEW)", "v"), ("halved($e,NEW)", "n")),
    *(("stop($e,NEW)", "v"), ("second($e,NEW)", "v"), ("peers($e,NEW)", "e")),
    *(("NEW is $n+1", "n"), ("NEW is $n*$n", "n"), ("NEW is $n/2", "n"), ("NEW is $n//2", "n")),
    *(("NEW is max($n,$n)", "n"), ("NEW is $n-0.5", "n"), ("NEW is round($n)", "n")),
    *(("NEW = k($v)", "v"), ("$v = k(NEW)", "v"), ("grade($n,NEW)", "v")),
    *(("NEW is T-$n", "n"), ("NEW is T mod 3", "n"), ("member(NEW,[x,y])", "e")),
    *(("between(1,3,NEW)", "n"), ("NEW = [$n,$n]", "l"), ("route($e,NEW)", "l")),
)
PYTHON_GIVERS = (("py_third($n,NEW)", "n"), ("py_pair($e,NEW)", "v"), ("py_scaled($n,NEW)", "n"))
LISTS = (
    *(("length($l,NEW)", "n"), ("member(NEW,$l)", "v"), ("nth0(0,$l,NEW)", "v")),
    *(("nth1(2,$l,NEW)", "v"), ("last($l,NEW)", "v"), ("append($l,[1],NEW)", "l")),
    *(("extended($l,a,NEW)", "l"), ("reverse($l,NEW)", "l"), ("sort($l,NEW)", "l")),
    *(("list_to_set($l,NEW)", "l"), ("$l = [NEW|_]", "v")),
)


def py_odd(number: Any) -> bool:
    """A test."""
    return bool(number % 2 == 1)


def py_alike(one: Any, other: Any) -> bool:
    """A test of whatever there is."""
    return type(one) is type(other)


def py_third(number: Any) -> float | None:
    """It computes, but not of everything."""
    return None if number == 1 else number / 3


def py_pair(who: Any) -> list[Any]:
    """It computes a list."""
    return [who, 1]


@horai.vectorised
def py_close(one: Any, other: Any) -> Any:
    """A test of whole columns."""
    return np.abs(one.astype(float) - other.astype(float)) < 1.25


@horai.vectorised
def py_scaled(number: Any) -> Any:
    """It computes whole columns; of 2 there is no answer."""
    numbers = number.astype(float)
    return np.where(numbers == 2, np.nan, numbers * 2)


PREDICATES = {
    function.__name__: function
    for function in (py_odd, py_alike, py_third, py_pair, py_close, py_scaled)
}
