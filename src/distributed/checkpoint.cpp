#include "distributed/checkpoint.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace quintet::distributed {

namespace {

namespace fs = std::filesystem;

/// Of a clock that never goes back; only differences mean something.
double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[noreturn]] void fail(const std::string& path, int error) { throw FileError(path, std::strerror(error)); }

/// Closed when it goes.
struct descriptor {
  int number;
  ~descriptor() {
    if (number >= 0) ::close(number);
  }
};

void write_all(int file, const char* data, std::size_t count, const std::string& path) {
  while (count > 0) {
    const ssize_t written = ::write(file, data, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(path, errno);
    data += written;
    count -= std::size_t(written);
  }
}

/// The file is complete on the disk, or not there.
void write_checked(const std::string& path, const std::vector<char>& bytes) {
  try {
    const descriptor file{::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
    if (file.number < 0) fail(path, errno);
    write_all(file.number, bytes.data(), bytes.size(), path);
    const std::uint64_t sum = hash_bytes(bytes.data(), bytes.size());
    write_all(file.number, reinterpret_cast<const char*>(&sum), sizeof sum, path);
    if (::fsync(file.number) != 0) fail(path, errno);
  } catch (...) {
    ::unlink(path.c_str());
    throw;
  }
}

void sync_folder(const std::string& path) {
  const descriptor folder{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (folder.number >= 0) ::fsync(folder.number);
}

}  // namespace

std::uint64_t hash_bytes(const void* data, std::size_t count, std::uint64_t state) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < count; ++i) state = (state ^ bytes[i]) * 1099511628211ull;
  return state;
}

std::vector<char> read_checked(const std::string& path) {
  const descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat status;
  if (file.number < 0 || ::fstat(file.number, &status) != 0) fail(path, errno);
  std::vector<char> bytes(std::size_t(status.st_size));
  if (!bytes.empty()) read_part(path, 0, bytes.data(), std::int64_t(bytes.size()));
  std::uint64_t sum = 0;
  if (bytes.size() < sizeof sum) throw FileError(path, "is too short for a checkpoint");
  std::memcpy(&sum, bytes.data() + bytes.size() - sizeof sum, sizeof sum);
  bytes.resize(bytes.size() - sizeof sum);
  if (hash_bytes(bytes.data(), bytes.size()) != sum) throw FileError(path, "is damaged: its checksum is another one");
  return bytes;
}

void read_part(const std::string& path, std::int64_t offset, void* to, std::int64_t count) {
  const descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.number < 0) fail(path, errno);
  auto* at = static_cast<char*>(to);
  while (count > 0) {
    const ssize_t got = ::pread(file.number, at, std::size_t(count), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path, errno);
    if (got == 0) throw FileError(path, "is too short for a checkpoint");
    at += got;
    offset += got;
    count -= got;
  }
}

void array_reader::copy(void* to, std::int64_t count) {
  if (std::int64_t(bytes_.size() - at_) < count) throw FileError(path_, "is too short for a checkpoint");
  if (count > 0) std::memcpy(to, bytes_.data() + at_, std::size_t(count));
  at_ += std::size_t(count);
}

checkpoint::checkpoint(process_group& ranks, checkpoint_plan options, std::string identity)
    : ranks_(ranks), options_(std::move(options)), identity_(std::move(identity)), last_(seconds_now()) {
  if (!is_on()) return;
  // Rank 0 reads; the others are told.
  std::string message;
  ranks_.run_collectively([&] {
    if (!ranks_.is_root()) return;
    std::error_code error;
    fs::create_directories(options_.folder, error);
    if (error) throw FileError(options_.folder, error.message());
    if (!options_.resume || !fs::exists(manifest_path())) return;
    const std::vector<char> bytes = read_checked(manifest_path());
    message.assign(bytes.begin(), bytes.end());
    const std::string of_run = message.substr(0, message.find('\n'));
    if (of_run != identity_)
      throw InvalidArgument(text("checkpoint folder must be of the same points and options (", options_.folder, ": ",
                                 of_run, "; now: ", identity_, ")"));
  });
  ranks_.broadcast(message);
  if (message.empty()) return;
  std::istringstream lines(message.substr(message.find('\n') + 1));
  checkpoint_state state;
  lines >> state.folder >> state.stage >> state.step >> state.ranks;
  ranks_.run_collectively([&] {
    if (!lines) throw FileError(manifest_path(), "is no manifest of a checkpoint");
    if (state.stage == "lists" && state.ranks != ranks_.size())
      throw InvalidArgument(text("ranks must be as many as those of the checkpoint, which ended within its lists, ",
                                 state.ranks, " (ranks=", ranks_.size(), ")"));
  });
  previous_ = current_ = state;
}

std::string checkpoint::lists_path(const checkpoint_state& state, std::int64_t rank) const {
  return text(options_.folder, "/", state.folder, "/rank-", rank);
}

std::string checkpoint::rounds_path(const checkpoint_state& state) const {
  return text(options_.folder, "/", state.folder, "/rounds-", state.step);
}

bool checkpoint::is_due() {
  if (!is_on()) return false;
  return ranks_.maximum(ranks_.is_root() && seconds_now() - last_ >= 60 * options_.minutes) > 0;
}

void checkpoint::save_lists(const std::string& stage, std::int64_t step,
                            const std::function<packed_arrays()>& make_lists) {
  const checkpoint_state state{text(stage, "-", step, "-of-", ranks_.size()), stage, step, ranks_.size()};
  const std::string folder = options_.folder + "/" + state.folder;
  ranks_.run_collectively([&] {
    std::error_code error;
    if (ranks_.is_root()) fs::create_directory(folder, error);
    if (error) throw FileError(folder, error.message());
  });
  try {
    ranks_.run_collectively([&] { write_checked(lists_path(state, ranks_.rank()), make_lists().bytes()); });
    write_manifest(state);
  } catch (...) {
    // Of a checkpoint that is not complete nothing remains; the one before it does.
    if (ranks_.is_root()) fs::remove_all(folder);
    throw;
  }
}

void checkpoint::save_rounds(std::int64_t step, const std::function<packed_arrays()>& of_root) {
  checkpoint_state state = *current_;
  state.stage = "rounds";
  state.step = step;
  ranks_.run_collectively([&] {
    if (ranks_.is_root()) write_checked(rounds_path(state), of_root().bytes());
  });
  write_manifest(state);
}

void checkpoint::write_manifest(const checkpoint_state& state) {
  ranks_.run_collectively([&] {
    if (!ranks_.is_root()) return;
    const std::string folder = options_.folder + "/" + state.folder, before = manifest_path() + ".new";
    sync_folder(folder);
    const std::string message =
        text(identity_, "\n", state.folder, " ", state.stage, " ", state.step, " ", state.ranks, "\n");
    write_checked(before, {message.begin(), message.end()});
    if (::rename(before.c_str(), manifest_path().c_str()) != 0) fail(manifest_path(), errno);
    sync_folder(options_.folder);
    // What the manifest does not name any more.
    if (current_ && current_->folder != state.folder) fs::remove_all(options_.folder + "/" + current_->folder);
    if (current_ && current_->folder == state.folder && current_->stage == "rounds" && current_->step != state.step)
      fs::remove(rounds_path(*current_));
  });
  current_ = state;
  last_ = seconds_now();
}

void checkpoint::remove() {
  if (!current_) return;
  ranks_.run_collectively([&] {
    if (!ranks_.is_root()) return;
    fs::remove(manifest_path());
    fs::remove_all(options_.folder + "/" + current_->folder);
  });
}

}  // namespace quintet::distributed
