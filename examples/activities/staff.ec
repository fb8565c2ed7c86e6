% Who works there; generate.py writes this.
staff(p0).
staff(p5).
staff(p10).
staff(p15).
