% Winning the lottery makes a person rich, losing the wallet ends that.
initiatedAt(rich(X)=true, T) :-
    happensAt(win_lottery(X), T).
terminatedAt(rich(X)=true, T) :-
    happensAt(lose_wallet(X), T).

% A person is where they last went. One place at a time: the next one ends the last.
initiatedAt(location(X)=Y, T) :-
    happensAt(go_to(X,Y), T).

% Whoever is rich or in the pub is happy.
holdsFor(happy(X)=true, I) :-
    holdsFor(rich(X)=true, I1),
    holdsFor(location(X)=pub, I2),
    union_all([I1,I2], I).

% Whom and what the events can be about.
grounding(go_to(Person, Place)) :- person(Person), place(Place).
grounding(lose_wallet(Person)) :- person(Person).
grounding(win_lottery(Person)) :- person(Person).
% Whom and what the fluents can be about.
grounding(location(Person)=Place) :- person(Person), place(Place).
grounding(rich(Person)=true) :- person(Person).
grounding(happy(Person)=true) :- person(Person).
