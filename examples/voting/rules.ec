% Committees vote on motions. A motion goes round: nobody has moved it (null), it is proposed, it is
% voted on, the vote is over (voted), and with the chair's declaration it is null again.
% Time-points are minutes.

% --- the state of a motion ---------------------------------------------------------------------

initially(status(M)=null) :-
    motion(M, _).

initiatedAt(status(M)=proposed, T) :-
    happensAt(propose(A, M), T),
    on_committee(A, M),
    holdsAt(status(M)=null, T).
% Somebody else has to second it.
initiatedAt(status(M)=voting, T) :-
    happensAt(second(A, M), T),
    on_committee(A, M),
    holdsAt(status(M)=proposed, T),
    \+ holdsAt(proposer(M)=A, T).
initiatedAt(status(M)=voted, T) :-
    happensAt(close_ballot(A, M), T),
    chairs(A, M),
    holdsAt(status(M)=voting, T).
initiatedAt(status(M)=null, T) :-
    happensAt(declare(A, M, _), T),
    chairs(A, M),
    holdsAt(status(M)=voted, T).

% Nothing waits for ever: without a second the proposal lapses, a ballot closes by itself, and a
% result that is not declared lapses too.
fi(status(M)=proposed, status(M)=null, 20).
fi(status(M)=voting, status(M)=voted, 30).
fi(status(M)=voted, status(M)=null, 15).

initiatedAt(proposer(M)=A, T) :-
    happensAt(propose(A, M), T),
    on_committee(A, M),
    holdsAt(status(M)=null, T).
terminatedAt(proposer(M)=_, T) :-
    happensAt(end(status(M)=proposed), T).

% --- votes -------------------------------------------------------------------------------------

% The last vote counts.
initiatedAt(voted(A, M)=Vote, T) :-
    happensAt(vote(A, M, Vote), T),
    on_committee(A, M),
    holdsAt(status(M)=voting, T).
terminatedAt(voted(A, M)=_, T) :-
    happensAt(start(status(M)=null), T),
    on_committee(A, M).

% A tie does not carry. Votes cast in the minute of closing come too late.
happensAt(counted(M, Ayes, Nays), T) :-
    happensAt(start(status(M)=voted), T),
    aggregate_all(count, holdsAt(voted(_, M)=aye, T), Ayes),
    aggregate_all(count, holdsAt(voted(_, M)=nay, T), Nays).
happensAt(result(M, carried), T) :-
    happensAt(counted(M, Ayes, Nays), T),
    Ayes > Nays.
happensAt(result(M, not_carried), T) :-
    happensAt(counted(M, Ayes, Nays), T),
    Ayes =< Nays.

% What the chair says is what is known, be it right or wrong, until the motion is moved again.
initiatedAt(outcome(M)=Outcome, T) :-
    happensAt(declare(A, M, Outcome), T),
    chairs(A, M),
    holdsAt(status(M)=voted, T).
terminatedAt(outcome(M)=_, T) :-
    happensAt(start(status(M)=proposed), T).

% --- powers: what has an effect ----------------------------------------------------------------

holdsFor(pow(second(A, M))=true, I) :-
    on_committee(A, M),
    holdsFor(status(M)=proposed, Proposed),
    holdsFor(proposer(M)=A, Own),
    relative_complement_all(Proposed, [Own], I).
holdsFor(pow(vote(A, M))=true, I) :-
    on_committee(A, M),
    holdsFor(status(M)=voting, I).
holdsFor(pow(close_ballot(A, M))=true, I) :-
    chairs(A, M),
    holdsFor(status(M)=voting, I).
holdsFor(pow(declare(A, M))=true, I) :-
    chairs(A, M),
    holdsFor(status(M)=voted, I).

% --- permissions and obligations ---------------------------------------------------------------

% Who has voted could do so again, but may not.
initiatedAt(per(vote(A, M))=true, T) :-
    happensAt(start(status(M)=voting), T),
    on_committee(A, M).
terminatedAt(per(vote(A, M))=true, T) :-
    happensAt(vote(A, M, _), T).
terminatedAt(per(vote(A, M))=true, T) :-
    happensAt(end(status(M)=voting), T),
    on_committee(A, M).

% The chair has the power to close the ballot at any time, but for ten minutes no permission.
initiatedAt(per(close_ballot(A, M))=false, T) :-
    happensAt(start(status(M)=voting), T),
    chairs(A, M).
fi(per(close_ballot(A, M))=false, per(close_ballot(A, M))=true, 10).
terminatedAt(per(close_ballot(A, M))=_, T) :-
    happensAt(end(status(M)=voting), T),
    chairs(A, M).

% The chair has to declare the result, and the right one.
initiatedAt(obl(declare(A, M, Outcome))=true, T) :-
    happensAt(result(M, Outcome), T),
    chairs(A, M).
terminatedAt(obl(declare(A, M, Outcome))=true, T) :-
    happensAt(end(status(M)=voted), T),
    chairs(A, M),
    outcome(Outcome).

outcome(carried).
outcome(not_carried).

% --- sanctions ---------------------------------------------------------------------------------

happensAt(offence(A, voted_twice), T) :-
    happensAt(vote(A, M, _), T),
    holdsAt(pow(vote(A, M))=true, T),
    \+ holdsAt(per(vote(A, M))=true, T).
happensAt(offence(A, closed_early), T) :-
    happensAt(close_ballot(A, M), T),
    holdsAt(per(close_ballot(A, M))=false, T).
happensAt(offence(A, wrong_result), T) :-
    happensAt(declare(A, M, Said), T),
    holdsAt(obl(declare(A, M, Right))=true, T),
    Said \= Right.
happensAt(offence(A, no_result), T) :-
    happensAt(end(status(M)=voted), T),
    holdsAt(obl(declare(A, M, _))=true, T),
    \+ happensAt(declare(A, M, _), T).
happensAt(offence(A, no_power), T) :-
    happensAt(vote(A, M, _), T),
    \+ on_committee(A, M).

% A sanction lasts 100 minutes, and as long again after another offence.
initiatedAt(sanctioned(A)=true, T) :-
    happensAt(offence(A, _), T).
ft(sanctioned(_)=true, 100).
p(sanctioned(_)=true).

% --- who is who --------------------------------------------------------------------------------

on_committee(A, M) :-
    motion(M, Committee),
    member_of(A, Committee).
chairs(A, M) :-
    motion(M, Committee),
    chair_of(A, Committee).
