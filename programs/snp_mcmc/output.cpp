#include "snp_mcmc/output.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "quintet/core/error.hpp"
#include "quintet/io/hdf5.hpp"
#include "quintet/snp/network/network_topology.hpp"
#include "quintet/snp/network/newick.hpp"

namespace quintet::driver {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 16;

[[noreturn]] void fail(const std::string& path, int error) {
  throw FileError(path, text("cannot be written: ", std::strerror(error),
                             "; the samples up to the last checkpoint are kept, --resume continues from there"));
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

[[noreturn]] void fail_as_changed(const std::string& path) {
  throw FileError(path, "changed since the checkpoint was written, so the run cannot be resumed");
}

// hash_of() numbers, which a file may have damaged.
class checksum {
 public:
  template <class... Numbers>
  void add(const Numbers&... numbers) {
    ((value_ = hash_of({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(numbers[0])}, value_)),
     ...);
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = hash_of("");
};

std::vector<std::int64_t> numbers_of(const std::vector<file_mark>& marks) {
  std::vector<std::int64_t> numbers;
  for (const file_mark& mark : marks) numbers.insert(numbers.end(), {mark.bytes, std::int64_t(mark.hash)});
  return numbers;
}

std::vector<file_mark> marks_of(const std::vector<std::int64_t>& numbers, std::size_t files) {
  std::vector<file_mark> marks;
  for (std::size_t i = 0; i < files && 2 * i + 1 < numbers.size(); ++i)
    marks.push_back({std::max<std::int64_t>(numbers[2 * i], 0), std::uint64_t(numbers[2 * i + 1])});
  marks.resize(files);
  return marks;
}

// Places of networks among the numbers, ascending.
void check_begins(const std::string& path, const std::vector<std::int64_t>& begins, std::size_t samples,
                  std::size_t numbers) {
  if (begins.size() != samples + 1 || begins.front() != 0 || begins.back() != std::int64_t(numbers) ||
      !std::is_sorted(begins.begin(), begins.end()))
    fail_as_changed(path);
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

/// Removes the files that a killed run has not finished (see atomic_file). Nobody else writes into a locked folder.
void remove_unfinished(const std::string& folder) {
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    const bool is_ours = name.starts_with(".samples.h5.") || name.starts_with(".summary.json.");
    std::error_code ignored;  // what stays is a file too many
    if (is_ours && name.ends_with(".tmp")) std::filesystem::remove(at->path(), ignored);
  }
}

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
  if (resume || !has_checkpoint_) {
    remove_unfinished(path_);
    return;
  }
  ::close(descriptor_);
  throw FileError(path_, "holds a run already; --resume continues it, or choose another --output");
}

std::int64_t burn_in_of_checkpoint(const std::string& folder) {
  const std::string path = (std::filesystem::path(folder) / "samples.h5").string();
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return -1;
  const auto burn_in = io::read_hdf5<std::int64_t>(path, "checkpoint/burn_in").data;
  if (burn_in.size() != 1 || burn_in[0] < 0) fail_as_changed(path);
  return burn_in[0];
}

run_folder::~run_folder() { ::close(descriptor_); }

std::string run_folder::file(const std::string& name) const { return (std::filesystem::path(path_) / name).string(); }

growing_file::growing_file(std::string path, file_mark mark) : path_(std::move(path)), mark_(mark) {
  const std::int64_t bytes = mark.bytes;
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail(path_, errno);
  struct stat status;
  if (::fstat(descriptor_, &status) != 0) fail(path_, errno);
  if (status.st_size < bytes)
    throw FileError(path_, text("is shorter (", status.st_size, " bytes) than when the checkpoint was written (", bytes,
                                "): it was changed, so the run cannot be resumed"));
  check_content();
  if (::ftruncate(descriptor_, bytes) != 0 || ::lseek(descriptor_, bytes, SEEK_SET) < 0) fail(path_, errno);
}

void growing_file::check_content() const {
  std::vector<char> block(buffer_bytes);
  std::uint64_t hash = hash_of("");
  for (std::int64_t written = 0; written < mark_.bytes;) {
    const auto target = std::size_t(std::min(mark_.bytes - written, std::int64_t(block.size())));
    const ssize_t count = ::read(descriptor_, block.data(), target);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw FileError(path_, text("cannot be read: ", std::strerror(count < 0 ? errno : EIO)));
    hash = hash_of({block.data(), std::size_t(count)}, hash);
    written += count;
  }
  if (hash != mark_.hash) fail_as_changed(path_);
}

growing_file::~growing_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

growing_file::growing_file(growing_file&& other) noexcept
    : path_(std::move(other.path_)),
      buffer_(std::move(other.buffer_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      mark_(other.mark_) {}

void growing_file::write(std::string_view text) {
  buffer_ += text;
  mark_ = {mark_.bytes + std::int64_t(text.size()), hash_of(text, mark_.hash)};
  if (buffer_.size() >= buffer_bytes) flush();
}

void growing_file::flush() {
  std::size_t transferred = 0;
  while (transferred < buffer_.size()) {
    const ssize_t written = ::write(descriptor_, buffer_.data() + transferred, buffer_.size() - transferred);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(path_, written < 0 ? errno : ENOSPC);
    transferred += std::size_t(written);
  }
  buffer_.clear();
}

void growing_file::sync() {
  flush();
  if (::fsync(descriptor_) != 0 && errno != EINVAL) fail(path_, errno);
}

void append(power_draws& all, const power_draws& part) {
  all.resize(std::max(all.size(), part.size()));
  for (std::size_t c = 0; c < part.size(); ++c) {
    all[c].resize(part[c].size());
    for (std::size_t k = 0; k < part[c].size(); ++k)
      all[c][k].insert(all[c][k].end(), part[c][k].begin(), part[c][k].end());
  }
}

std::vector<double> numbers_of(const power_draws& draws) {
  std::vector<double> numbers;
  for (const auto& chain : draws)
    for (const std::vector<double>& values : chain) numbers.insert(numbers.end(), values.begin(), values.end());
  return numbers;
}

power_draws draws_of(const std::vector<double>& numbers, std::int64_t chains, std::int64_t temperatures) {
  if (numbers.empty()) return {};
  const std::ptrdiff_t length = std::ptrdiff_t(numbers.size()) / (chains * temperatures);
  const std::vector<std::vector<double>> chain_draws(static_cast<std::size_t>(temperatures));
  power_draws draws(static_cast<std::size_t>(chains), chain_draws);
  auto next = numbers.begin();
  for (auto& chain : draws)
    for (std::vector<double>& values : chain) {
      values.assign(next, next + length);
      next += length;
    }
  return draws;
}

namespace {

// The first `count` draws of every temperature.
power_draws first_draws(power_draws draws, std::size_t count) {
  for (auto& chain : draws)
    for (std::vector<double>& values : chain) values.resize(count);
  return draws;
}

}  // namespace

run_files::run_files(const run_folder& folder, run_identity identity, tree_format format, std::int64_t chains,
                     snp::sampler_snapshot begin, std::shared_ptr<const std::vector<std::string>> species,
                     const snp::priors& prior, bool resume)
    : folder_(folder),
      identity_(std::move(identity)),
      format_(format),
      species_(std::move(species)),
      columns_(snp::trace_columns(*species_, prior)),
      samples_(std::size_t(chains)) {
  log_marks_.assign(samples_.size(), {});
  tree_marks_ = log_marks_;
  if (resume) load();
  for (std::size_t c = 0; c < samples_.size(); ++c) {
    logs_.emplace_back(folder.file(text("chain_", c, ".log")), log_marks_[c]);
    trees_.emplace_back(folder.file(text("chain_", c, ".trees")), tree_marks_[c]);
    if (log_marks_[c].bytes > 0) continue;
    logs_.back().write(log_head(c));
    trees_.back().write(format_ == tree_format::icytree ? "#NEXUS\n\nBegin trees;\n" : "#NEXUS\n\nBEGIN NETWORKS;\n");
  }
  if (resume) {
    marked_ = previous_;
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
    for (const snp::sampled_state& sample : samples[c]) {
      const snp::network_state state = prior.in_years(sample.state);
      kept_sample record{snp::trace_row(sample, prior), snp::numbers_of(state), {}};
      const auto numbering = snp::number_canonically(state);
      record.key = numbering.key;
      std::string line = std::to_string(sample.step);
      for (std::size_t i = 1; i < record.row.size(); ++i) line += "\t" + seventeen_digits(record.row[i]);
      logs_[c].write(line + "\n");
      const snp::Network network = snp::to_network(state, numbering);
      trees_[c].write(format_ == tree_format::icytree
                          ? text("tree STATE_", sample.step, " = [&R] ", annotated_newick(network), "\n")
                          : text("Network STATE_", sample.step, " = ", snp::to_newick(network), "\n"));
      samples_[c].push_back(std::move(record));
    }
}

void run_files::mark(snp::sampler_snapshot snapshot) {
  marked_ = std::move(snapshot);
  draws_marked_ = draws_.empty() ? 0 : draws_[0][0].size();
  for (std::size_t c = 0; c < samples_.size(); ++c) {
    log_marks_[c] = logs_[c].mark();
    tree_marks_[c] = trees_[c].mark();
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
  out.write("checkpoint/burn_in", std::vector<std::int64_t>{identity_.burn_in});
  out.write("checkpoint/log_marks", numbers_of(log_marks_));
  out.write("checkpoint/tree_marks", numbers_of(tree_marks_));
  checksum sum;
  sum.add(facts, marked_.numbers, marked_.counts, numbers_of(log_marks_), numbers_of(tree_marks_));
  for (std::size_t c = 0; c < samples_.size(); ++c) {
    std::vector<double> rows, numbers;
    std::vector<std::int64_t> begins{0};
    for (const kept_sample& sample : samples_[c]) {
      rows.insert(rows.end(), sample.row.begin(), sample.row.end());
      numbers.insert(numbers.end(), sample.numbers.begin(), sample.numbers.end());
      begins.push_back(std::int64_t(numbers.size()));
    }
    const std::int64_t shape[] = {std::int64_t(samples_[c].size()), std::int64_t(columns_.size())};
    out.write<double>(text("traces/chain_", c), rows, shape);
    out.write(text("networks/chain_", c, "_numbers"), numbers);
    out.write(text("networks/chain_", c, "_begins"), begins);
    sum.add(rows, numbers, begins);
  }
  if (identity_.powers > 0) {
    const std::vector<std::int64_t> count{std::int64_t(draws_marked_)};
    const std::vector<double> numbers = numbers_of(first_draws(draws_, draws_marked_));
    out.write("checkpoint/power_count", count);
    if (!numbers.empty()) out.write("checkpoint/power_draws", numbers);
    sum.add(count, numbers);
  }
  out.write("checkpoint/checksum", std::vector<std::int64_t>{std::int64_t(sum.value())});
  out.commit();
}

void run_files::load() {
  const std::string path = folder_.file("samples.h5");
  const auto facts = io::read_hdf5<std::int64_t>(path, "checkpoint/facts").data;
  if (facts.size() != 3 || std::uint64_t(facts[0]) != identity_.hash || facts[2] != std::int64_t(samples_.size()))
    throw InvalidArgument(text("--resume: ", path,
                               " is of a run with other data or options; use those of that run (attribute config), "
                               "only --iterations, --threads and --checkpoint-seconds may differ"));
  previous_.step = facts[1];
  previous_.numbers = io::read_hdf5<double>(path, "checkpoint/numbers").data;
  previous_.counts = io::read_hdf5<std::int64_t>(path, "checkpoint/counts").data;
  const auto log_marks = io::read_hdf5<std::int64_t>(path, "checkpoint/log_marks").data;
  const auto tree_marks = io::read_hdf5<std::int64_t>(path, "checkpoint/tree_marks").data;
  checksum sum;
  sum.add(facts, previous_.numbers, previous_.counts, log_marks, tree_marks);
  log_marks_ = marks_of(log_marks, samples_.size());
  tree_marks_ = marks_of(tree_marks, samples_.size());
  for (std::size_t c = 0; c < samples_.size(); ++c) {
    const auto rows = io::read_hdf5<double>(path, text("traces/chain_", c)).data;
    const auto numbers = io::read_hdf5<double>(path, text("networks/chain_", c, "_numbers")).data;
    const auto begins = io::read_hdf5<std::int64_t>(path, text("networks/chain_", c, "_begins")).data;
    sum.add(rows, numbers, begins);
    check_begins(path, begins, rows.size() / columns_.size(), numbers.size());
    for (std::size_t s = 0; s + 1 < begins.size(); ++s) {
      const auto row = rows.begin() + std::ptrdiff_t(s * columns_.size());
      if (*row > double(previous_.step)) break;  // was sampled after the checkpoint, and will be again
      kept_sample sample{{row, row + std::ptrdiff_t(columns_.size())},
                         {numbers.begin() + begins[s], numbers.begin() + begins[s + 1]},
                         {}};
      samples_[c].push_back(std::move(sample));
    }
  }
  if (identity_.powers > 0) {
    const auto count = io::read_hdf5<std::int64_t>(path, "checkpoint/power_count").data;
    std::vector<double> numbers;
    if (count.size() != 1) fail_as_changed(path);
    if (count[0] != 0) numbers = io::read_hdf5<double>(path, "checkpoint/power_draws").data;
    sum.add(count, numbers);
    if (std::int64_t(numbers.size()) != count[0] * std::int64_t(samples_.size()) * identity_.powers)
      fail_as_changed(path);
    draws_ = draws_of(numbers, std::int64_t(samples_.size()), identity_.powers);
    draws_marked_ = std::size_t(count[0]);
  }
  const auto expected = io::read_hdf5<std::int64_t>(path, "checkpoint/checksum").data;
  if (expected.size() != 1 || expected[0] != std::int64_t(sum.value())) fail_as_changed(path);
  for (auto& chain : samples_)
    for (kept_sample& sample : chain)
      sample.key = snp::number_canonically(snp::state_from_numbers(species_, sample.numbers)).key;
}

void run_files::finish() {
  for (growing_file& file : trees_) file.write(format_ == tree_format::icytree ? "End;\n" : "END;\n");
  save();
}

}  // namespace quintet::driver
