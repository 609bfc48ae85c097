// Output files that appear complete or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "quintet/core/compiler.hpp"

namespace quintet::io {

/// A file being written. The data go to a temporary in the same folder; commit() makes sure that they are on the disk
/// and renames the temporary to `path`. If it is destroyed without a commit, it leaves the previous file and nothing
/// else.
///
/// If the file system allows it, the temporary has no name until the commit, which gives it the name `path` in one
/// step: a process that is killed at any time leaves nothing else. If `path` exists, replacing it takes two steps, a
/// name for the temporary and a rename. A process that is killed between them (microseconds) leaves the complete
/// temporary ".<name>.<random>.tmp" next to the old file.
///
/// A symbolic link is followed; a file that exists keeps its permissions. A path that exists and is no regular file (a
/// pipe, a device) cannot be renamed over: it is written directly. So is an open file, whatever it is, that the path
/// means: /dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N.
///
/// A limit on the size of files (ulimit -f) ends a process by the signal SIGXFSZ unless it is ignored, as the programs
/// of this library do; then it is a FileError too.
///
/// Every failure throws FileError with the path and the system's reason ("No space left on device"); so does writing
/// after a commit or after a failure. Cost: one write() of the system for every 256 KiB, and that much memory; commit()
/// waits for the disk.
class atomic_file {
 public:
  /// Whether the temporary has a name.
  enum class temporary {
    automatic,  ///< without a name where possible
    named,      ///< always with a name, ".<name>.<random>.tmp"
  };

  /// Opens the temporary. Throws FileError when the folder is missing or not writable, or `path` is a folder or
  /// write-protected.
  explicit atomic_file(std::string path, temporary kind = temporary::automatic);
  ~atomic_file();
  atomic_file(const atomic_file&) = delete;
  atomic_file& operator=(const atomic_file&) = delete;

  /// Appends `bytes` bytes. Buffered: an error may show only in a later write or in commit().
  void write(const void* data, std::size_t bytes);
  /// Appends a text, and no end of line.
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Replaces bytes that were written before, from `position` on. Throws InvalidArgument for bytes that were not, and
  /// FileError for a pipe or device, which cannot go back.
  void overwrite(std::int64_t position, std::string_view text);
  /// Makes room for `bytes` bytes, zeros until they are written through another descriptor. Where they begin. Throws
  /// FileError for a pipe or device.
  std::int64_t reserve(std::int64_t bytes);
  /// Flushes, checks, closes and renames. Nothing can be written afterwards.
  void commit();

  /// As given to the constructor.
  const std::string& path() const noexcept { return path_; }
  /// The open file, for writers with an own idea of positions (they must not use write()); readable too when seekable.
  int descriptor() const noexcept { return descriptor_; }
  /// Path of the temporary, for other processes to write to before commit(); empty until it has a name.
  const std::string& temporary_path() const noexcept { return temporary_; }
  /// Whether a temporary exists, in which positions can be set; otherwise the path is a pipe or device.
  bool regular() const noexcept { return regular_; }

 private:
  void flush();
  [[noreturn]] void fail(int error) const;

  std::string path_;       // for messages
  std::string target_;     // where the rename goes: symbolic links resolved
  std::string temporary_;  // name of the temporary; empty until it has a name
  std::vector<char> buffer_;
  std::int64_t written_ = 0;
  int descriptor_ = -1;
  bool regular_ = true;
  bool failed_ = false;
};

/// Throws FileError if an atomic_file for `path` could not be opened; writes nothing. Says nothing about space on the
/// disk.
void check_writable(const std::string& path);

}  // namespace quintet::io
