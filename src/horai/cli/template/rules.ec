% What you want to know, as rules. See docs/language.md of Horai for all that can be said.

% A lamp is lit from just after it is switched on until it is switched off.
initiatedAt(lit(Lamp)=true, T) :-
    happensAt(switch(Lamp, on), T).
terminatedAt(lit(Lamp)=true, T) :-
    happensAt(switch(Lamp, off), T).

% A person is in one room at a time: entering the next one ends being in the last.
initiatedAt(inside(Person)=Room, T) :-
    happensAt(enter(Person, Room), T).

% Light is wasted in a room as long as its lamp is lit and nobody is inside.
holdsFor(wasted(Room)=true, I) :-
    lamp(Lamp, Room),
    holdsFor(lit(Lamp)=true, Lit),
    holdsFor(inside(ann)=Room, Ann),
    holdsFor(inside(bob)=Room, Bob),
    relative_complement_all(Lit, [Ann, Bob], I).
