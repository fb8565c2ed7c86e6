% Written by generate.py.
vehicle(bus_1, bus).
vehicle(bus_2, bus).
vehicle(bus_3, bus).
vehicle(tram_4, tram).
vehicle(bus_5, bus).
vehicle(bus_6, bus).
vehicle(bus_7, bus).
vehicle(tram_8, tram).
