% What is always true.
lamp(l1, kitchen).
lamp(l2, hall).
