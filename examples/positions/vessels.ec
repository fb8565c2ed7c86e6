% Written by generate.py.
vesselType(244010001, cargo).
vesselType(244010002, tanker).
vesselType(244010003, fishing).
vesselType(244010004, cargo).
vesselType(244010005, tanker).
vesselType(244010006, passenger).
vesselType(244010007, pleasure).
