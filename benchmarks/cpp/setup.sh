#!/usr/bin/env bash
# Fetches the libraries that run.py compares agrad with:
#
#     benchmarks/cpp/setup.sh DIR
#
# Stan Math (its headers are in the wheel of httpstan) and CppAD (cmeel-cppad) come from the Python package index into DIR;
# ADOL-C and Sacado are packages of Debian and Ubuntu, for which apt-get needs root.
set -euo pipefail
if [ $# -ne 1 ]; then
  sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
mkdir -p "$1"
cd "$1"

python3 -m pip download --quiet --no-deps --only-binary=:all: --dest wheels httpstan cmeel-cppad
for wheel in wheels/*.whl; do
  name=$(basename "$wheel")
  python3 -m zipfile -e "$wheel" "${name%%-*}"
done

packages=(libadolc-dev libtrilinos-sacado-dev libtrilinos-kokkos-dev libtrilinos-teuchos-dev)
if ! dpkg -s "${packages[@]}" >/dev/null 2>&1; then
  apt-get update --quiet
  apt-get install --yes --quiet "${packages[@]}"
fi
echo "the libraries are in $PWD"
