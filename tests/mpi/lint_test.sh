#!/bin/bash
# What keeps results the same on any number of ranks, and MPI out of everything else:
# mpi.h in include/quintet/mpi and src/mpi only; sums of integers alone, as the grouping of a sum depends on the number of
# ranks; no built-in minimum or maximum of unsigned types, which two MPIs compute wrongly.
#
#   lint_test.sh SOURCE_FOLDER
cd "$1" || exit 1
status=0
complain() { echo "FAILED: $1" >&2; echo "$2" >&2; status=1; }
found=$(grep -rn --include='*.hpp' --include='*.cpp' --include='*.h' --include='*.c' '#include *[<"]mpi\.h' . |
  grep -v -e '^\./include/quintet/mpi/' -e '^\./src/mpi/' -e '^\./tests/mpi/' -e '^\./build/')
[ -z "$found" ] || complain "mpi.h outside of include/quintet/mpi and src/mpi" "$found"
found=$(grep -rnE '\bMPI_SUM\b' include/quintet/mpi src/mpi | grep -v MPI_INT64_T)
[ -z "$found" ] || complain "a sum of something else than MPI_INT64_T" "$found"
found=$(grep -rnE '\bMPI_(MIN|MAX|MINLOC|MAXLOC|PROD)\b' include/quintet/mpi src/mpi | grep -v MPI_INT64_T)
[ -z "$found" ] || complain "a built-in operation of something else than MPI_INT64_T" "$found"
# The test itself finds what it looks for.
grep -q 'MPI_SUM' src/mpi/communicator.cpp || complain "no sum at all: what is looked for has another name" ""
exit $status
