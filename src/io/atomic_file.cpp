#include "quintet/io/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>
#include <system_error>

#include "core/platform.hpp"
#include "io/descriptor_path.hpp"
#include "quintet/core/error.hpp"

namespace quintet::io {

namespace {

constexpr std::size_t write_bytes = std::size_t{1} << 18;

struct destination {
  int descriptor = -1;   // an open file to write to, where the path means one
  std::string target;    // symbolic links resolved
  std::string folder;    // of the target
  bool exists = false;   // as a regular file
  bool regular = true;   // false: exists and cannot be renamed over
  unsigned mode = 0666;  // permissions; the umask is applied when the file is new
};

[[noreturn]] void fail_to_write(std::string_view path, std::string_view reason) {
  throw FileError(path, text("cannot be written: ", reason));
}

// Everything about the path that can be said without creating anything.
destination examine(const std::string& path) {
  if (path.empty()) throw FileError("\"\"", "is an empty path; a file name is needed");
  destination where;
  where.target = path;
  where.descriptor = descriptor_of(path);
  if (where.descriptor >= 0) {
    const int flags = ::fcntl(where.descriptor, F_GETFL);
    if (flags < 0) fail_to_write(path, std::strerror(errno));
    if ((flags & O_ACCMODE) == O_RDONLY) fail_to_write(path, "it is open for reading only");
    where.regular = false;
    return where;
  }
  std::error_code error;
  if (std::filesystem::is_symlink(path, error)) {
    const std::filesystem::path resolved = std::filesystem::weakly_canonical(path, error);
    if (error) fail_to_write(path, error.message());
    where.target = resolved.string();
  }
  const std::filesystem::path folder = std::filesystem::path(where.target).parent_path();
  where.folder = folder.empty() ? "." : folder.string();

  struct stat status;
  if (::stat(where.target.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) fail_to_write(path, "it is a folder");
    if (::access(where.target.c_str(), W_OK) != 0) fail_to_write(path, std::strerror(errno));
    where.regular = S_ISREG(status.st_mode);
    where.exists = where.regular;
    where.mode = status.st_mode & 07777;
    if (!where.regular) return where;
  } else if (errno != ENOENT) {
    fail_to_write(path, std::strerror(errno));
  }
  if (::stat(where.folder.c_str(), &status) != 0)
    fail_to_write(path, errno == ENOENT ? text("there is no folder ", where.folder) : std::strerror(errno));
  if (!S_ISDIR(status.st_mode)) fail_to_write(path, text(where.folder, " is not a folder"));
  if (::access(where.folder.c_str(), W_OK | X_OK) != 0)
    fail_to_write(path, text("folder ", where.folder, ": ", std::strerror(errno)));
  return where;
}

std::string temporary_name(const destination& where) {
  static constexpr char digits[] = "0123456789abcdefghijklmnopqrstuv";
  std::random_device device;
  std::string random;
  for (int i = 0; i < 8; ++i) random += digits[device() % 32u];
  const std::string name = std::filesystem::path(where.target).filename().string();
  return where.folder + "/." + name.substr(0, 200) + "." + random + ".tmp";
}

#if QUINTET_LINUX
// How the kernel names an open file; only with it a file without a name can be given one.
std::string descriptor_path(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }
#endif

int open_unnamed(const destination& where) {
#if QUINTET_LINUX
  const int descriptor = ::open(where.folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, where.mode);
  if (descriptor >= 0 && ::access(descriptor_path(descriptor).c_str(), F_OK) == 0) return descriptor;
  if (descriptor >= 0) ::close(descriptor);
#else
  (void)where;
#endif
  return -1;
}

}  // namespace

atomic_file::atomic_file(std::string path, temporary kind) : path_(std::move(path)) {
  const destination where = examine(path_);
  target_ = where.target;
  regular_ = where.regular;
  buffer_.reserve(write_bytes);
  if (!regular_) {
    // An open file is written where it stands: opened anew it would begin at its start, and a socket could not be.
    descriptor_ = where.descriptor >= 0 ? ::fcntl(where.descriptor, F_DUPFD_CLOEXEC, 0)
                                        : ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail_to_write(path_, std::strerror(errno));
    return;
  }
  if (kind == temporary::automatic) descriptor_ = open_unnamed(where);
  // Not every file system has files without a name.
  for (int attempt = 0; descriptor_ < 0 && attempt < 100; ++attempt) {
    std::string name = temporary_name(where);
    descriptor_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, where.mode);
    if (descriptor_ >= 0)
      temporary_ = std::move(name);
    else if (errno != EEXIST)
      fail_to_write(path_, std::strerror(errno));
  }
  if (descriptor_ < 0) fail_to_write(path_, "no free name for a temporary file");
  // Not worth a failure: on some file systems permissions cannot be changed.
  if (where.exists && ::fchmod(descriptor_, where.mode) != 0) errno = 0;
}

atomic_file::~atomic_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void atomic_file::fail(int error) const {
  fail_to_write(path_, text(std::strerror(error), " (after ", written_, " bytes)"));
}

void atomic_file::write(const void* data, std::size_t bytes) {
  if (descriptor_ < 0 || failed_) fail_to_write(path_, "the file is closed");
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const std::size_t part = std::min(bytes, write_bytes - buffer_.size());
    buffer_.insert(buffer_.end(), from, from + part);
    from += part;
    bytes -= part;
    if (buffer_.size() == write_bytes) flush();
  }
}

void atomic_file::overwrite(std::int64_t position, std::string_view text) {
  if (descriptor_ < 0 || failed_) fail_to_write(path_, "the file is closed");
  if (!regular_) fail_to_write(path_, "is no regular file, and a part of it has to be written at the end");
  flush();
  require_argument(position >= 0 && position <= written_ - std::int64_t(text.size()), "position", position,
                   "inside what was written");
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count =
        ::pwrite(descriptor_, text.data() + written, text.size() - written, position + std::int64_t(written));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      failed_ = true;
      fail(errno);
    }
    written += static_cast<std::size_t>(count);
  }
}

std::int64_t atomic_file::reserve(std::int64_t bytes) {
  if (descriptor_ < 0 || failed_) fail_to_write(path_, "the file is closed");
  if (!regular_) fail_to_write(path_, "is no regular file, in which room could be made");
  flush();
  const std::int64_t begin = written_;
  if (::ftruncate(descriptor_, begin + bytes) != 0 || ::lseek(descriptor_, begin + bytes, SEEK_SET) < 0) {
    failed_ = true;
    fail(errno);
  }
  written_ += bytes;
  return begin;
}

void atomic_file::flush() {
  std::size_t written = 0;
  while (written < buffer_.size()) {
    const ssize_t count = ::write(descriptor_, buffer_.data() + written, buffer_.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      failed_ = true;
      fail(errno);
    }
    written += static_cast<std::size_t>(count);
    written_ += count;
  }
  buffer_.clear();
}

void atomic_file::commit() {
  if (descriptor_ < 0 || failed_) fail_to_write(path_, "the file is closed");
  flush();
  // Some file systems report a full disk or an exceeded quota only here. Pipes and devices know no fsync.
  if (regular_ && ::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP) fail(errno);
#if QUINTET_LINUX
  if (regular_ && temporary_.empty()) {
    destination where;
    where.target = target_;
    const std::filesystem::path folder = std::filesystem::path(target_).parent_path();
    where.folder = folder.empty() ? "." : folder.string();
    // In one step where nothing has to be replaced.
    const std::string unnamed = descriptor_path(descriptor_);
    const bool is_new = ::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, target_.c_str(), AT_SYMLINK_FOLLOW) == 0;
    if (!is_new && errno != EEXIST) fail(errno);
    for (int attempt = 0; !is_new && temporary_.empty(); ++attempt) {
      std::string name = temporary_name(where);
      if (::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0)
        temporary_ = std::move(name);
      else if (errno != EEXIST || attempt == 100)
        fail(errno);
    }
  }
#endif
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (::close(descriptor) != 0 && errno != EINTR) fail(errno);
  if (!regular_ || temporary_.empty()) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
}

void check_writable(const std::string& path) { examine(path); }

int descriptor_of(const std::string& path) {
  std::filesystem::path at = path;
  std::error_code error;
  for (int links = 0; links < 40; ++links) {
    const std::string name = at.string();
    if (name == "/dev/stdout") return STDOUT_FILENO;
    if (name == "/dev/stderr") return STDERR_FILENO;
    for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
      if (!name.starts_with(folder)) continue;
      const char *begin = name.data() + folder.size(), *end = name.data() + name.size();
      int descriptor = -1;
      const auto [stop, wrong] = std::from_chars(begin, end, descriptor);
      return wrong == std::errc() && stop == end ? descriptor : -1;
    }
    if (!std::filesystem::is_symlink(at, error)) return -1;
    at = at.parent_path() / std::filesystem::read_symlink(at, error);
    if (error) return -1;
  }
  return -1;
}

}  // namespace quintet::io
