% What the strategies of strategy.lars amount to over time: the router keeps a strategy until another
% one is advised, and how long it served as it should is worth knowing.

initiatedAt(strategy=lfu, T) :- happensAt(lfu, T).
initiatedAt(strategy=lru, T) :- happensAt(lru, T).
initiatedAt(strategy=fifo, T) :- happensAt(fifo, T).

% A flood of requests while no strategy is advised: the router is on its own.
initiatedAt(flood=true, T) :- happensAt(flood_begins, T).
terminatedAt(flood=true, T) :- happensAt(flood_ends, T).
holdsFor(alone=true, I) :-
    holdsFor(flood=true, I1), holdsFor(random=true, I2), intersect_all([I1, I2], I).
