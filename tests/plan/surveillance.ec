% Long-term activities of people under surveillance.

buildFromPoints(walking(_)=true).
buildFromPoints(active(_)=true).
buildFromPoints(inactive(_)=true).
collectIntervals(distance(_,_,24)=true).
collectIntervals(distance(_,_,30)=true).
collectIntervals(distance(_,_,34)=true).
index(distance(Id1,_,24)=true, Id1).

holdsFor(close(Id1, Id2, 24)=true, I) :-
    holdsFor(distance(Id1, Id2, 24)=true, I).
holdsFor(close(Id1, Id2, 30)=true, I) :-
    holdsFor(close(Id1, Id2, 24)=true, I1),
    holdsFor(distance(Id1, Id2, 30)=true, I2),
    union_all([I1, I2], I).
holdsFor(close(Id1, Id2, 34)=true, I) :-
    holdsFor(close(Id1, Id2, 30)=true, I1),
    holdsFor(distance(Id1, Id2, 34)=true, I2),
    union_all([I1, I2], I).
holdsFor(close(Id1, Id2, Threshold)=false, I) :-
    holdsFor(close(Id1, Id2, Threshold)=true, I1),
    complement_all([I1], I).
holdsFor(closeSymmetric(Id1, Id2, Threshold)=true, I) :-
    holdsFor(close(Id1, Id2, Threshold)=true, I1),
    holdsFor(close(Id2, Id1, Threshold)=true, I2),
    union_all([I1, I2], I).

initiatedAt(person(Id)=true, T) :-
    happensAt(start(walking(Id)=true), T),
    \+ happensAt(disappear(Id), T).
initiatedAt(person(Id)=true, T) :-
    happensAt(start(active(Id)=true), T),
    \+ happensAt(disappear(Id), T).
initiatedAt(person(Id)=false, T) :-
    happensAt(disappear(Id), T).

initiatedAt(leaving_object(Person, Object)=true, T) :-
    happensAt(appear(Object), T),
    holdsAt(inactive(Object)=true, T),
    holdsAt(person(Person)=true, T),
    holdsAt(closeSymmetric(Person, Object, 30)=true, T).
initiatedAt(leaving_object(_Person, Object)=false, T) :-
    happensAt(disappear(Object), T).

holdsFor(activeOrInactivePerson(P)=true, I) :-
    holdsFor(active(P)=true, Ia),
    holdsFor(inactive(P)=true, In),
    holdsFor(person(P)=true, Ip),
    intersect_all([In, Ip], InP),
    union_all([Ia, InP], I).

holdsFor(moving(P1, P2)=true, I) :-
    holdsFor(walking(P1)=true, I1),
    holdsFor(walking(P2)=true, I2),
    intersect_all([I1, I2], Iw),
    \+ Iw = [],
    holdsFor(close(P1, P2, 34)=true, Ic),
    intersect_all([Iw, Ic], I).

initiatedAt(meeting(P1, P2)=true, T) :-
    happensAt(start(greeting(P1, P2)=true), T),
    \+ happensAt(disappear(P1), T),
    \+ happensAt(disappear(P2), T).
initiatedAt(meeting(P1, P2)=false, T) :-
    happensAt(start(close(P1, P2, 34)=false), T).
initiatedAt(meeting(P1, _P2)=false, T) :-
    happensAt(start(walking(P1)=true), T).
holdsFor(greeting(P1, P2)=true, I) :-
    holdsFor(activeOrInactivePerson(P1)=true, I1),
    \+ I1 = [],
    holdsFor(person(P2)=true, I2),
    intersect_all([I1, I2], I3),
    holdsFor(moving(P1, P2)=true, I4),
    relative_complement_all(I3, [I4], I).

grounding(walking(P)=true) :- id(P).
grounding(leaving_object(P, O)=true) :- id(P), id(O), P \= O.
grounding(leaving_object(P, O)=false) :- id(P), id(O), P \= O.
grounding(meeting(P1, P2)=true) :- id(P1), id(P2), P1 @< P2.
grounding(meeting(P1, P2)=false) :- id(P1), id(P2), P1 @< P2.
id(id0). id(id1). id(id2).
