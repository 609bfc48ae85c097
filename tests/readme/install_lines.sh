#!/usr/bin/env bash
# Runs the lines of README.md that install the library and compile programs with it, word for word, but for the first,
# which builds: that was done. SOURCE is the source tree, BUILD its build, WORK a folder that is made anew.
set -eu
source=$1 build=$2 work=$3
command -v pkg-config >/dev/null && command -v g++ >/dev/null && command -v gcc >/dev/null ||
  { echo "no pkg-config, g++ or gcc"; exit 77; }

lines=$(awk '/^or without CMake:$/ {begun = 1; next} begun && /^    / {sub(/^    /, ""); print; next} begun && NF {exit}' \
  "$source/README.md")
[ "$(echo "$lines" | head -n 1)" = "cmake --preset host-clang && cmake --build --preset host-clang" ]
lines=$(echo "$lines" | tail -n +2)
[ "$(echo "$lines" | wc -l)" -ge 4 ]

rm -rf "$work"
mkdir -p "$work/home" "$work/elsewhere" "$work/tree/build"
ln -s "$build" "$work/tree/build/host-clang"
cp "$source/examples/readme.cpp" "$work/tree/program.cpp"
cp "$source/examples/c_interface.c" "$work/tree/program.c"
export HOME=$work/home
unset PKG_CONFIG_PATH LD_LIBRARY_PATH
cd "$work/tree"
printf '%s\n' 'set -e' "$lines" >"$work/lines"
bash "$work/lines"

# From another folder, as a user would run it.
cd "$work/elsewhere"
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "$i,0"; echo "$((100 + i)),0"; done >points.csv
[ "$("$work/tree/program" points.csv | cut -d ' ' -f 1 | sort | uniq -c | tr -s ' \n' ' ')" = " 12 0 12 1 " ]
"$work/tree/program_c" | grep -q '2 clusters, 1 of 25 points is noise'
# The build folder is not in it: the file is right wherever the installation lies.
mv "$HOME/.local" "$work/elsewhere/moved"
PKG_CONFIG_PATH=$work/elsewhere/moved/lib/pkgconfig pkg-config --cflags quintet | grep -q "$work/elsewhere/moved"
for program in "$work"/elsewhere/moved/bin/quintet-*; do "$program" --version; done
