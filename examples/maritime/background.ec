% What holds at sea in general: limits in knots, degrees and seconds. Which vessels and areas there
% are is written by generate.py into fleet.ec.

% The usual speeds of a type of vessel: least, most, average.
typeSpeed(cargo, 9.0, 16.0, 12.5).
typeSpeed(tanker, 8.0, 15.0, 11.5).
typeSpeed(passenger, 11.0, 24.0, 17.0).
typeSpeed(pleasure, 4.0, 14.0, 8.0).
typeSpeed(fishing, 5.0, 12.0, 8.5).
typeSpeed(tug, 4.0, 12.0, 8.0).
typeSpeed(pilot, 6.0, 22.0, 14.0).
typeSpeed(sar, 8.0, 28.0, 18.0).

% The kinds of areas; areaType in fleet.ec says which area is of which.
areaKind(nearPorts).
areaKind(nearCoast).
areaKind(anchorage).
areaKind(fishing).

threshold(underWayMin, 0.5).
threshold(nearCoastMax, 5.0).
threshold(driftAngle, 30.0).
threshold(tuggingMin, 1.2).
threshold(tuggingMax, 7.0).
threshold(trawlingMin, 1.0).
threshold(trawlingMax, 7.0).
threshold(searchMin, 2.7).

% How long a turn, or a change of speed, lets us believe that more will follow.
threshold(trawlingTurn, 600).
threshold(searchTurn, 900).

% How long something must last to be what it looks like.
threshold(trawlingTime, 1200).
threshold(searchTime, 600).
threshold(mooringTime, 900).
threshold(loiteringTime, 1500).
threshold(meetingTime, 240).
threshold(towingTime, 600).

% --- helpers -----------------------------------------------------------------------------------

inRange(Speed, Low, High) :-
    Speed >= Low,
    Speed =< High.

% The angle between two directions, the short way round.
angle(A, B, Angle) :-
    D is abs(A - B),
    Angle is min(D, 360 - D).

% Exactly one of two types is the given one. This is about types: about pairs of vessels it would be
% a table as large as the square of the fleet.
oneIs(Type, Type, Other) :- type(Type), type(Other), Other \= Type.
oneIs(Type, Other, Type) :- type(Type), type(Other), Other \= Type.

type(Type) :- typeSpeed(Type, _, _, _).

service(tug).
service(pilot).
service(sar).
