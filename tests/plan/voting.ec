% A voting procedure with the declarations of older event descriptions.

event(propose(_,_)).        inputEntity(propose(_,_)).        index(propose(Ag,_), Ag).
event(second(_,_)).         inputEntity(second(_,_)).         index(second(Ag,_), Ag).
event(vote(_,_,_)).         inputEntity(vote(_,_,_)).         index(vote(Ag,_,_), Ag).
event(close_ballot(_,_)).   inputEntity(close_ballot(_,_)).   index(close_ballot(Ag,_), Ag).
event(declare(_,_,_)).      inputEntity(declare(_,_,_)).      index(declare(Ag,_,_), Ag).

simpleFluent(status(_)=null).      outputEntity(status(_)=null).      index(status(M)=null, M).
simpleFluent(status(_)=proposed).  outputEntity(status(_)=proposed).  index(status(M)=proposed, M).
simpleFluent(status(_)=voting).    outputEntity(status(_)=voting).    index(status(M)=voting, M).
simpleFluent(status(_)=voted).     outputEntity(status(_)=voted).     index(status(M)=voted, M).
simpleFluent(voted(_,_)=aye).      outputEntity(voted(_,_)=aye).      index(voted(Ag,_)=aye, Ag).
simpleFluent(per(close_ballot(_,_))=true).   outputEntity(per(close_ballot(_,_))=true).
simpleFluent(obl(declare(_,_,_))=true).      outputEntity(obl(declare(_,_,_))=true).
simpleFluent(sanctioned(_)=true).            outputEntity(sanctioned(_)=true).
sDFluent(pow(vote(_,_))=true).               outputEntity(pow(vote(_,_))=true).
cyclic(status(_)=null).
cyclic(status(_)=proposed).
cyclic(status(_)=voting).
cyclic(status(_)=voted).

initially(status(M)=null) :- motion(M).
initiatedAt(status(M)=proposed, T) :-
    happensAt(propose(_P, M), T),
    holdsAt(status(M)=null, T).
initiatedAt(status(M)=voting, T) :-
    happensAt(second(_S, M), T),
    holdsAt(status(M)=proposed, T).
initiatedAt(status(M)=voted, T) :-
    happensAt(close_ballot(C, M), T),
    role_of(C, chair),
    holdsAt(status(M)=voting, T).
initiatedAt(status(M)=null, T) :-
    happensAt(declare(C, M, _), T),
    role_of(C, chair),
    holdsAt(status(M)=voted, T).
fi(status(M)=voting, status(M)=voted, 50).

initiatedAt(voted(V, M)=Vote, T) :-
    happensAt(vote(V, M, Vote), T),
    holdsAt(status(M)=voting, T).
initiatedAt(voted(V, M)=null, T) :-
    happensAt(start(status(M)=null), T),
    role_of(V, voter).

happensAt(auxMotionOutcome(M, Outcome), T) :-
    happensAt(declare(C, M, Outcome), T),
    role_of(C, chair).
initiatedAt(outcome(M)=Outcome, T) :-
    happensAt(auxMotionOutcome(M, Outcome), T).
terminatedAt(outcome(M)=_Outcome, T) :-
    happensAt(start(status(M)=proposed), T).

holdsFor(pow(vote(V, M))=true, I) :-
    holdsFor(status(M)=voting, I),
    role_of(V, voter).
holdsFor(pow(close_ballot(C, M))=true, I) :-
    holdsFor(pow(vote(_V, M))=true, I),
    role_of(C, chair).

initiatedAt(per(close_ballot(C, M))=true, T) :-
    happensAt(end(status(M)=proposed), T),
    role_of(C, chair).
initiatedAt(per(close_ballot(C, M))=false, T) :-
    happensAt(start(status(M)=voted), T),
    role_of(C, chair).

initiatedAt(obl(declare(C, M, carried))=true, T) :-
    happensAt(start(status(M)=voted), T),
    role_of(C, chair),
    findall(V, holdsAt(voted(V, M)=aye, T), Ayes), length(Ayes, For),
    findall(V, holdsAt(voted(V, M)=nay, T), Nays), length(Nays, Against),
    For > Against.
initiatedAt(obl(declare(C, M, carried))=false, T) :-
    happensAt(start(status(M)=null), T),
    role_of(C, chair).

initiatedAt(sanctioned(C)=true, T) :-
    happensAt(close_ballot(C, M), T),
    \+ holdsAt(per(close_ballot(C, M))=true, T).
initiatedAt(sanctioned(C)=true, T) :-
    happensAt(end(status(M)=voted), T),
    \+ happensAt(declare(C, M, carried), T),
    holdsAt(obl(declare(C, M, carried))=true, T).
ft(sanctioned(_)=true, 100).

grounding(propose(Ag, _M)) :- person(Ag).
grounding(vote(Ag, _M, _)) :- person(Ag).
grounding(status(M)=null) :- motion(M).
grounding(voted(Ag, M)=aye) :- person(Ag), role_of(Ag, voter), motion(M).
dgrounded(voted(Ag, _M)=aye, person(Ag)).
grounding(auxMotionOutcome(M, _Outcome)) :- motion(M).
collectGrounds([propose(Ag,_), second(Ag,_), vote(Ag,_,_)], person(Ag)).
dynamicDomain(person(_)).

motion(m1). motion(m2).
role_of(a1, chair). role_of(a2, voter). role_of(a3, voter).
