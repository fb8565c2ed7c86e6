% How commercial vehicles are driven, from what their trackers report and what a map and a weather
% service add to it. Time-points are seconds, speeds km/h, fuel is in litres. V is a vehicle.

% Stretches of road with ice arrive when the vehicle has left them.
collectIntervals(icyRoad(_)=true).

% --- what messages say -------------------------------------------------------------------------

initiatedAt(engine(V)=running, T) :-
    happensAt(engineOn(V), T).
initiatedAt(engine(V)=off, T) :-
    happensAt(engineOff(V), T).

initiatedAt(road(V)=Type, T) :-
    happensAt(roadChange(V, Type), T).

initiatedAt(visibility(V)=Level, T) :-
    happensAt(visibilityChange(V, Level), T).

initiatedAt(moving(V)=true, T) :-
    happensAt(speed(V, Speed), T),
    limit(standing, Most),
    Speed > Most.
terminatedAt(moving(V)=true, T) :-
    happensAt(speed(V, Speed), T),
    limit(standing, Most),
    Speed =< Most.
terminatedAt(moving(V)=true, T) :-
    happensAt(engineOff(V), T).

% An accelerometer notices all three; what they are a sign of depends on the place.
happensAt(harsh(V, acceleration), T) :- happensAt(abruptAcceleration(V), T).
happensAt(harsh(V, braking), T) :- happensAt(abruptBraking(V), T).
happensAt(harsh(V, cornering), T) :- happensAt(abruptCornering(V), T).

% --- speed -------------------------------------------------------------------------------------

% How fast is too fast depends on the road and on the kind of vehicle.
initiatedAt(highSpeed(V)=true, T) :-
    happensAt(speed(V, Speed), T),
    holdsAt(road(V)=Type, T),
    vehicleKind(V, Kind),
    speedLimit(Type, Kind, Most),
    Speed > Most.
terminatedAt(highSpeed(V)=true, T) :-
    happensAt(speed(V, Speed), T),
    holdsAt(road(V)=Type, T),
    vehicleKind(V, Kind),
    speedLimit(Type, Kind, Most),
    Speed =< Most.
terminatedAt(highSpeed(V)=true, T) :-
    happensAt(engineOff(V), T).

% --- fuel --------------------------------------------------------------------------------------

% Tenths of the tank are exact enough to see what comes and goes.
initiatedAt(tank(V)=Tenths, T) :-
    happensAt(fuelLevel(V, Level), T),
    tenths(V, Level, Tenths).

% Who burns more than need be, with less than half a tank, should not pass a petrol station.
initiatedAt(refuelOpportunity(V)=true, T) :-
    happensAt(closeToGas(V), T),
    holdsAt(highSpeed(V)=true, T),
    happensAt(fuelLevel(V, Level), T),
    threshold(V, fuel, Tank),
    Level < Tank / 2.
terminatedAt(refuelOpportunity(V)=true, T) :-
    happensAt(fuelLevel(V, Level), T),
    threshold(V, fuel, Tank),
    Level >= Tank / 2.

happensAt(refuelled(V), T) :-
    happensAt(fuelLevel(V, Level), T),
    tenths(V, Level, Tenths),
    holdsAt(tank(V)=Before, T),
    limit(refuelling, Least),
    Tenths - Before >= Least.

% Fuel that goes while the engine does not run has gone somewhere else.
happensAt(fuelTheft(V), T) :-
    happensAt(fuelLevel(V, Level), T),
    tenths(V, Level, Tenths),
    holdsAt(tank(V)=Before, T),
    \+ holdsAt(engine(V)=running, T),
    limit(theft, Least),
    Before - Tenths >= Least.

% --- danger ------------------------------------------------------------------------------------

holdsFor(hazard(V)=true, I) :-
    holdsFor(icyRoad(V)=true, Ice),
    holdsFor(visibility(V)=poor, Dim),
    union_all([Ice, Dim], I).

% A harsh manoeuvre where the road forgives none, or a corner taken too fast; until the vehicle
% has become slow.
initiatedAt(dangerousDriving(V)=true, T) :-
    happensAt(harsh(V, _), T),
    holdsAt(hazard(V)=true, T).
initiatedAt(dangerousDriving(V)=true, T) :-
    happensAt(harsh(V, cornering), T),
    holdsAt(highSpeed(V)=true, T).
terminatedAt(dangerousDriving(V)=true, T) :-
    happensAt(speed(V, Speed), T),
    limit(calm, Most),
    Speed =< Most.
terminatedAt(dangerousDriving(V)=true, T) :-
    happensAt(engineOff(V), T).

holdsFor(tooFast(V)=true, I) :-
    holdsFor(highSpeed(V)=true, Fast),
    holdsFor(hazard(V)=true, Hazard),
    intersect_all([Fast, Hazard], I).

holdsFor(risky(V)=true, I) :-
    holdsFor(dangerousDriving(V)=true, Dangerous),
    holdsFor(tooFast(V)=true, Fast),
    union_all([Dangerous, Fast], I).

% --- economy -----------------------------------------------------------------------------------

% In town one has to brake for others; elsewhere whoever does was too fast before.
initiatedAt(nonEconomicDriving(V)=true, T) :-
    happensAt(harsh(V, Kind), T),
    costly(Kind),
    \+ holdsAt(road(V)=urban, T).
initiatedAt(nonEconomicDriving(V)=true, T) :-
    happensAt(harsh(V, acceleration), T),
    holdsAt(highSpeed(V)=true, T).
terminatedAt(nonEconomicDriving(V)=true, T) :-
    happensAt(speed(V, Speed), T),
    vehicleKind(V, Kind),
    economic(Kind, Least, Most),
    Speed >= Least,
    Speed =< Most.
terminatedAt(nonEconomicDriving(V)=true, T) :-
    happensAt(engineOff(V), T).

holdsFor(idling(V)=true, I) :-
    holdsFor(engine(V)=running, Running),
    holdsFor(moving(V)=true, Moving),
    relative_complement_all(Running, [Moving], Standing),
    limit(idling, Least),
    intDurGreater(Standing, Least, I).

holdsFor(wasteful(V)=true, I) :-
    holdsFor(nonEconomicDriving(V)=true, Driving),
    holdsFor(highSpeed(V)=true, Fast),
    holdsFor(idling(V)=true, Idling),
    union_all([Driving, Fast, Idling], I).

holdsFor(goodDriving(V)=true, I) :-
    holdsFor(moving(V)=true, Moving),
    holdsFor(wasteful(V)=true, Wasteful),
    holdsFor(risky(V)=true, Risky),
    relative_complement_all(Moving, [Wasteful, Risky], I).

% --- drivers -----------------------------------------------------------------------------------

% Too long at the wheel: only a stop that is as long as idling counts as a break.
holdsFor(longDrive(V)=true, I) :-
    holdsFor(engine(V)=running, Running),
    holdsFor(idling(V)=true, Idling),
    relative_complement_all(Running, [Idling], Driving),
    limit(drive, Least),
    intDurGreater(Driving, Least, I).

holdsFor(needsBreak(V)=true, I) :-
    holdsFor(longDrive(V)=true, Long),
    holdsFor(risky(V)=true, Risky),
    intersect_all([Long, Risky], I).
