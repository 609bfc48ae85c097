#include "snp_mcmc/output.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "quintet/core/error.hpp"
#include "quintet/io/hdf5.hpp"
#include "quintet/snp/network/network_topology.hpp"
#include "quintet/snp/network/newick.hpp"

namespace quintet::driver {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 16;

[[noreturn]] void fail(const std::string& path, int error) {
  throw FileError(path, text("cannot be written: ", std::strerror(error),
                             "; what was sampled up to the last checkpoint is kept, --resume goes on from there"));
}

std::string number(double x) {
  char digits[32];
  return std::string(digits, std::to_chars(digits, digits + sizeof digits, x).ptr);
}

std::string seventeen_digits(double x) {
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.17g", x);
  return digits;
}

std::string quoted(const std::string& name) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
  };
  if (!name.empty() && std::all_of(name.begin(), name.end(), is_plain)) return name;
  std::string result = "'";
  for (const char c : name) result += c == '\'' ? "''" : std::string(1, c);
  return result + "'";
}

class annotated_writer {
 public:
  explicit annotated_writer(const snp::Network& network) : network_(network), label_(std::size_t(network.nodes())) {}
  std::string write() {
    append(network_.root(), -1);
    return out_ + ";";
  }

 private:
  void append(std::int64_t node, std::int64_t above) {
    const bool is_reticulation = network_.kind(node) == snp::node_kind::reticulation;
    std::string& label = label_[std::size_t(node)];
    if (!is_reticulation || label.empty()) {
      if (is_reticulation) label = text("#H", ++labels_);
      const auto children = network_.child_branches(node);
      for (std::size_t i = 0; i < children.size(); ++i) {
        out_ += i == 0 ? "(" : ",";
        append(network_.branch(children[i]).child, children[i]);
      }
      if (!children.empty()) out_ += ")";
    }
    if (network_.kind(node) == snp::node_kind::leaf) out_ += quoted(network_.name(node));
    out_ += label;
    if (above < 0) {
      out_ += "[&theta=" + number(network_.root_theta()) + "]";
      return;
    }
    const snp::branch& b = network_.branch(above);
    out_ += is_reticulation ? "[&gamma=" + number(b.gamma) + ",theta=" : std::string("[&theta=");
    out_ += number(b.theta) + "]:" + number(b.length);
  }

  const snp::Network& network_;
  std::vector<std::string> label_;
  int labels_ = 0;
  std::string out_;
};

}  // namespace

std::string annotated_newick(const snp::Network& network) { return annotated_writer(network).write(); }

std::uint64_t hash_of(std::string_view text, std::uint64_t before) {
  for (const char c : text) before = (before ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return before;
}

run_folder::run_folder(std::string path, bool resume) : path_(std::move(path)) {
  std::error_code error;
  std::filesystem::create_directories(path_, error);
  if (error) throw FileError(path_, text("cannot be made: ", error.message()));
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ < 0) throw FileError(path_, text("is no folder for results: ", std::strerror(errno)));
  if (::access(path_.c_str(), W_OK) != 0) {
    const int reason = errno;
    ::close(descriptor_);
    throw FileError(path_, text("cannot be written: ", std::strerror(reason)));
  }
  // Released by the system when the process ends, however it ends.
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    ::close(descriptor_);
    throw FileError(path_, "another run is writing into this folder; choose another --output");
  }
  has_checkpoint_ = std::filesystem::exists(file("samples.h5"), error);
  if (resume || !has_checkpoint_) return;
  ::close(descriptor_);
  throw FileError(path_, "holds a run already; --resume goes on with it, or choose another --output");
}

run_folder::~run_folder() { ::close(descriptor_); }

std::string run_folder::file(const std::string& name) const { return (std::filesystem::path(path_) / name).string(); }

growing_file::growing_file(std::string path, std::int64_t bytes) : path_(std::move(path)), bytes_(bytes) {
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail(path_, errno);
  struct stat status;
  if (::fstat(descriptor_, &status) != 0) fail(path_, errno);
  if (status.st_size < bytes)
    throw FileError(path_, text("is shorter (", status.st_size, " bytes) than when the checkpoint was written (", bytes,
                                "): it was changed, and the run cannot be gone on with"));
  if (::ftruncate(descriptor_, bytes) != 0 || ::lseek(descriptor_, bytes, SEEK_SET) < 0) fail(path_, errno);
}

growing_file::~growing_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

growing_file::growing_file(growing_file&& other) noexcept
    : path_(std::move(other.path_)),
      buffer_(std::move(other.buffer_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      bytes_(other.bytes_) {}

void growing_file::write(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= buffer_bytes) flush();
}

void growing_file::flush() {
  std::size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t written = ::write(descriptor_, buffer_.data() + done, buffer_.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(path_, written < 0 ? errno : ENOSPC);
    done += std::size_t(written);
  }
  bytes_ += std::int64_t(done);
  buffer_.clear();
}

std::int64_t growing_file::sync() {
  flush();
  if (::fsync(descriptor_) != 0 && errno != EINVAL) fail(path_, errno);
  return bytes_;
}

run_files::run_files(const run_folder& folder, run_identity identity, tree_format format, std::int64_t chains,
                     snp::sampler_snapshot begin, std::shared_ptr<const std::vector<std::string>> species, bool resume)
    : folder_(folder),
      identity_(std::move(identity)),
      format_(format),
      species_(std::move(species)),
      columns_(snp::trace_columns(*species_)),
      samples_(std::size_t(chains)) {
  log_bytes_.assign(samples_.size(), 0);
  tree_bytes_ = log_bytes_;
  if (resume) load();
  for (std::size_t c = 0; c < samples_.size(); ++c) {
    logs_.emplace_back(folder.file(text("chain_", c, ".log")), log_bytes_[c]);
    trees_.emplace_back(folder.file(text("chain_", c, ".trees")), tree_bytes_[c]);
    if (log_bytes_[c] > 0) continue;
    logs_.back().write(log_head(c));
    trees_.back().write(format_ == tree_format::icytree ? "#NEXUS\n\nBegin trees;\n" : "#NEXUS\n\nBEGIN NETWORKS;\n");
  }
  if (resume) {
    marked_ = found_;
    return;
  }
  mark(std::move(begin));
  save();
}

std::string run_files::log_head(std::size_t chain) const {
  std::string head = identity_.head + "# chain " + std::to_string(chain) + "\n";
  for (std::size_t i = 0; i < columns_.size(); ++i) head += (i == 0 ? "" : "\t") + columns_[i];
  return head + "\n";
}

void run_files::add(const std::vector<std::vector<snp::sampled_state>>& samples, const snp::priors& prior) {
  for (std::size_t c = 0; c < samples.size(); ++c)
    for (const snp::sampled_state& one : samples[c]) {
      kept_sample kept{snp::trace_row(one, prior), snp::numbers_of(one.state), {}};
      const auto numbering = snp::number_canonically(one.state);
      kept.key = numbering.key;
      std::string line = std::to_string(one.step);
      for (std::size_t i = 1; i < kept.row.size(); ++i) line += "\t" + seventeen_digits(kept.row[i]);
      logs_[c].write(line + "\n");
      const snp::Network network = snp::to_network(one.state, numbering);
      trees_[c].write(format_ == tree_format::icytree
                          ? text("tree STATE_", one.step, " = [&R] ", annotated_newick(network), "\n")
                          : text("Network STATE_", one.step, " = ", snp::to_newick(network), "\n"));
      samples_[c].push_back(std::move(kept));
    }
}

void run_files::mark(snp::sampler_snapshot snapshot) {
  marked_ = std::move(snapshot);
  for (std::size_t c = 0; c < samples_.size(); ++c) {
    log_bytes_[c] = logs_[c].bytes();
    tree_bytes_[c] = trees_[c].bytes();
  }
}

void run_files::save() {
  for (std::size_t c = 0; c < samples_.size(); ++c) {
    logs_[c].sync();
    trees_[c].sync();
  }
  io::hdf5_writer out(folder_.file("samples.h5"));
  out.attribute("", "program", "quintet-snp-mcmc");
  out.attribute("", "config", identity_.config);
  std::string names;
  for (const std::string& name : columns_) names += (names.empty() ? "" : "\t") + name;
  out.attribute("", "columns", names);
  const std::vector<std::int64_t> facts{std::int64_t(identity_.hash), marked_.step, std::int64_t(samples_.size())};
  out.write("checkpoint/facts", facts);
  out.write("checkpoint/numbers", marked_.numbers);
  out.write("checkpoint/counts", marked_.counts);
  out.write("checkpoint/log_bytes", log_bytes_);
  out.write("checkpoint/tree_bytes", tree_bytes_);
  for (std::size_t c = 0; c < samples_.size(); ++c) {
    std::vector<double> rows, numbers;
    std::vector<std::int64_t> begins{0};
    for (const kept_sample& one : samples_[c]) {
      rows.insert(rows.end(), one.row.begin(), one.row.end());
      numbers.insert(numbers.end(), one.numbers.begin(), one.numbers.end());
      begins.push_back(std::int64_t(numbers.size()));
    }
    const std::int64_t shape[] = {std::int64_t(samples_[c].size()), std::int64_t(columns_.size())};
    out.write<double>(text("traces/chain_", c), rows, shape);
    out.write(text("networks/chain_", c, "_numbers"), numbers);
    out.write(text("networks/chain_", c, "_begins"), begins);
  }
  out.commit();
}

void run_files::load() {
  const std::string path = folder_.file("samples.h5");
  const auto facts = io::read_hdf5<std::int64_t>(path, "checkpoint/facts").data;
  if (facts.size() != 3 || std::uint64_t(facts[0]) != identity_.hash || facts[2] != std::int64_t(samples_.size()))
    throw InvalidArgument(text("--resume: ", path,
                               " is of a run with other data or options; give those of that run (attribute config), "
                               "only --iterations, --threads and --checkpoint-seconds may differ"));
  found_.step = facts[1];
  found_.numbers = io::read_hdf5<double>(path, "checkpoint/numbers").data;
  found_.counts = io::read_hdf5<std::int64_t>(path, "checkpoint/counts").data;
  log_bytes_ = io::read_hdf5<std::int64_t>(path, "checkpoint/log_bytes").data;
  tree_bytes_ = io::read_hdf5<std::int64_t>(path, "checkpoint/tree_bytes").data;
  for (std::size_t c = 0; c < samples_.size(); ++c) {
    const auto rows = io::read_hdf5<double>(path, text("traces/chain_", c)).data;
    const auto numbers = io::read_hdf5<double>(path, text("networks/chain_", c, "_numbers")).data;
    const auto begins = io::read_hdf5<std::int64_t>(path, text("networks/chain_", c, "_begins")).data;
    for (std::size_t s = 0; s + 1 < begins.size(); ++s) {
      const auto row = rows.begin() + std::ptrdiff_t(s * columns_.size());
      if (*row > double(found_.step)) break;  // was sampled after the checkpoint, and will be again
      kept_sample one{{row, row + std::ptrdiff_t(columns_.size())},
                      {numbers.begin() + begins[s], numbers.begin() + begins[s + 1]},
                      {}};
      one.key = snp::number_canonically(snp::state_from_numbers(species_, one.numbers)).key;
      samples_[c].push_back(std::move(one));
    }
  }
}

void run_files::finish() {
  for (growing_file& file : trees_) file.write(format_ == tree_format::icytree ? "End;\n" : "END;\n");
  save();
}

}  // namespace quintet::driver
