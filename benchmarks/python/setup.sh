#!/usr/bin/env bash
# Makes a virtual environment with the systems that run.py compares agrad with, from the Python package index:
#
#     benchmarks/python/setup.sh DIR
#
# One that cannot be installed is named, and the table says that it is not there.
set -euo pipefail
if [ $# -ne 1 ]; then
  sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)

python3 -m venv "$1"
while read -r requirement; do
  case $requirement in '#'* | '') continue ;; esac
  "$1/bin/python" -m pip install --quiet "$requirement" || echo "setup.sh: $requirement could not be installed" >&2
done <"$here/requirements.txt"
echo "the systems are in $1"
