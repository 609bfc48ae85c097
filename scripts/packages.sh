# Debian packages of this project, in one place; sourced by scripts/demo and scripts/test, not run.
#
#   . "$(dirname "$0")/packages.sh"
#   install_packages "the demo" $packages_demo

# The library, quintet::io and the drivers with clang 19.
packages_build="clang-19 libomp-19-dev cmake ninja-build zlib1g-dev libhdf5-dev libhts-dev libboost-program-options-dev
  nlohmann-json3-dev"
# A picture of the clusters; the data set is in examples/data.
packages_demo="$packages_build python3-matplotlib python3-h5py"
# Several nodes: quintet::mpi, with what starts programs. (libmpich-dev and mpich do as well.)
packages_mpi="libopenmpi-dev openmpi-bin"
# g++ and a fast linker beside clang, the tests and benchmarks, the sanitizers' runtime and symbols, the tools of offload
# compilation, what looks at sources, Python for the compile gate, Doxygen for the reference, mkdocs for the site, and what cpack needs for Debian
# packages.
packages_test="$packages_build $packages_mpi g++ binutils lld-19 libgtest-dev libeigen3-dev libbenchmark-dev libclang-rt-19-dev llvm-19
  clang-tools-19 clang-format-19 clang-tidy-19 codespell doxygen mkdocs python3 python3-venv python3-dev python3-numpy python3-h5py python3-matplotlib pkgconf dpkg-dev file"

# The presets of AMD's GPUs: what clang links into device code.
packages_amd="rocm-device-libs"

# The preset aarch64: what makes its sysroot and runs its programs, and what is in it.
packages_aarch64="mmdebstrap qemu-user-static lld-19 llvm-19"
packages_sysroot="libc6-dev libstdc++-12-dev libgcc-12-dev libomp-19-dev libhdf5-dev libhts-dev libboost-program-options-dev
  nlohmann-json3-dev libgtest-dev libeigen3-dev zlib1g-dev libbenchmark-dev"

# install_packages WHAT PACKAGE...: installs those that are missing, and says which; does nothing when all are there.
install_packages() {
  packages_what=$1
  shift
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "Not a Debian system, nothing is installed. For $packages_what it needs what Debian 12 calls: $*" >&2
    return 0
  fi
  packages_missing=""
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q "ok installed" ||
      packages_missing="$packages_missing $package"
  done
  if [ -z "$packages_missing" ]; then
    echo "Packages for $packages_what: all there."
    return 0
  fi
  echo "Installing for $packages_what:$packages_missing"
  packages_root=""
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "This needs root or sudo. As root:  apt-get install --no-install-recommends$packages_missing" >&2
      return 1
    fi
    packages_root="sudo"
  fi
  $packages_root apt-get -q -o Acquire::Retries=3 update &&
    $packages_root env DEBIAN_FRONTEND=noninteractive \
      apt-get -q -y -o Acquire::Retries=3 install --no-install-recommends $packages_missing
}
