# awk -f scripts/first_failures.awk LOG: each test that failed, and its first failing line; of builds the first error.
# Understands CMake, ninja with clang and g++, ctest with GoogleTest, scripts and sanitizers, and pytest.
function tell(name, line) {
  sub(/^[ \t]+/, "", line)
  if (!(name in told)) { told[name] = 1; ++count; print name ": " line }
}
function end_of_test() {
  if (test != "") tell(test, found != "" ? found : header != "" ? header : last != "" ? last : "failed without a word")
  test = found = last = header = part = ""
  pending = 0
}
/^CMake Error/ { cmake = $0; sub(/:$/, "", cmake); next }
cmake != "" && NF { line = $0; sub(/^ +/, "", line); tell("configuration", cmake ": " line); cmake = ""; next }
test == "" && /^FAILED: / { target = $2; sub(/^\[code=[0-9]+\]$/, "", target); if (target == "") target = $3; next }
target != "" && / error: |error: |undefined reference|undefined symbol|ld[^ ]*: .*(error|cannot)/ { tell(target, $0); target = ""; next }
/^ *[0-9]+\/[0-9]+ +Test +#[0-9]+: / {
  end_of_test()
  if (/\*\*\*/ && !/\*\*\*Skipped/) {
    test = $0
    sub(/^.*Test +#[0-9]+: /, "", test)
    sub(/ .*/, "", test)
    header = $0
    sub(/^.*\*\*\*/, "", header)
    if (header ~ /^Failed +[0-9.]+ sec *$/) header = ""
  }
  next
}
/^ *Start +[0-9]+: / { next }
/^[0-9]+% tests passed/ { end_of_test(); next }
test != "" {
  if (/^\[ RUN      \] /) part = $4
  if (pending > 0) { if (NF) { line = $0; sub(/^[ \t]+/, "", line); found = found " " line; --pending } }
  else if (found == "" && /: Failure$/) { found = part " " $0; pending = 4 }
  else if (found == "" && !/^\[/ && /[Ee]rror|ERROR|FAILED|Failed|Failure|Assert|Traceback|WARNING: ThreadSanitizer|Exception/) found = $0
  if (NF && !/^\[/) last = $0
  next
}
/^(FAILED|ERROR) [^ ]+\.py/ {
  name = $0
  sub(/^[A-Z]+ /, "", name)
  line = index(name, " - ") > 0 ? substr(name, index(name, " - ") + 3) : "see its log"
  sub(/ - .*/, "", name)
  tell(name, line)
  next
}
/^error: / { tell("sources", $0); next }
/^=== [a-z]+: FAILED, / { other = $0 }
/^ninja: error: / { tell("build", $0) }
END {
  end_of_test()
  if (cmake != "") tell("configuration", cmake)
  if (target != "") tell(target, "failed without a line of error")
  if (other != "" && count == 0) { sub(/^=== /, "", other); print other }
}
