"""Where items come from while a run goes on: standard input, growing files, TCP, Kafka."""
