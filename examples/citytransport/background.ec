% What passengers and drivers put up with, in seconds. Which vehicles there are is written by
% generate.py into vehicles.ec.
limit(crowding, 600).
limit(noise, 300).
limit(dwelling, 180).
limit(calming, 420).
limit(delay, 1500).
limit(manoeuvres, 3).

% How sharp a manoeuvre is that throws people about, and how sharp one that merely shakes them.
danger(very_abrupt).
danger(very_sharp).
nuisance(abrupt).
nuisance(sharp).
