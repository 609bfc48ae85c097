/// @file
/// Common parts of the C interface: status, messages, element types, devices, threads, progress.
//
// Conventions of all functions of quintet/c/
//
//   Status.    Functions that can fail return a quintet_status; QUINTET_OK is 0. No C++ exception leaves the library.
//              quintet_last_error() has the message of the last failure of the calling thread. On failure outputs are
//              unspecified, new handles are NULL, and inputs are untouched.
//   Checks.    Pointers must not be NULL unless a comment allows it or their data have size 0. Sizes must not be
//              negative; enumerated values must be among the named ones. Anything else is QUINTET_INVALID_ARGUMENT; the
//              message has the name, the value and the range.
//   Matrices.  Row-major with a stride: element (i, j) is data[i * stride + j], stride >= columns. Sizes and strides
//              count elements. If the element type is chosen at run time, the pointer is const void* or void*, next to
//              a quintet_type. Data are aligned as their type requires.
//   Types.     A function that takes QUINTET_HALF or QUINTET_BFLOAT16 computes in float: its *real type* is float for
//              them, and the type itself for QUINTET_FLOAT and QUINTET_DOUBLE.
//   Handles.   A pointer to an incomplete struct owns a result. The function named after it frees it, and takes NULL
//              too. Arrays from accessors belong to the handle and are valid until it is freed.
//   Structs.   Options and reports begin with a size: that of the struct in the caller's header. The library reads and
//              writes no more than that, so programs keep working with later versions, which may add members at the
//              end. The _default function of options fills them. NULL stands for the defaults in every function that
//              takes options. Structs without a size never change.
//   Devices.   A text: "auto" or NULL (the first GPU, otherwise the host), "host", "emulated" (slow, for tests), or the
//              number of an offload device, "0". QUINTET_DEVICE_ERROR for a device that is absent.
//   Threads.   You may call all functions from several threads at the same time. Several threads may read a handle at
//              the same time; functions that take it as a pointer to non-const change it and need it alone.
//   Errors.    The comment of a function has its invalid arguments. Every function that computes can also return
//              QUINTET_OUT_OF_MEMORY, and one that takes a device QUINTET_DEVICE_ERROR.
//   Cost.      Without a comment it is that of the C++ function of the same name; its header also has formulas, sources
//              and accuracy. Nothing is copied unless a comment says so. Times are in operations; _free functions and
//              accessors take O(1).
//
//   #include <quintet/c/quintet.h>
//   quintet_hdbscan_clustering* model = NULL;
//   if (quintet_hdbscan_cluster(points, QUINTET_FLOAT, n, dim, dim, NULL, NULL, NULL, NULL, &model) != QUINTET_OK)
//     fprintf(stderr, "%s\n", quintet_last_error());
#ifndef QUINTET_C_CORE_H
#define QUINTET_C_CORE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define QUINTET_API __attribute__((visibility("default")))
#else
#define QUINTET_API
#endif

#ifdef __cplusplus
#define QUINTET_NOEXCEPT noexcept
extern "C" {
#else
#define QUINTET_NOEXCEPT
#endif

/// Outcome of a call.
typedef int32_t quintet_status;
enum {
  QUINTET_OK = 0,
  QUINTET_INVALID_ARGUMENT = 1,  ///< outside its documented range; the message has name, value and range
  QUINTET_OUT_OF_MEMORY = 2,     ///< of the host or the device
  QUINTET_DEVICE_ERROR = 3,      ///< absent, or failed; or the processor lacks what the library was compiled for
  QUINTET_CANCELLED = 4,         ///< a callback asked to stop
  QUINTET_FILE_ERROR = 5,        ///< cannot be read or parsed; the message has path, line and reason
  QUINTET_INTERNAL_ERROR = 6     ///< anything else: an error of the library
};

/// "ok", "invalid argument", ...; "unknown status" for other numbers. Never NULL; valid until the program ends.
QUINTET_API const char* quintet_status_name(quintet_status status) QUINTET_NOEXCEPT;

/// Message of the last call that failed in this thread, "" before the first; UTF-8. A call that succeeds leaves it.
/// Never NULL; valid until the next call in this thread fails.
QUINTET_API const char* quintet_last_error(void) QUINTET_NOEXCEPT;

/// Version of the library that is linked: "0.1.0".
QUINTET_API const char* quintet_version(void) QUINTET_NOEXCEPT;
/// Version, commit, compiler, kind of build and compiled targets in one line, as the programs' --version has them.
QUINTET_API const char* quintet_build_info(void) QUINTET_NOEXCEPT;
/// Offload targets the library was compiled for: "sm_90,gfx90a"; "none" for a library that runs on the host only.
QUINTET_API const char* quintet_offload_targets(void) QUINTET_NOEXCEPT;

/// Type of elements. Half and bfloat16 are stored as uint16_t: IEEE 754 binary16, and the upper half of a binary32.
typedef int32_t quintet_type;
enum { QUINTET_FLOAT = 1, QUINTET_DOUBLE = 2, QUINTET_HALF = 3, QUINTET_BFLOAT16 = 4 };

/// Distance of points.
typedef int32_t quintet_metric;
enum {
  QUINTET_EUCLIDEAN = 0,  ///< |x - y|
  QUINTET_COSINE = 1,     ///< 1 - <x, y> / (|x| |y|)
  QUINTET_POINCARE = 2,   ///< geodesic distance in the Poincare ball of options.curvature
  QUINTET_MANHATTAN = 3,  ///< sum of |x_k - y_k|
  QUINTET_CHEBYSHEV = 4,  ///< largest |x_k - y_k|
  QUINTET_MINKOWSKI = 5,  ///< (sum of |x_k - y_k|^p)^(1/p) of options.p
  QUINTET_HAVERSINE = 6,  ///< great-circle distance; rows of latitude and longitude in options.unit
  QUINTET_LORENTZ = 7,    ///< geodesic distance in the Lorentz model of options.curvature; points are double
  /// Bits that differ / options.bits. Points are rows of (bits + 63) / 64 uint64_t words, bit b of a row bit b % 64 of
  /// word b / 64, 0 behind the last one. Words are passed as they are, as QUINTET_DOUBLE.
  QUINTET_HAMMING = 8,
  QUINTET_JACCARD = 9,  ///< bits that differ / bits that are 1 in either row of such points; 0 of two rows without ones
  QUINTET_PRODUCT = 10,  ///< sqrt(sum of w_i d_i^2) over options.factors, at most 16; points are double
  /// |x - y|, exact to the last tie. Points are rows of integers in [-255, 255], four int16_t in a word as for bits,
  /// the first one lowest, 0 behind the last one; options.bits is 16 times their number, which is at most 65536.
  QUINTET_INTEGER_EUCLIDEAN = 11,
  QUINTET_INTEGER_COSINE = 12,        ///< 1 - cos(x, y) of such points; rows of zeros are invalid
  QUINTET_INTEGER_INNER_PRODUCT = 13  ///< -<x, y> of such points, the largest product first: for neighbours alone
};

/// The geometry of a factor of a product of spaces of constant curvature.
typedef int32_t quintet_geometry;
enum {
  QUINTET_FLAT_FACTOR = 0,           ///< |x - y|
  QUINTET_SPHERE_FACTOR = 1,         ///< directions of vectors; curvature > 0
  QUINTET_STEREOGRAPHIC_FACTOR = 2,  ///< the projection of any curvature; < 0 is the Poincare ball
  QUINTET_LORENTZ_FACTOR = 3         ///< space parts of points of the hyperboloid; curvature < 0
};

/// A factor of a product.
typedef struct quintet_factor {
  quintet_geometry geometry;  ///< what its distances are
  int32_t reserved;           ///< 0
  int64_t dim;                ///< numbers in a row, >= 1; of a sphere >= 2
  double curvature;           ///< of a magnitude in [1e-30, 1e30], or 0 for a projection
  double weight;              ///< of the squared distance, > 0
} quintet_factor;

/// What coordinates of points on a sphere are measured in.
typedef int32_t quintet_angle_unit;
enum {
  QUINTET_DEGREES = 0,  ///< latitudes in [-90, 90], longitudes in [-360, 360]; other rows are invalid
  QUINTET_RADIANS = 1   ///< pi / 2 and 2 pi, rounded to the type
};

/// to[i] := from[i] for `count` elements, rounded once, to nearest, ties to even. The ranges must not overlap.
/// Invalid: another type, count < 0, no arrays for count > 0. Cost: O(count), one thread.
QUINTET_API quintet_status quintet_convert(const void* from, quintet_type from_type, void* to, quintet_type to_type,
                                           int64_t count) QUINTET_NOEXCEPT;

/// Number of host threads that kernels use from now on, in all threads of the program; 0: the default (OMP_NUM_THREADS
/// or all cores). Results do not depend on it. Invalid: negative. O(1).
QUINTET_API quintet_status quintet_set_threads(int32_t count) QUINTET_NOEXCEPT;
/// Number of host threads that kernels use, >= 1. O(1).
QUINTET_API int32_t quintet_threads(void) QUINTET_NOEXCEPT;

/// Kind of a device.
typedef int32_t quintet_device_kind;
enum { QUINTET_DEVICE_HOST = 0, QUINTET_DEVICE_EMULATED = 1, QUINTET_DEVICE_OFFLOAD = 2 };

/// A device, as quintet_device_at() and quintet_device_find() describe it.
typedef struct quintet_device_info {
  size_t size;               ///< of this struct
  quintet_device_kind kind;  ///< QUINTET_DEVICE_...
  int32_t index;             ///< number of the offload device; 0 for the others
  int64_t memory_bytes;      ///< all that it has; 0 when that is not known
  char device[16];           ///< the text that chooses it: "host", "0"
  char name[232];            ///< for people; cut where it is longer
} quintet_device_info;

/// Number of devices: the host and the offload devices. Never less than 1; the emulated one is not counted. The first
/// call starts the devices' runtime.
QUINTET_API int32_t quintet_device_count(void) QUINTET_NOEXCEPT;
/// Describes device `number`: 0 is the host, 1 ... the offload devices. info->size must be set. Invalid: a number
/// outside [0, quintet_device_count()), a size that no version of this struct has. Asks the system: not for loops.
QUINTET_API quintet_status quintet_device_at(int32_t number, quintet_device_info* info) QUINTET_NOEXCEPT;
/// Describes what `device` (see above) chooses. info->size must be set. Invalid: other text, a size that no version
/// of this struct has; device error: absent. Asks the system: not for loops.
QUINTET_API quintet_status quintet_device_find(const char* device, quintet_device_info* info) QUINTET_NOEXCEPT;

/// A callback for the progress of long work: name of the stage, and the finished part of it, 0 to 1. Returning 0 stops
/// the work, and the function returns QUINTET_CANCELLED. It is called on the thread that called the library, with the
/// `user` that you passed. Functions that take one allow NULL.
typedef int32_t (*quintet_progress)(const char* stage, double fraction, void* user);

#ifdef __cplusplus
}
#endif

#endif
