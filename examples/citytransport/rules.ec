% How well a public transport service runs, from what vehicles report about themselves.
% Time-points are seconds. V is a vehicle, K its kind: bus or tram.

% --- domains -----------------------------------------------------------------------------------

% A vehicle that was never late has no event to say so; these fluents need to know all vehicles.
grounding(punctuality(V, K)=punctual) :- vehicle(V, K).
grounding(punctuality(V, K)=non_punctual) :- vehicle(V, K).
grounding(driving_quality(V, K)=high) :- vehicle(V, K).

% --- punctuality -------------------------------------------------------------------------------

% One value follows from events, the other is whatever is left.
initially(punctuality(_, _)=punctual).
initiatedAt(punctuality(V, K)=punctual, T) :-
    happensAt(stop_enter(V, K, _, scheduled), T).
initiatedAt(punctuality(V, K)=punctual, T) :-
    happensAt(stop_enter(V, K, _, early), T).
terminatedAt(punctuality(V, K)=punctual, T) :-
    happensAt(stop_enter(V, K, _, late), T).
% To leave too early is worse than to arrive too early: somebody misses the vehicle.
terminatedAt(punctuality(V, K)=punctual, T) :-
    happensAt(stop_leave(V, K, _, early), T).

holdsFor(punctuality(V, K)=non_punctual, I) :-
    holdsFor(punctuality(V, K)=punctual, Punctual),
    complement_all([Punctual], I).

happensAt(punctuality_change(V, K, punctual), T) :-
    happensAt(end(punctuality(V, K)=non_punctual), T).
happensAt(punctuality_change(V, K, non_punctual), T) :-
    happensAt(end(punctuality(V, K)=punctual), T).

% Late for so long that the next vehicle is due.
holdsFor(off_schedule(V, K)=true, I) :-
    holdsFor(punctuality(V, K)=non_punctual, Late),
    limit(delay, Least),
    intDurGreater(Late, Least, I).

% --- at stops ----------------------------------------------------------------------------------

initiatedAt(at_stop(V, K)=Stop, T) :-
    happensAt(stop_enter(V, K, Stop, _), T).
terminatedAt(at_stop(V, K)=Stop, T) :-
    happensAt(stop_leave(V, K, Stop, _), T).

% After a while at one stop something holds the vehicle up.
initiatedAt(dwelling(V, K)=normal, T) :-
    happensAt(stop_enter(V, K, _, _), T).
terminatedAt(dwelling(V, K)=_, T) :-
    happensAt(stop_leave(V, K, _, _), T).
fi(dwelling(V, K)=normal, dwelling(V, K)=held_up, Most) :-
    limit(dwelling, Most).

% --- manoeuvres --------------------------------------------------------------------------------

initiatedAt(abrupt_acceleration(V, K)=Degree, T) :-
    happensAt(abrupt_acceleration_start(V, K, Degree), T).
terminatedAt(abrupt_acceleration(V, K)=Degree, T) :-
    happensAt(abrupt_acceleration_end(V, K, Degree), T).

initiatedAt(abrupt_deceleration(V, K)=Degree, T) :-
    happensAt(abrupt_deceleration_start(V, K, Degree), T).
terminatedAt(abrupt_deceleration(V, K)=Degree, T) :-
    happensAt(abrupt_deceleration_end(V, K, Degree), T).

initiatedAt(sharp_turn(V, K)=Degree, T) :-
    happensAt(sharp_turn_start(V, K, Degree), T).
terminatedAt(sharp_turn(V, K)=Degree, T) :-
    happensAt(sharp_turn_end(V, K, Degree), T).

happensAt(harsh(V, K, Degree), T) :-
    (   happensAt(abrupt_acceleration_start(V, K, Degree), T)
    ;   happensAt(abrupt_deceleration_start(V, K, Degree), T)
    ;   happensAt(sharp_turn_start(V, K, Degree), T)
    ).

% --- driving -----------------------------------------------------------------------------------

holdsFor(driving_style(V, K)=unsafe, I) :-
    holdsFor(sharp_turn(V, K)=very_sharp, Turn),
    holdsFor(abrupt_acceleration(V, K)=very_abrupt, Faster),
    holdsFor(abrupt_deceleration(V, K)=very_abrupt, Slower),
    union_all([Turn, Faster, Slower], I).

holdsFor(driving_style(V, K)=uncomfortable, I) :-
    holdsFor(sharp_turn(V, K)=sharp, Turn),
    holdsFor(abrupt_acceleration(V, K)=abrupt, Faster),
    holdsFor(abrupt_deceleration(V, K)=abrupt, Slower),
    holdsFor(driving_style(V, K)=unsafe, Unsafe),
    union_all([Turn, Faster, Slower], Shaky),
    relative_complement_all(Shaky, [Unsafe], I).

% Drivers calm down when nothing happens for some time; each dangerous manoeuvre starts it anew.
initiatedAt(temper(V, K)=aggressive, T) :-
    happensAt(harsh(V, K, Degree), T),
    danger(Degree).
initiatedAt(temper(V, K)=tense, T) :-
    happensAt(harsh(V, K, Degree), T),
    nuisance(Degree),
    \+ holdsAt(temper(V, K)=aggressive, T).
fi(temper(V, K)=aggressive, temper(V, K)=calm, Time) :- limit(calming, Time).
fi(temper(V, K)=tense, temper(V, K)=calm, Time) :- limit(calming, Time).
p(temper(_, _)=aggressive).
p(temper(_, _)=tense).

% Several manoeuvres within ten minutes are no accident any more.
happensAt(reckless(V, K), T) :-
    happensAt(harsh(V, K, Degree), T),
    danger(Degree),
    limit(manoeuvres, Least),
    aggregate_all(count, (happensAt(harsh(V, K, _), T0), T0 =< T, T - T0 < 600), Count),
    Count >= Least.

holdsFor(driving_quality(V, K)=high, I) :-
    holdsFor(punctuality(V, K)=punctual, Punctual),
    holdsFor(driving_style(V, K)=unsafe, Unsafe),
    holdsFor(driving_style(V, K)=uncomfortable, Shaky),
    relative_complement_all(Punctual, [Unsafe, Shaky], I).

holdsFor(driving_quality(V, K)=medium, I) :-
    holdsFor(punctuality(V, K)=punctual, Punctual),
    holdsFor(driving_style(V, K)=uncomfortable, Shaky),
    intersect_all([Punctual, Shaky], I).

holdsFor(driving_quality(V, K)=low, I) :-
    holdsFor(punctuality(V, K)=non_punctual, Late),
    holdsFor(driving_style(V, K)=unsafe, Unsafe),
    union_all([Late, Unsafe], I).

% --- inside the vehicle ------------------------------------------------------------------------

initiatedAt(passenger_density(V, K)=Level, T) :-
    happensAt(passenger_density_change(V, K, Level), T).
initiatedAt(noise_level(V, K)=Level, T) :-
    happensAt(noise_level_change(V, K, Level), T).
initiatedAt(internal_temperature(V, K)=Level, T) :-
    happensAt(internal_temperature_change(V, K, Level), T).

holdsFor(crowded(V, K)=true, I) :-
    holdsFor(passenger_density(V, K)=high, Dense),
    limit(crowding, Least),
    intDurGreater(Dense, Least, I).

holdsFor(noisy(V, K)=true, I) :-
    holdsFor(noise_level(V, K)=high, Loud),
    limit(noise, Least),
    intDurGreaterEq(Loud, Least, I).

holdsFor(climate(V, K)=bad, I) :-
    holdsFor(internal_temperature(V, K)=very_warm, Hot),
    holdsFor(internal_temperature(V, K)=very_cold, Cold),
    union_all([Hot, Cold], I).

% --- comfort, safety, satisfaction -------------------------------------------------------------

holdsFor(passenger_comfort(V, K)=reducing, I) :-
    holdsFor(driving_style(V, K)=uncomfortable, Shaky),
    holdsFor(driving_style(V, K)=unsafe, Unsafe),
    holdsFor(crowded(V, K)=true, Crowded),
    holdsFor(noisy(V, K)=true, Noisy),
    holdsFor(climate(V, K)=bad, Climate),
    union_all([Shaky, Unsafe, Crowded, Noisy, Climate], I).

holdsFor(driver_comfort(V, K)=reducing, I) :-
    holdsFor(noisy(V, K)=true, Noisy),
    holdsFor(climate(V, K)=bad, Climate),
    holdsFor(off_schedule(V, K)=true, Late),
    union_all([Noisy, Climate, Late], I).

% Passengers who stand close to each other fall already when the vehicle jerks.
holdsFor(passenger_safety(V, K)=reducing, I) :-
    holdsFor(driving_style(V, K)=unsafe, Unsafe),
    holdsFor(driving_style(V, K)=uncomfortable, Shaky),
    holdsFor(passenger_density(V, K)=high, Dense),
    intersect_all([Shaky, Dense], Falling),
    union_all([Unsafe, Falling], I).

holdsFor(driver_safety(V, K)=reducing, I) :-
    holdsFor(temper(V, K)=aggressive, Aggressive),
    holdsFor(driver_comfort(V, K)=reducing, Strained),
    intersect_all([Aggressive, Strained], I).

holdsFor(passenger_satisfaction(V, K)=reducing, I) :-
    holdsFor(passenger_comfort(V, K)=reducing, Comfort),
    holdsFor(passenger_safety(V, K)=reducing, Safety),
    holdsFor(off_schedule(V, K)=true, Late),
    union_all([Comfort, Safety, Late], I).

% A sudden stop in the middle of a crowded trip: the ones to look at first after complaints.
holdsFor(jolted_crowd(V, K)=true, I) :-
    holdsFor(abrupt_deceleration(V, K)=very_abrupt, Braking),
    holdsFor(crowded(V, K)=true, Crowded),
    during(Braking, Crowded, source, I).
