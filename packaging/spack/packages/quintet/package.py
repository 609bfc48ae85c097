# Spack package: spack repo add packaging/spack && spack install quintet
from spack.package import *


class Quintet(CMakePackage):
    """Exact HDBSCAN, batched SVD, sparse products, the Poincare ball and species networks, one source for CPUs and, through
    OpenMP offload, GPUs."""

    homepage = "file://README.md"
    license("Apache-2.0")

    # A release's tarball: spack install quintet@0.1.0 with the sources in a mirror, or spack dev-build in a clone.
    manual_download = True
    version("0.1.0")

    variant("shared", default=False, description="Shared libraries")
    variant("hdf5", default=True, description="Files (quintet::io) and programs")
    variant("htslib", default=True, when="+hdf5", description="VCF files")
    variant("mpi", default=False, description="Several nodes (quintet::mpi)")

    depends_on("cxx", type="build")
    depends_on("c", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("zlib-api")
    depends_on("hdf5~mpi", when="+hdf5")
    depends_on("boost+program_options", when="+hdf5")
    depends_on("nlohmann-json", when="+hdf5")
    depends_on("htslib", when="+htslib")
    depends_on("mpi", when="+mpi")
    generator("ninja")

    # C++20 with ranges and concepts.
    conflicts("%gcc@:11")
    conflicts("%clang@:15")

    def cmake_args(self):
        files = "+hdf5" in self.spec
        return [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define("QUINTET_BUILD_TESTS", False),
            self.define("QUINTET_BUILD_EXAMPLES", files),
            self.define("QUINTET_HDF5", "AUTO" if files else "OFF"),
            # Spack has the shared library, of the version and with the options that others of the environment use.
            self.define("QUINTET_HDF5_STATIC", "OFF"),
            self.define("QUINTET_HTSLIB", "AUTO" if self.spec.satisfies("+htslib") else "OFF"),
            self.define("QUINTET_WITH_MPI", "ON" if self.spec.satisfies("+mpi") else "OFF"),
            # -march is what Spack's compiler wrapper adds for the target of the spec.
            self.define("QUINTET_HOST_ARCH", ""),
        ]
