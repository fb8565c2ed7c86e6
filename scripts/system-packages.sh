#!/usr/bin/env bash
# Installs the system packages Horai needs, and only those that are missing.
# graphviz: its program `dot` draws dependency graphs as SVG and PNG.
# java: Spark runs on it; 17 is the oldest that Spark 4 takes.
# chromium: a browser, in which the tests open pages; chromium-driver lets them press its buttons.
# gcc and the headers of Python: compile the engine's machine.
# maven: fetches what Spark needs for Kafka and Delta Lake, and the Kafka broker of the tests.
set -euo pipefail

missing=()
command -v dot >/dev/null || missing+=(graphviz)
# "1.8.0_292" is 8, "17.0.15" is 17; without Java it is 0.
java_version=$(java -version 2>&1 | sed -n 's/.* version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' || true)
[ "${java_version:-0}" -ge 17 ] || missing+=(openjdk-17-jre-headless)
command -v mvn >/dev/null || missing+=(maven)
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || missing+=(chromium)
command -v chromedriver >/dev/null || missing+=(chromium-driver)
command -v "${CC:-cc}" >/dev/null || missing+=(gcc libc6-dev)
headers=$("${PYTHON:-python3}" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
version=$("${PYTHON:-python3}" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
[ -e "$headers/Python.h" ] || missing+=("python$version-dev")
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
    echo "missing: ${missing[*]}. Please install these, so that 'cc', 'dot', 'java' (17 or later), 'mvn', 'chromium' and 'chromedriver' are on the PATH." >&2
    exit 1
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    as_root=(sudo)
fi
"${as_root[@]}" apt-get update -qq
# Distributions move on: where 17 is gone, their default is later.
if ! apt-cache show openjdk-17-jre-headless >/dev/null 2>&1; then
    missing=("${missing[@]/openjdk-17-jre-headless/default-jre-headless}")
fi
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
