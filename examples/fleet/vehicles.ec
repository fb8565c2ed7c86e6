% Written by generate.py.
vehicleKind(van_1, van).
vehicleKind(truck_2, truck).
vehicleKind(coach_3, coach).
vehicleKind(truck_4, truck).
vehicleKind(van_5, van).
vehicleKind(truck_6, truck).
vehicleKind(coach_7, coach).
vehicleKind(truck_8, truck).
threshold(van_1, fuel, 70).
threshold(truck_2, fuel, 400).
threshold(coach_3, fuel, 300).
threshold(truck_4, fuel, 400).
threshold(van_5, fuel, 70).
threshold(truck_6, fuel, 400).
threshold(coach_7, fuel, 300).
threshold(truck_8, fuel, 400).
