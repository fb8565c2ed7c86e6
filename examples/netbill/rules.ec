% A market for digital goods in the manner of the NetBill protocol: a consumer asks for a quote, a
% merchant presents one, the consumer accepts it, and then owes the money and is owed the goods.
% Time-points are minutes. M is a merchant, C a consumer, G a kind of goods.

% --- quotes ------------------------------------------------------------------------------------

% A quote stands for 40 minutes and for 10 more as one about to expire. Presenting it again within
% the 40 minutes starts the clock again. Only merchants have the power to present quotes.
initiatedAt(quote(M, C, G)=standing, T) :-
    happensAt(present_quote(M, C, G, _), T),
    role_of(M, merchant).
terminatedAt(quote(M, C, G)=_, T) :-
    happensAt(accept_quote(C, M, G), T).
fi(quote(M, C, G)=standing, quote(M, C, G)=expiring, 40).
ft(quote(_, _, _)=expiring, 10).
p(quote(_, _, _)=standing).

% The price named last, as long as a contract could still come of it.
initiatedAt(price(M, C, G)=Price, T) :-
    happensAt(present_quote(M, C, G, Price), T),
    role_of(M, merchant).
ft(price(_, _, _)=_, 100).
p(price(_, _, _)=_).

% A merchant may not pester: after a quote the next one to the same consumer is permitted when the
% consumer asks, or after an hour.
initiatedAt(per(present_quote(M, C))=false, T) :-
    happensAt(present_quote(M, C, _, _), T),
    role_of(M, merchant).
initiatedAt(per(present_quote(M, C))=true, T) :-
    happensAt(request_quote(C, M, _), T).
fi(per(present_quote(M, C))=false, per(present_quote(M, C))=true, 60).
p(per(present_quote(_, _))=false).

% --- contracts ---------------------------------------------------------------------------------

% Accepting a quote makes a contract if the quote is still open and both sides are free to trade.
happensAt(agreed(M, C, G), T) :-
    happensAt(accept_quote(C, M, G), T),
    holdsAt(quote(M, C, G)=_, T),
    \+ holdsAt(contract(M, C, G)=active, T),
    \+ holdsAt(suspended(M)=_, T),
    \+ holdsAt(suspended(C)=_, T).

initiatedAt(contract(M, C, G)=active, T) :-
    happensAt(agreed(M, C, G), T).

% The contract is fulfilled by whatever of the two comes last.
initiatedAt(contract(M, C, G)=fulfilled, T) :-
    happensAt(settled(M, C, G), T),
    \+ holdsAt(obl(send_goods(M, C, G))=true, T).
initiatedAt(contract(M, C, G)=fulfilled, T) :-
    happensAt(delivered(M, C, G), T),
    \+ holdsAt(obl(send_payment(C, M, G))=true, T).
initiatedAt(contract(M, C, G)=fulfilled, T) :-
    happensAt(delivered(M, C, G), T),
    happensAt(settled(M, C, G), T).

% Half an hour is given; what is owed then is a breach. Records are closed after a while.
fi(contract(M, C, G)=active, contract(M, C, G)=breached, 30).
ft(contract(_, _, _)=fulfilled, 20).
ft(contract(_, _, _)=breached, 60).

% --- obligations -------------------------------------------------------------------------------

initiatedAt(obl(send_payment(C, M, G))=true, T) :-
    happensAt(agreed(M, C, G), T).
terminatedAt(obl(send_payment(C, M, G))=true, T) :-
    happensAt(settled(M, C, G), T).
terminatedAt(obl(send_payment(C, M, G))=true, T) :-
    happensAt(start(contract(M, C, G)=breached), T).

initiatedAt(obl(send_goods(M, C, G))=true, T) :-
    happensAt(agreed(M, C, G), T).
terminatedAt(obl(send_goods(M, C, G))=true, T) :-
    happensAt(delivered(M, C, G), T).
terminatedAt(obl(send_goods(M, C, G))=true, T) :-
    happensAt(start(contract(M, C, G)=breached), T).

% The whole price, and while it is owed.
happensAt(settled(M, C, G), T) :-
    happensAt(send_payment(C, M, G, Amount), T),
    holdsAt(obl(send_payment(C, M, G))=true, T),
    holdsAt(price(M, C, G)=Price, T),
    Amount >= Price.
happensAt(delivered(M, C, G), T) :-
    happensAt(send_goods(M, C, G), T),
    holdsAt(obl(send_goods(M, C, G))=true, T).

% --- offences and sanctions --------------------------------------------------------------------

happensAt(offence(M, pestering), T) :-
    happensAt(present_quote(M, C, _, _), T),
    holdsAt(per(present_quote(M, C))=false, T).
happensAt(offence(Agent, no_power), T) :-
    happensAt(present_quote(Agent, _, _, _), T),
    \+ role_of(Agent, merchant).
happensAt(offence(C, short_payment), T) :-
    happensAt(send_payment(C, M, G, Amount), T),
    holdsAt(obl(send_payment(C, M, G))=true, T),
    holdsAt(price(M, C, G)=Price, T),
    Amount < Price.
happensAt(offence(C, no_payment), T) :-
    happensAt(start(contract(M, C, G)=breached), T),
    holdsAt(obl(send_payment(C, M, G))=true, T).
happensAt(offence(M, no_goods), T) :-
    happensAt(start(contract(M, C, G)=breached), T),
    holdsAt(obl(send_goods(M, C, G))=true, T).

% Offences are counted until nothing has been amiss for 300 minutes.
initiatedAt(offences(Agent)=1, T) :-
    happensAt(offence(Agent, _), T),
    \+ holdsAt(offences(Agent)=_, T).
initiatedAt(offences(Agent)=N, T) :-
    happensAt(offence(Agent, _), T),
    holdsAt(offences(Agent)=Before, T),
    N is Before + 1.
ft(offences(_)=_, 300).

% The first two suspend an agent for a short time, more for a long one.
initiatedAt(suspended(Agent)=short, T) :-
    happensAt(start(offences(Agent)=N), T),
    N =< 2.
initiatedAt(suspended(Agent)=long, T) :-
    happensAt(start(offences(Agent)=N), T),
    N > 2.
ft(suspended(_)=short, 30).
ft(suspended(_)=long, 120).

% --- powers ------------------------------------------------------------------------------------

% Who could make a contract by accepting a quote right now.
holdsFor(pow(accept_quote(C, M, G))=true, I) :-
    holdsFor(quote(M, C, G)=standing, Standing),
    holdsFor(quote(M, C, G)=expiring, Expiring),
    holdsFor(contract(M, C, G)=active, Active),
    holdsFor(suspended(M)=short, ShortM),
    holdsFor(suspended(M)=long, LongM),
    holdsFor(suspended(C)=short, ShortC),
    holdsFor(suspended(C)=long, LongC),
    union_all([Standing, Expiring], Open),
    relative_complement_all(Open, [Active, ShortM, LongM, ShortC, LongC], I).
