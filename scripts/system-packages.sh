#!/usr/bin/env bash
# Installs the system packages Horai needs, and only those that are missing.
# graphviz: its program `dot` draws dependency graphs as SVG and PNG.
set -euo pipefail

command -v dot >/dev/null && exit 0

if ! command -v apt-get >/dev/null; then
    echo "graphviz is missing: please install it, so that 'dot' is on the PATH." >&2
    exit 1
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    as_root=(sudo)
fi
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends graphviz
