% The waters around the harbour.
area(old_harbour, port).
area(ferry_pier, port).
area(narrows, coast).
area(south_bank, fishing_ground).

limit(coast, 10).

vessel(ferry, passenger).
vessel(seagull, fishing).
vessel(atlas, tanker).
vessel(mole, tender).
vessel(swift, yacht).
