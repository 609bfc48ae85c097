// Exceptions of the library. Every message names the argument or file, its value, and what is allowed.
//
// Kernels never throw; a batch reports a status per item instead. What throws is the checking layer of the public
// functions, before any work is done, so that arguments and outputs are untouched when an exception arrives.
#pragma once

#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace quintet {

/// Root of all exceptions thrown by quintet.
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

/// A device that was demanded and is absent, or that failed.
class DeviceError : public Error {
 public:
  using Error::Error;
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
  /// `stage` as the callback was told it.
  explicit Cancelled(std::string_view stage);
};

/// Joins its arguments into one text, as operator<< prints them.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// Throws InvalidArgument "name must be <allowed> (name=value)" unless `condition` holds.
template <class Value>
void require_argument(bool condition, std::string_view name, const Value& value, std::string_view allowed) {
  if (!condition) throw InvalidArgument(text(name, " must be ", allowed, " (", name, "=", value, ")"));
}

}  // namespace quintet
