"""The engine inside Spark's partitions: what travels, where it goes, and what is run there.

| module | job |
|---|---|
| `hashing` | a number for every term, the same in every process |
| `records` | what travels between buckets: tables as Arrow blobs |
| `routes` | to which buckets rows go, stage by stage |
| `reading` | files and data frames into records, chunk by chunk |
| `meeting` | joins on entities: rows go to the buckets that ask for them |
| `changes` | what a stage tells the next: changes, query time by query time |
| `bucket` | the engine over all entities of a bucket |
| `grid` | how records get from one round to the next, in one process |
| `cluster` | the same on Spark |
| `batch` | a whole run, round by round |
| `frames` | answers as Spark data frames |
| `positions` | positions to items, in front of recognition |
| `connect`, `jars` | a session of Spark, and what it needs for Kafka and Delta Lake |
| `checkpoint` | the folder of a stream: state by bucket, a manifest for every step |
| `asking` | joins in streams: who begins to ask gets what there was before |
| `resident` | a bucket from one step of a stream to the next |
| `steps` | a stream step by step, in one process or on Spark |
| `changelog` | what a step has found, as rows that sinks write |
| `listening` | what Spark's own listener says of a stream |
| `sources`, `source_*`, `sinks`, `sink_*` | where items come from, and where changes go |

Only `cluster`, `frames` and `positions` need PySpark, and of sources and sinks those that speak of
it.
"""
