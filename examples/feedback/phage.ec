% A phage in a bacterium. Two of its genes inhibit each other: repressor ci keeps the phage asleep
% (lysogeny), cro lets it multiply until the cell bursts (lysis). Which one is faster decides.
% Every cell is looked at now and then. What the genes do then turns a product on its way up or down,
% and on the way it may turn back. Time-points are minutes. B is a bacterium.

% --- the infection -----------------------------------------------------------------------------

happensAt(injected(B), T) :-
    happensAt(infect(B), T),
    \+ holdsAt(phase(B)=_, T).

% Hungry cells make little of the enzyme that destroys what ci needs.
initiatedAt(hungry(B)=true, T) :-
    happensAt(starve(B), T).
terminatedAt(hungry(B)=true, T) :-
    happensAt(feed(B), T).

% Ultraviolet light destroys ci for a while.
initiatedAt(damaged(B)=true, T) :-
    happensAt(uv(B), T).
ft(damaged(_)=true, 25).
p(damaged(_)=true).

% --- what is made, seen at a look --------------------------------------------------------------

% ci needs hunger at first; later it keeps itself up.
happensAt(makes(B, ci), T) :-
    happensAt(look(B), T),
    holdsAt(ci(B)=Level, T),
    (holdsAt(hungry(B)=true, T) ; Level = on),
    \+ holdsAt(cro(B)=on, T),
    \+ holdsAt(damaged(B)=true, T).
% Much cro inhibits itself too, so it goes up and down.
happensAt(makes(B, cro), T) :-
    happensAt(look(B), T),
    holdsAt(cro(B)=Level, T),
    Level \= on,
    \+ holdsAt(ci(B)=on, T).

% A product that arrives in the very minute in which it is turned back is neither here nor there; the
% next look finds it off.
happensAt(lost(B, ci), T) :-
    happensAt(look(B), T),
    holdsAt(phase(B)=Phase, T),
    Phase \= burst,
    \+ holdsAt(ci(B)=_, T).
happensAt(lost(B, cro), T) :-
    happensAt(look(B), T),
    holdsAt(phase(B)=Phase, T),
    Phase \= burst,
    \+ holdsAt(cro(B)=_, T).

% --- the repressor -----------------------------------------------------------------------------

initiatedAt(ci(B)=off, T) :-
    happensAt(injected(B), T).
initiatedAt(ci(B)=off, T) :-
    happensAt(lost(B, ci), T).
initiatedAt(ci(B)=rising, T) :-
    happensAt(makes(B, ci), T),
    holdsAt(ci(B)=off, T).
initiatedAt(ci(B)=on, T) :-
    happensAt(makes(B, ci), T),
    holdsAt(ci(B)=falling, T).
initiatedAt(ci(B)=falling, T) :-
    happensAt(look(B), T),
    \+ happensAt(makes(B, ci), T),
    holdsAt(ci(B)=on, T).
initiatedAt(ci(B)=off, T) :-
    happensAt(look(B), T),
    \+ happensAt(makes(B, ci), T),
    holdsAt(ci(B)=rising, T).
terminatedAt(ci(B)=_, T) :-
    happensAt(start(phase(B)=burst), T).
fi(ci(B)=rising, ci(B)=on, 8).
fi(ci(B)=falling, ci(B)=off, 6).

% --- cro ---------------------------------------------------------------------------------------

initiatedAt(cro(B)=off, T) :-
    happensAt(injected(B), T).
initiatedAt(cro(B)=off, T) :-
    happensAt(lost(B, cro), T).
initiatedAt(cro(B)=rising, T) :-
    happensAt(makes(B, cro), T),
    holdsAt(cro(B)=off, T).
initiatedAt(cro(B)=falling, T) :-
    happensAt(look(B), T),
    \+ happensAt(makes(B, cro), T),
    holdsAt(cro(B)=on, T).
initiatedAt(cro(B)=off, T) :-
    happensAt(look(B), T),
    \+ happensAt(makes(B, cro), T),
    holdsAt(cro(B)=rising, T).
terminatedAt(cro(B)=_, T) :-
    happensAt(start(phase(B)=burst), T).
% How fast depends on the strain.
fi(cro(B)=rising, cro(B)=on, R) :-
    strain(B, R).
fi(cro(B)=falling, cro(B)=off, 5).

% --- the fate of the cell ----------------------------------------------------------------------

initiatedAt(phase(B)=undecided, T) :-
    happensAt(injected(B), T).
% While both are there, nothing is decided. Once the phage multiplies, nothing stops it.
initiatedAt(phase(B)=lysogeny, T) :-
    happensAt(look(B), T),
    holdsAt(ci(B)=on, T),
    \+ holdsAt(cro(B)=on, T),
    holdsAt(phase(B)=undecided, T).
initiatedAt(phase(B)=lysis, T) :-
    happensAt(look(B), T),
    holdsAt(cro(B)=on, T),
    \+ holdsAt(ci(B)=on, T),
    holdsAt(phase(B)=Before, T),
    (Before = undecided ; Before = lysogeny).
fi(phase(B)=lysis, phase(B)=burst, 45).
ft(phase(_)=burst, 5).

% Asleep, then awake.
happensAt(induction(B), T) :-
    happensAt(start(phase(B)=lysis), T),
    holdsAt(phase(B)=lysogeny, T).
holdsFor(dormant(B)=true, I) :-
    holdsFor(phase(B)=lysogeny, Asleep),
    intDurGreater(Asleep, 60, I).
