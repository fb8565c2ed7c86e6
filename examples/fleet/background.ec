% What is too much: seconds, km/h, tenths of a tank. Which vehicles there are is written by
% generate.py into vehicles.ec.
limit(standing, 3).
limit(calm, 40).
limit(idling, 300).
limit(drive, 5400).
limit(refuelling, 2).
limit(theft, 2).

speedLimit(urban, _, 50).
speedLimit(rural, van, 90).
speedLimit(rural, truck, 70).
speedLimit(rural, coach, 80).
speedLimit(motorway, van, 120).
speedLimit(motorway, truck, 85).
speedLimit(motorway, coach, 100).

% Between these speeds an engine does most with its fuel.
economic(van, 45, 85).
economic(truck, 45, 75).
economic(coach, 45, 80).

% Manoeuvres that turn fuel into heat.
costly(acceleration).
costly(braking).

tenths(V, Level, Tenths) :-
    threshold(V, fuel, Tank),
    Tenths is floor(10 * Level / Tank).
