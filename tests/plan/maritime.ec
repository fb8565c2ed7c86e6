% Maritime patterns in the style of event descriptions for composite maritime events.

index(entersArea(Vessel,_), Vessel).
index(leavesArea(Vessel,_), Vessel).
index(gap_start(Vessel), Vessel).
index(gap_end(Vessel), Vessel).
index(stop_start(Vessel), Vessel).
index(stop_end(Vessel), Vessel).
index(slow_motion_start(Vessel), Vessel).
index(slow_motion_end(Vessel), Vessel).
index(change_in_speed_start(Vessel), Vessel).
index(change_in_speed_end(Vessel), Vessel).
index(velocity(Vessel,_,_,_), Vessel).
index(proximity(Vessel,_)=true, Vessel).
index(withinArea(Vessel,_)=true, Vessel).
index(gap(Vessel)=_, Vessel).
index(stopped(Vessel)=_, Vessel).
index(lowSpeed(Vessel)=true, Vessel).
index(tuggingSpeed(Vessel)=true, Vessel).
index(rendezVous(Vessel,_)=true, Vessel).

inputEntity(entersArea(_,_)).
inputEntity(leavesArea(_,_)).
inputEntity(gap_start(_)).
inputEntity(gap_end(_)).
inputEntity(stop_start(_)).
inputEntity(stop_end(_)).
inputEntity(slow_motion_start(_)).
inputEntity(slow_motion_end(_)).
inputEntity(change_in_speed_start(_)).
inputEntity(change_in_speed_end(_)).
inputEntity(velocity(_,_,_,_)).
inputEntity(proximity(_,_)=true).
outputEntity(rendezVous(_,_)=true).
simpleFluent(gap(_)=nearPort).
sDFluent(rendezVous(_,_)=true).
sDFluent(proximity(_,_)=true).

initiatedAt(withinArea(Vessel, AreaType)=true, T) :-
    happensAt(entersArea(Vessel, Area), T),
    areaType(Area, AreaType).
terminatedAt(withinArea(Vessel, AreaType)=true, T) :-
    happensAt(leavesArea(Vessel, Area), T),
    areaType(Area, AreaType).
terminatedAt(withinArea(Vessel, _AreaType)=true, T) :-
    happensAt(gap_start(Vessel), T).

initiatedAt(gap(Vessel)=nearPort, T) :-
    happensAt(gap_start(Vessel), T),
    holdsAt(withinArea(Vessel, nearPorts)=true, T).
initiatedAt(gap(Vessel)=farFromPorts, T) :-
    happensAt(gap_start(Vessel), T),
    \+ holdsAt(withinArea(Vessel, nearPorts)=true, T).
terminatedAt(gap(Vessel)=_Status, T) :-
    happensAt(gap_end(Vessel), T).

initiatedAt(stopped(Vessel)=nearPort, T) :-
    happensAt(stop_start(Vessel), T),
    holdsAt(withinArea(Vessel, nearPorts)=true, T).
initiatedAt(stopped(Vessel)=farFromPorts, T) :-
    happensAt(stop_start(Vessel), T),
    \+ holdsAt(withinArea(Vessel, nearPorts)=true, T).
terminatedAt(stopped(Vessel)=_Status, T) :-
    happensAt(stop_end(Vessel), T).
terminatedAt(stopped(Vessel)=_Status, T) :-
    happensAt(start(gap(Vessel)=_GStatus), T).

initiatedAt(lowSpeed(Vessel)=true, T) :-
    happensAt(slow_motion_start(Vessel), T).
terminatedAt(lowSpeed(Vessel)=true, T) :-
    happensAt(slow_motion_end(Vessel), T).
terminatedAt(lowSpeed(Vessel)=true, T) :-
    happensAt(start(gap(Vessel)=_Status), T).

initiatedAt(changingSpeed(Vessel)=true, T) :-
    happensAt(change_in_speed_start(Vessel), T).
terminatedAt(changingSpeed(Vessel)=true, T) :-
    happensAt(change_in_speed_end(Vessel), T).
terminatedAt(changingSpeed(Vessel)=true, T) :-
    happensAt(start(gap(Vessel)=_Status), T).

initiatedAt(movingSpeed(Vessel)=below, T) :-
    happensAt(velocity(Vessel, Speed, _Heading, _Course), T),
    vesselType(Vessel, Type),
    typeSpeed(Type, Min, _Max, _Avg),
    thresholds(movingMin, MovingMin),
    Speed > MovingMin,
    Speed < Min.
initiatedAt(movingSpeed(Vessel)=normal, T) :-
    happensAt(velocity(Vessel, Speed, _Heading, _Course), T),
    vesselType(Vessel, Type),
    typeSpeed(Type, Min, Max, _Avg),
    inRange(Speed, Min, Max).
initiatedAt(movingSpeed(Vessel)=above, T) :-
    happensAt(velocity(Vessel, Speed, _Heading, _Course), T),
    vesselType(Vessel, Type),
    typeSpeed(Type, _Min, Max, _Avg),
    Speed > Max.
terminatedAt(movingSpeed(Vessel)=_Status, T) :-
    happensAt(start(gap(Vessel)=_GStatus), T).

holdsFor(underWay(Vessel)=true, I) :-
    holdsFor(movingSpeed(Vessel)=below, I1),
    holdsFor(movingSpeed(Vessel)=normal, I2),
    holdsFor(movingSpeed(Vessel)=above, I3),
    union_all([I1, I2, I3], I).

initiatedAt(tuggingSpeed(Vessel)=true, T) :-
    happensAt(velocity(Vessel, Speed, _Heading, _Course), T),
    thresholds(tuggingMin, TuggingMin),
    thresholds(tuggingMax, TuggingMax),
    inRange(Speed, TuggingMin, TuggingMax).
terminatedAt(tuggingSpeed(Vessel)=true, T) :-
    happensAt(velocity(Vessel, Speed, _Heading, _Course), T),
    thresholds(tuggingMin, TuggingMin),
    thresholds(tuggingMax, TuggingMax),
    \+ inRange(Speed, TuggingMin, TuggingMax).
terminatedAt(tuggingSpeed(Vessel)=true, T) :-
    happensAt(start(gap(Vessel)=_Status), T).

holdsFor(anchoredOrMoored(Vessel)=true, I) :-
    holdsFor(stopped(Vessel)=farFromPorts, Istfp),
    holdsFor(withinArea(Vessel, anchorage)=true, Ia),
    intersect_all([Istfp, Ia], Ista),
    holdsFor(stopped(Vessel)=nearPort, Istnp),
    union_all([Ista, Istnp], Ii),
    thresholds(aOrMTime, AOrMTime),
    intDurGreater(Ii, AOrMTime, I).

holdsFor(rendezVous(Vessel1, Vessel2)=true, I) :-
    holdsFor(proximity(Vessel1, Vessel2)=true, Ip),
    \+ oneIsTug(Vessel1, Vessel2),
    holdsFor(lowSpeed(Vessel1)=true, Il1),
    holdsFor(lowSpeed(Vessel2)=true, Il2),
    holdsFor(stopped(Vessel1)=farFromPorts, Is1),
    holdsFor(stopped(Vessel2)=farFromPorts, Is2),
    union_all([Il1, Is1], I1b),
    union_all([Il2, Is2], I2b),
    intersect_all([I1b, I2b, Ip], If),
    If \= [],
    holdsFor(withinArea(Vessel1, nearPorts)=true, Iw1),
    holdsFor(withinArea(Vessel2, nearPorts)=true, Iw2),
    relative_complement_all(If, [Iw1, Iw2], Ii),
    thresholds(rendezvousTime, RendezvousTime),
    intDurGreater(Ii, RendezvousTime, I).

oneIsTug(Vessel1, _Vessel2) :- vesselType(Vessel1, tug).
oneIsTug(_Vessel1, Vessel2) :- vesselType(Vessel2, tug).
inRange(Var, Min, Max) :- Var > Min, Var < Max.

collectIntervals(proximity(_,_)=true).
dynamicDomain(vessel(_)).
dynamicDomain(vpair(_,_)).

grounding(entersArea(Vessel, Area)) :- vessel(Vessel), areaType(Area, _).
grounding(leavesArea(Vessel, Area)) :- vessel(Vessel), areaType(Area, _).
grounding(gap_start(Vessel)) :- vessel(Vessel).
grounding(gap_end(Vessel)) :- vessel(Vessel).
grounding(stop_start(Vessel)) :- vessel(Vessel).
grounding(stop_end(Vessel)) :- vessel(Vessel).
grounding(velocity(Vessel,_,_,_)) :- vessel(Vessel).
grounding(proximity(Vessel1, Vessel2)=true) :- vpair(Vessel1, Vessel2).
grounding(withinArea(Vessel, AreaType)=true) :- vessel(Vessel), areaType(AreaType).
grounding(gap(Vessel)=PortStatus) :- vessel(Vessel), portStatus(PortStatus).
grounding(stopped(Vessel)=PortStatus) :- vessel(Vessel), portStatus(PortStatus).
grounding(lowSpeed(Vessel)=true) :- vessel(Vessel).
grounding(changingSpeed(Vessel)=true) :- vessel(Vessel).
grounding(movingSpeed(Vessel)=Status) :- vessel(Vessel), movingStatus(Status).
grounding(rendezVous(Vessel1, Vessel2)=true) :- vpair(Vessel1, Vessel2).
cachingOrder(withinArea(_,_)=true).
cachingOrder(gap(_)=nearPort).

areaType(anchorage). areaType(nearPorts). areaType(fishing).
areaType(a1, anchorage). areaType(a2, nearPorts). areaType(a3, fishing).
portStatus(nearPort). portStatus(farFromPorts).
movingStatus(below). movingStatus(normal). movingStatus(above).
vesselType(271043015, tug). vesselType(227002330, fishing). vesselType(228190700, cargo).
typeSpeed(tug, 1.2, 15, 8). typeSpeed(fishing, 3, 20, 9). typeSpeed(cargo, 5, 35.5, 17).
thresholds(movingMin, 0.5). thresholds(tuggingMin, 1.2). thresholds(tuggingMax, 15).
thresholds(aOrMTime, 1800). thresholds(rendezvousTime, 240).
