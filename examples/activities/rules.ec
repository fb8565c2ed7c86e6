% What people in front of a camera do together. Image processing upstream says what each body does
% and who is close to whom, as intervals, and when something is tracked for the first and last time.
% Time-points are seconds.

collectIntervals(walking(_)=true).
collectIntervals(running(_)=true).
collectIntervals(active(_)=true).
collectIntervals(inactive(_)=true).
collectIntervals(abrupt(_)=true).
collectIntervals(close(_, _)=true).

% --- people and objects ------------------------------------------------------------------------

% Whatever moves by itself is a person until it is out of sight.
initiatedAt(person(P)=true, T) :-
    happensAt(start(walking(P)=true), T),
    \+ happensAt(disappear(P), T).
initiatedAt(person(P)=true, T) :-
    happensAt(start(running(P)=true), T),
    \+ happensAt(disappear(P), T).
initiatedAt(person(P)=true, T) :-
    happensAt(start(active(P)=true), T),
    \+ happensAt(disappear(P), T).
terminatedAt(person(P)=true, T) :-
    happensAt(disappear(P), T).

% Upstream names each pair once, in any order.
holdsFor(near(A, B)=true, I) :-
    holdsFor(close(A, B)=true, I).
holdsFor(near(A, B)=true, I) :-
    holdsFor(close(B, A)=true, I).

% Something that appears, lies still and has a person beside it was put down by that person.
initiatedAt(leaving_object(P, O)=true, T) :-
    happensAt(appear(O), T),
    holdsAt(inactive(O)=true, T),
    holdsAt(near(P, O)=true, T),
    holdsAt(person(P)=true, T).
terminatedAt(leaving_object(P, O)=true, T) :-
    happensAt(disappear(O), T),
    holdsAt(leaving_object(P, O)=true, T).

% Left alone: who put it down has not been near for more than half a minute. People who work there
% may leave things.
holdsFor(unattended(O)=true, I) :-
    holdsFor(leaving_object(P, O)=true, Left),
    \+ staff(P),
    holdsFor(near(P, O)=true, Near),
    relative_complement_all(Left, [Near], Alone),
    intDurGreater(Alone, 30, I).

% --- two people --------------------------------------------------------------------------------

% An inactive person is one that stands still; an inactive object is just an object.
holdsFor(standing(P)=true, I) :-
    holdsFor(active(P)=true, Active),
    holdsFor(inactive(P)=true, Inactive),
    holdsFor(person(P)=true, Person),
    intersect_all([Inactive, Person], Still),
    union_all([Active, Still], I).

holdsFor(moving(A, B)=true, I) :-
    holdsFor(close(A, B)=true, Close),
    holdsFor(walking(A)=true, WalkA),
    holdsFor(walking(B)=true, WalkB),
    intersect_all([Close, WalkA, WalkB], Together),
    intDurGreater(Together, 5, I).

% A meeting starts when two people stand together, and it lasts, whatever they do, until they part
% or one walks or runs off or is out of sight.
holdsFor(greeting(A, B)=true, I) :-
    holdsFor(close(A, B)=true, Close),
    holdsFor(standing(A)=true, StandA),
    holdsFor(standing(B)=true, StandB),
    intersect_all([Close, StandA, StandB], I).
initiatedAt(meeting(A, B)=true, T) :-
    happensAt(start(greeting(A, B)=true), T),
    \+ happensAt(disappear(A), T),
    \+ happensAt(disappear(B), T).
terminatedAt(meeting(A, B)=true, T) :-
    happensAt(end(close(A, B)=true), T).
terminatedAt(meeting(A, B)=true, T) :-
    happensAt(gone(P), T),
    holdsAt(meeting(A, B)=true, T),
    (P = A ; P = B).

happensAt(gone(P), T) :-
    happensAt(start(walking(P)=true), T).
happensAt(gone(P), T) :-
    happensAt(start(running(P)=true), T).
happensAt(gone(P), T) :-
    happensAt(disappear(P), T).

% Fighting: close, one of them abrupt, and nobody just stands there.
holdsFor(fighting(A, B)=true, I) :-
    holdsFor(close(A, B)=true, Close),
    holdsFor(abrupt(A)=true, AbruptA),
    holdsFor(abrupt(B)=true, AbruptB),
    holdsFor(inactive(A)=true, StillA),
    holdsFor(inactive(B)=true, StillB),
    union_all([AbruptA, AbruptB], Abrupt),
    intersect_all([Close, Abrupt], Struggle),
    relative_complement_all(Struggle, [StillA, StillB], Fight),
    intDurGreater(Fight, 3, I).

% After a fight one runs and the other runs after him.
holdsFor(chase(A, B)=true, I) :-
    holdsFor(close(A, B)=true, Close),
    holdsFor(running(A)=true, RunA),
    holdsFor(running(B)=true, RunB),
    intersect_all([Close, RunA, RunB], I).
happensAt(flight(A, B), T) :-
    happensAt(end(fighting(A, B)=true), T0),
    happensAt(start(chase(A, B)=true), T),
    T >= T0,
    T - T0 =< 10.
