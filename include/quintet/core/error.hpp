// Exceptions of the library. Every message names the argument or file, its value, and what is allowed.
//
// Kernels never throw; a batch reports a status per item instead. The checking layer of the public functions throws
// before any work is done, so arguments and outputs are untouched when an exception arrives. OutOfMemory, DeviceError,
// Cancelled and a FileError may come later; outputs are unspecified then, and nothing leaks.
//
// Results in std::vector and copies of the arguments are memory of the standard library. If that runs out, any function
// throws std::bad_alloc, or std::length_error for more elements than can be addressed. Memory of devices, of Buffers
// and of sparse matrices throws OutOfMemory.
#pragma once

#include <charconv>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "quintet/core/compiler.hpp"

namespace quintet {

/// Root of all exceptions thrown by quintet. Making one costs time and memory in the length of its text.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An argument outside its documented range. The text names the argument, its value and the range.
class InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// A file that cannot be read, parsed or written. The text names the path, the line where there is one, and the reason.
class FileError : public Error {
 public:
  /// The text is "path: reason".
  FileError(std::string_view path, std::string_view reason);
  /// The text is "path:line: reason"; lines count from 1.
  FileError(std::string_view path, std::int64_t line, std::string_view reason);
};

/// A device that you named and that is absent, or that failed.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// The processor lacks instructions that this copy of the library was compiled for. The text names both, and the option
/// that helps. Every function throws it then, before it executes any of them; only build_info() does not.
class ProcessorError : public DeviceError {
 public:
  /// The text as it is.
  explicit ProcessorError(const char* sentence);
  ~ProcessorError() override;
};

/// An allocation that did not succeed; the text states the bytes and the device.
class OutOfMemory : public DeviceError {
 public:
  /// `bytes` that were asked for, and the name of the device for the text.
  OutOfMemory(std::int64_t bytes, std::string_view device);
  /// Bytes that were asked for.
  std::int64_t bytes() const noexcept { return bytes_; }

 private:
  std::int64_t bytes_;
};

/// Work that the caller's progress callback asked to stop; the text names the stage. Outputs are then unspecified.
class Cancelled : public Error {
 public:
  /// `stage` as the callback got it.
  explicit Cancelled(std::string_view stage);
};

namespace detail {

/// As operator<< prints it; without a stream where that is possible, which takes a microsecond.
template <class Part>
void append(std::string& text, const Part& part) {
  constexpr bool is_number = std::is_arithmetic_v<Part> && !std::is_same_v<Part, bool> && sizeof(Part) > 1;
  if constexpr (std::is_convertible_v<const Part&, std::string_view>) {
    text += std::string_view(part);
  } else if constexpr (is_number && !std::is_same_v<Part, wchar_t>) {
    char digits[32];
    std::to_chars_result end;
    if constexpr (std::is_floating_point_v<Part>)
      end = std::to_chars(digits, digits + sizeof digits, part, std::chars_format::general, 6);
    else
      end = std::to_chars(digits, digits + sizeof digits, part);
    text.append(digits, end.ptr);
  } else {
    std::ostringstream out;
    out << part;
    text += out.str();
  }
}

}  // namespace detail

/// Joins its arguments into one text, as operator<< prints them.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::string all;
  (detail::append(all, parts), ...);
  return all;
}

/// Throws InvalidArgument "name must be <allowed> (name=value)" unless `condition` holds. The arguments are made in any
/// case: in a loop, make texts only after the condition has failed.
template <class Value>
void require_argument(bool condition, std::string_view name, const Value& value, std::string_view allowed) {
  if (!condition) throw InvalidArgument(text(name, " must be ", allowed, " (", name, "=", value, ")"));
}

}  // namespace quintet
