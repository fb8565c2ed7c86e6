% A fragment of NetBill: quotes that expire, permission to present quotes, contracts, suspension.

initiatedAt(quote(M, C, G)=true, T) :-
    happensAt(present_quote(M, C, G, _P), T).
initiatedAt(quote(M, C, G)=false, T) :-
    happensAt(accept_quote(C, M, G), T).
fi(quote(M, C, G)=true, quote(M, C, G)=expiring, 5).
fi(quote(M, C, G)=expiring, quote(M, C, G)=false, 2).
p(quote(_, _, _)=true).

initiatedAt(permission(M, C)=false, T) :-
    happensAt(present_quote(M, C, _G, _P), T).
initiatedAt(permission(M, C)=true, T) :-
    happensAt(request_quote(C, M, _G), T).
fi(permission(M, C)=false, permission(M, C)=true, 10).

initiatedAt(contract(M, C, G)=true, T) :-
    happensAt(accept_quote(C, M, G), T),
    holdsAt(quote(M, C, G)=true, T),
    \+ holdsAt(suspended(C)=true, T).
initiatedAt(contract(M, C, G)=true, T) :-
    happensAt(accept_quote(C, M, G), T),
    holdsAt(quote(M, C, G)=expiring, T),
    \+ holdsAt(suspended(C)=true, T).
fi(contract(M, C, G)=true, contract(M, C, G)=false, 20).

initiatedAt(suspended(M)=true, T) :-
    happensAt(present_quote(M, C, _G, _P), T),
    holdsAt(permission(M, C)=false, T).
initiatedAt(suspended(C)=true, T) :-
    happensAt(withhold_payment(C, M, G), T),
    holdsAt(contract(M, C, G)=true, T).
fi(suspended(X)=true, suspended(X)=false, 30).
