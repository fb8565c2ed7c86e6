% Activities of vessels, from the events that a position tracker and a spatial join upstream report.
% Time-points are seconds, speeds are knots, directions are degrees.

% Vessels that are close to each other arrive as intervals. Only pairs that were ever close can do
% something together, so the stream itself says which pairs to look at.
collectIntervals(proximity(_, _)=true).
dynamicDomain(vesselPair(_, _)).
grounding(proximity(V1, V2)=true) :- vesselPair(V1, V2).

% --- where a vessel is -------------------------------------------------------------------------

initiatedAt(withinArea(V, Kind)=true, T) :-
    happensAt(entersArea(V, Area), T),
    areaType(Area, Kind).
terminatedAt(withinArea(V, Kind)=true, T) :-
    happensAt(leavesArea(V, Area), T),
    areaType(Area, Kind).
% A vessel that is silent may be anywhere.
terminatedAt(withinArea(V, Kind)=true, T) :-
    happensAt(gap_start(V), T),
    areaKind(Kind).

% --- silence -----------------------------------------------------------------------------------

initiatedAt(gap(V)=nearPorts, T) :-
    happensAt(gap_start(V), T),
    holdsAt(withinArea(V, nearPorts)=true, T).
initiatedAt(gap(V)=farFromPorts, T) :-
    happensAt(gap_start(V), T),
    \+ holdsAt(withinArea(V, nearPorts)=true, T).
terminatedAt(gap(V)=_, T) :-
    happensAt(gap_end(V), T).

% --- how a vessel moves ------------------------------------------------------------------------

initiatedAt(stopped(V)=nearPorts, T) :-
    happensAt(stop_start(V), T),
    holdsAt(withinArea(V, nearPorts)=true, T).
initiatedAt(stopped(V)=farFromPorts, T) :-
    happensAt(stop_start(V), T),
    \+ holdsAt(withinArea(V, nearPorts)=true, T).
terminatedAt(stopped(V)=_, T) :-
    happensAt(stop_end(V), T).
terminatedAt(stopped(V)=_, T) :-
    happensAt(start(gap(V)=_), T).

initiatedAt(lowSpeed(V)=true, T) :-
    happensAt(slow_motion_start(V), T).
terminatedAt(lowSpeed(V)=true, T) :-
    happensAt(slow_motion_end(V), T).
terminatedAt(lowSpeed(V)=true, T) :-
    happensAt(start(gap(V)=_), T).

initiatedAt(changingSpeed(V)=true, T) :-
    happensAt(change_in_speed_start(V), T).
terminatedAt(changingSpeed(V)=true, T) :-
    happensAt(change_in_speed_end(V), T).
terminatedAt(changingSpeed(V)=true, T) :-
    happensAt(start(gap(V)=_), T).

% Slower, as fast, or faster than is usual for vessels of its type.
initiatedAt(movingSpeed(V)=below, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    vesselType(V, Type),
    typeSpeed(Type, Min, _, _),
    threshold(underWayMin, Least),
    Speed >= Least,
    Speed < Min.
initiatedAt(movingSpeed(V)=normal, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    vesselType(V, Type),
    typeSpeed(Type, Min, Max, _),
    inRange(Speed, Min, Max).
initiatedAt(movingSpeed(V)=above, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    vesselType(V, Type),
    typeSpeed(Type, _, Max, _),
    Speed > Max.
terminatedAt(movingSpeed(V)=_, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(underWayMin, Least),
    Speed < Least.
terminatedAt(movingSpeed(V)=_, T) :-
    happensAt(start(gap(V)=_), T).

holdsFor(underWay(V)=true, I) :-
    holdsFor(movingSpeed(V)=below, Below),
    holdsFor(movingSpeed(V)=normal, Normal),
    holdsFor(movingSpeed(V)=above, Above),
    union_all([Below, Normal, Above], I).

initiatedAt(highSpeedNearCoast(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(nearCoastMax, Most),
    Speed > Most,
    holdsAt(withinArea(V, nearCoast)=true, T).
terminatedAt(highSpeedNearCoast(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(nearCoastMax, Most),
    Speed =< Most.
terminatedAt(highSpeedNearCoast(V)=true, T) :-
    happensAt(end(withinArea(V, nearCoast)=true), T).

% Wind and current take a vessel elsewhere than where it points.
initiatedAt(drifting(V)=true, T) :-
    happensAt(velocity(V, _, Course, Heading), T),
    angle(Course, Heading, Angle),
    threshold(driftAngle, Most),
    Angle > Most,
    holdsAt(underWay(V)=true, T).
terminatedAt(drifting(V)=true, T) :-
    happensAt(velocity(V, _, Course, Heading), T),
    angle(Course, Heading, Angle),
    threshold(driftAngle, Most),
    Angle =< Most.
terminatedAt(drifting(V)=true, T) :-
    happensAt(end(underWay(V)=true), T).

% --- at anchor, and waiting --------------------------------------------------------------------

holdsFor(anchoredOrMoored(V)=true, I) :-
    holdsFor(stopped(V)=farFromPorts, Stopped),
    holdsFor(withinArea(V, anchorage)=true, Anchorage),
    holdsFor(stopped(V)=nearPorts, Moored),
    intersect_all([Stopped, Anchorage], Anchored),
    union_all([Anchored, Moored], Still),
    threshold(mooringTime, Least),
    intDurGreater(Still, Least, I).

holdsFor(loitering(V)=true, I) :-
    holdsFor(lowSpeed(V)=true, Slow),
    holdsFor(stopped(V)=farFromPorts, Stopped),
    holdsFor(withinArea(V, nearCoast)=true, Coast),
    holdsFor(anchoredOrMoored(V)=true, Anchored),
    union_all([Slow, Stopped], Idle),
    relative_complement_all(Idle, [Coast, Anchored], AtSea),
    threshold(loiteringTime, Least),
    intDurGreater(AtSea, Least, I).

% --- trawling ----------------------------------------------------------------------------------

initiatedAt(trawlingSpeed(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    vesselType(V, fishing),
    threshold(trawlingMin, Min),
    threshold(trawlingMax, Max),
    inRange(Speed, Min, Max),
    holdsAt(withinArea(V, fishing)=true, T).
terminatedAt(trawlingSpeed(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(trawlingMin, Min),
    threshold(trawlingMax, Max),
    \+ inRange(Speed, Min, Max).
terminatedAt(trawlingSpeed(V)=true, T) :-
    happensAt(start(gap(V)=_), T).
terminatedAt(trawlingSpeed(V)=true, T) :-
    happensAt(end(withinArea(V, fishing)=true), T).

% A trawler goes to and fro: every turn starts the clock again, and when no other follows in time,
% the movement is over.
initiatedAt(trawlingMovement(V)=true, T) :-
    happensAt(change_in_heading(V), T),
    vesselType(V, fishing),
    holdsAt(withinArea(V, fishing)=true, T).
terminatedAt(trawlingMovement(V)=true, T) :-
    happensAt(end(withinArea(V, fishing)=true), T).
fi(trawlingMovement(V)=true, trawlingMovement(V)=false, Wait) :-
    threshold(trawlingTurn, Wait).
p(trawlingMovement(_)=true).

holdsFor(trawling(V)=true, I) :-
    holdsFor(trawlingSpeed(V)=true, Speed),
    holdsFor(trawlingMovement(V)=true, Movement),
    intersect_all([Speed, Movement], Both),
    threshold(trawlingTime, Least),
    intDurGreater(Both, Least, I).

% --- search and rescue -------------------------------------------------------------------------

initiatedAt(searchAndRescueSpeed(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    vesselType(V, sar),
    threshold(searchMin, Min),
    Speed >= Min.
terminatedAt(searchAndRescueSpeed(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(searchMin, Min),
    Speed < Min.
terminatedAt(searchAndRescueSpeed(V)=true, T) :-
    happensAt(start(gap(V)=_), T).

% Who searches keeps turning and changing speed.
initiatedAt(searchAndRescueMovement(V)=true, T) :-
    happensAt(change_in_heading(V), T),
    vesselType(V, sar).
initiatedAt(searchAndRescueMovement(V)=true, T) :-
    happensAt(start(changingSpeed(V)=true), T),
    vesselType(V, sar).
terminatedAt(searchAndRescueMovement(V)=true, T) :-
    happensAt(start(gap(V)=_), T).
fi(searchAndRescueMovement(V)=true, searchAndRescueMovement(V)=false, Wait) :-
    threshold(searchTurn, Wait).
p(searchAndRescueMovement(_)=true).

holdsFor(searchAndRescue(V)=true, I) :-
    holdsFor(searchAndRescueSpeed(V)=true, Speed),
    holdsFor(searchAndRescueMovement(V)=true, Movement),
    intersect_all([Speed, Movement], Both),
    threshold(searchTime, Least),
    intDurGreater(Both, Least, I).

% --- two vessels together ----------------------------------------------------------------------

initiatedAt(tuggingSpeed(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(tuggingMin, Min),
    threshold(tuggingMax, Max),
    inRange(Speed, Min, Max).
terminatedAt(tuggingSpeed(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(tuggingMin, Min),
    threshold(tuggingMax, Max),
    \+ inRange(Speed, Min, Max).
terminatedAt(tuggingSpeed(V)=true, T) :-
    happensAt(start(gap(V)=_), T).

grounding(tugging(V1, V2)=true) :-
    vesselPair(V1, V2),
    vesselType(V1, Type1),
    vesselType(V2, Type2),
    oneIs(tug, Type1, Type2).
holdsFor(tugging(V1, V2)=true, I) :-
    holdsFor(proximity(V1, V2)=true, Close),
    holdsFor(tuggingSpeed(V1)=true, Speed1),
    holdsFor(tuggingSpeed(V2)=true, Speed2),
    intersect_all([Close, Speed1, Speed2], Together),
    threshold(towingTime, Least),
    intDurGreater(Together, Least, I).

% Slow or stopped, and not where everybody is: what meetings at sea have in common.
holdsFor(idleAtSea(V)=true, I) :-
    holdsFor(lowSpeed(V)=true, Slow),
    holdsFor(stopped(V)=farFromPorts, Stopped),
    holdsFor(withinArea(V, nearPorts)=true, Port),
    holdsFor(withinArea(V, nearCoast)=true, Coast),
    union_all([Slow, Stopped], Idle),
    relative_complement_all(Idle, [Port, Coast], I).

grounding(pilotOps(V1, V2)=true) :-
    vesselPair(V1, V2),
    vesselType(V1, Type1),
    vesselType(V2, Type2),
    oneIs(pilot, Type1, Type2).
holdsFor(pilotOps(V1, V2)=true, I) :-
    holdsFor(proximity(V1, V2)=true, Close),
    holdsFor(idleAtSea(V1)=true, Idle1),
    holdsFor(idleAtSea(V2)=true, Idle2),
    intersect_all([Close, Idle1, Idle2], I).

% Tugs, pilots and rescuers meet others as a matter of course; for others it may be a transfer.
grounding(rendezVous(V1, V2)=true) :-
    vesselPair(V1, V2),
    vesselType(V1, Type1),
    vesselType(V2, Type2),
    \+ service(Type1),
    \+ service(Type2).
holdsFor(rendezVous(V1, V2)=true, I) :-
    holdsFor(proximity(V1, V2)=true, Close),
    holdsFor(idleAtSea(V1)=true, Idle1),
    holdsFor(idleAtSea(V2)=true, Idle2),
    intersect_all([Close, Idle1, Idle2], Together),
    threshold(meetingTime, Least),
    intDurGreater(Together, Least, I).

% Silence shortly before a rendez-vous is worth a look.
happensAt(darkMeeting(V1, V2), T) :-
    happensAt(start(rendezVous(V1, V2)=true), T),
    (V = V1 ; V = V2),
    happensAt(end(gap(V)=farFromPorts), T0),
    T0 =< T,
    T - T0 =< 7200.
