% From areas.geojson.
areaType(port, nearPorts).
areaType(coast, nearCoast).
areaType(roads, anchorage).
areaType(bank, fishing).
