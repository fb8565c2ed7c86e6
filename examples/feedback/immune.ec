% Immune response, a loop within a loop: antigen calls helper cells up, helpers call up antibodies,
% antibodies clear the antigen; helpers call up suppressor cells too, and these send them down.
% Every quantity is low or high and acts on another one with a delay, unless it changes meanwhile.
% Time-points are hours. H is a host.

% --- antigen -----------------------------------------------------------------------------------

initiatedAt(antigen(H)=high, T) :-
    happensAt(exposure(H), T),
    \+ holdsAt(antibody(H)=high, T).
fi(antibody(H)=high, antigen(H)=low, 24).
% A chronic infection comes back by itself.
fi(antigen(H)=low, antigen(H)=high, Latency) :-
    chronic(H, Latency).

% --- helper cells ------------------------------------------------------------------------------

% Suppressor cells that are high when the antigen comes keep the helpers down.
fi(antigen(H)=high, helper(H)=high, 12) :-
    \+ holdsAt(suppressor(H)=high, T).
fi(antigen(H)=low, helper(H)=low, 30).
fi(suppressor(H)=high, helper(H)=low, 10).
% Suppression is over and the antigen still there: up again.
fi(suppressor(H)=low, helper(H)=high, 12) :-
    holdsAt(antigen(H)=high, T).

% --- suppressor cells --------------------------------------------------------------------------

fi(helper(H)=high, suppressor(H)=high, 72).
fi(helper(H)=low, suppressor(H)=low, 36).

% --- antibodies --------------------------------------------------------------------------------

% Whoever remembers the antigen answers faster. Some never answer fast enough: in hosts that make
% antibodies more slowly than suppressor cells the two loops chase each other.
fi(helper(H)=high, antibody(H)=high, 16) :-
    holdsAt(memory(H)=true, T).
fi(helper(H)=high, antibody(H)=high, Hours) :-
    \+ holdsAt(memory(H)=true, T),
    answers_within(H, Hours).
% A serum brings antibodies at once, without helpers.
initiatedAt(antibody(H)=high, T) :-
    happensAt(serum(H), T).
fi(helper(H)=low, antibody(H)=low, 20).
% Without supply antibodies decay.
fi(antibody(H)=high, antibody(H)=low, 150).
p(antibody(_)=high).

initiatedAt(memory(H)=true, T) :-
    happensAt(start(antibody(H)=high), T),
    holdsAt(helper(H)=high, T).
ft(memory(_)=true, 1000).
p(memory(_)=true).

% --- what a physician sees ---------------------------------------------------------------------

holdsFor(ill(H)=true, I) :-
    holdsFor(antigen(H)=high, High),
    holdsFor(helper(H)=high, Fever),
    intersect_all([High, Fever], Both),
    intDurGreater(Both, 10, I).
happensAt(relapse(H), T) :-
    happensAt(start(ill(H)=true), T),
    holdsAt(memory(H)=true, T).
