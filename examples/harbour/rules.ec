% What a harbour authority wants to know about the vessels around it.
% Time-points are minutes since midnight, speeds are knots.

% --- where a vessel is -------------------------------------------------------------------------

% A vessel is within an area of a kind until it leaves, or until its signal is lost.
initiatedAt(within(V, Kind)=true, T) :-
    happensAt(enters(V, Area), T),
    area(Area, Kind).
terminatedAt(within(V, Kind)=true, T) :-
    happensAt(leaves(V, Area), T),
    area(Area, Kind).
terminatedAt(within(V, Kind)=true, T) :-
    happensAt(gap_start(V), T),
    area(_, Kind).

% --- silence and stops -------------------------------------------------------------------------

% No signal: in a port that is usual, elsewhere it is worth a look.
initiatedAt(silent(V)=in_port, T) :-
    happensAt(gap_start(V), T),
    holdsAt(within(V, port)=true, T).
initiatedAt(silent(V)=at_sea, T) :-
    happensAt(gap_start(V), T),
    \+ holdsAt(within(V, port)=true, T).
terminatedAt(silent(V)=_, T) :-
    happensAt(gap_end(V), T).

happensAt(lost(V), T) :-
    happensAt(start(silent(V)=at_sea), T).

initiatedAt(stopped(V)=in_port, T) :-
    happensAt(stop_start(V), T),
    holdsAt(within(V, port)=true, T).
initiatedAt(stopped(V)=at_sea, T) :-
    happensAt(stop_start(V), T),
    \+ holdsAt(within(V, port)=true, T).
terminatedAt(stopped(V)=_, T) :-
    happensAt(stop_end(V), T).
terminatedAt(stopped(V)=_, T) :-
    happensAt(gap_start(V), T).

% Who stops at sea for more than half an hour loiters.
holdsFor(loitering(V)=true, I) :-
    holdsFor(stopped(V)=at_sea, S),
    intDurGreater(S, 30, I).

% --- speeding near the coast -------------------------------------------------------------------

initiatedAt(speeding(V)=true, T) :-
    happensAt(velocity(V, Speed), T),
    holdsAt(within(V, coast)=true, T),
    limit(coast, Most),
    Speed > Most.
terminatedAt(speeding(V)=true, T) :-
    happensAt(velocity(V, Speed), T),
    limit(coast, Most),
    Speed =< Most.
terminatedAt(speeding(V)=true, T) :-
    happensAt(end(within(V, coast)=true), T).

% --- trawling ----------------------------------------------------------------------------------

% A fishing vessel that turns on fishing ground goes to and fro. After a quarter of an hour without
% another turn it does not any more: each turn starts the clock again.
initiatedAt(turning(V)=true, T) :-
    happensAt(turn(V), T),
    vessel(V, fishing),
    holdsAt(within(V, fishing_ground)=true, T).
fi(turning(V)=true, turning(V)=false, 15).
p(turning(_)=true).

initiatedAt(net_speed(V)=true, T) :-
    happensAt(velocity(V, Speed), T),
    vessel(V, fishing),
    between_knots(Speed, 1.0, 5.0).
terminatedAt(net_speed(V)=true, T) :-
    happensAt(velocity(V, Speed), T),
    \+ between_knots(Speed, 1.0, 5.0).
terminatedAt(net_speed(V)=true, T) :-
    happensAt(gap_start(V), T).

between_knots(Speed, Low, High) :-
    Speed >= Low,
    Speed =< High.

holdsFor(trawling(V)=true, I) :-
    holdsFor(turning(V)=true, Turning),
    holdsFor(net_speed(V)=true, Slow),
    intersect_all([Turning, Slow], Both),
    intDurGreater(Both, 20, I).

% --- two vessels together ----------------------------------------------------------------------

% Vessels that are close come as intervals: a spatial join upstream finds them.
collectIntervals(close(_, _)=true).

initiatedAt(slow(V)=true, T) :-
    happensAt(velocity(V, Speed), T),
    Speed < 2.
terminatedAt(slow(V)=true, T) :-
    happensAt(velocity(V, Speed), T),
    Speed >= 2.
terminatedAt(slow(V)=true, T) :-
    happensAt(gap_start(V), T).

% A rendez-vous: close and slow for more than ten minutes, and not in a port.
holdsFor(rendezvous(A, B)=true, I) :-
    holdsFor(close(A, B)=true, Close),
    holdsFor(slow(A)=true, SlowA),
    holdsFor(slow(B)=true, SlowB),
    holdsFor(within(A, port)=true, PortA),
    holdsFor(within(B, port)=true, PortB),
    intersect_all([Close, SlowA, SlowB], Together),
    relative_complement_all(Together, [PortA, PortB], AtSea),
    intDurGreater(AtSea, 10, I).

% Silence just before a rendez-vous is suspicious.
happensAt(suspicious(A, B), T) :-
    happensAt(start(rendezvous(A, B)=true), T),
    (V = A ; V = B),
    happensAt(end(silent(V)=at_sea), T0),
    T0 =< T,
    T - T0 =< 60.
