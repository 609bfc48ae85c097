// The files of a run: chain_<c>.log, chain_<c>.trees, samples.h5; and going on with them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "quintet/snp/inference/sampler.hpp"

namespace quintet::driver {

/// A sample as it is kept: a line of the log, and the state.
struct kept_sample {
  std::vector<double> row;      ///< as snp::trace_row()
  std::vector<double> numbers;  ///< as snp::numbers_of(), in the units of the priors
  std::string key;              ///< of the topology
};
using kept_chains = std::vector<std::vector<kept_sample>>;

/// Extended Newick as IcyTree and Dendroscope read it: `#H1[&gamma=0.6,theta=0.05]:0.1`.
std::string annotated_newick(const snp::Network& network);

/// A folder that belongs to this process until the object ends.
class run_folder {
 public:
  /// Makes the folder, and claims it. Throws FileError when it cannot be made or written, another process has it, or it
  /// has a checkpoint and `resume` is false.
  run_folder(std::string path, bool resume);
  ~run_folder();
  run_folder(const run_folder&) = delete;
  run_folder& operator=(const run_folder&) = delete;
  std::string file(const std::string& name) const;
  bool has_checkpoint() const { return has_checkpoint_; }

 private:
  std::string path_;
  bool has_checkpoint_ = false;
  int descriptor_ = -1;
};

/// Burn-in of the run that a folder has a checkpoint of; -1: it has none. Throws FileError when it cannot be read.
std::int64_t burn_in_of_checkpoint(const std::string& folder);

/// What a run is: everything that its samples depend on.
struct run_identity {
  std::string config;      ///< options and priors, one per line
  std::string head;        ///< program, version and command, as comments stand in the logs
  std::uint64_t hash = 0;  ///< of config and data
  std::int64_t burn_in = 0;
  std::int64_t powers = 0;  ///< of a marginal likelihood
};

/// FNV-1a.
std::uint64_t hash_of(std::string_view text, std::uint64_t before = 14695981039346656037u);

/// A prefix of a file: how long it is, and hash_of() it.
struct file_mark {
  std::int64_t bytes = 0;
  std::uint64_t hash = hash_of("");
};

/// A text file that only grows; what is not on the disk after sync() may be lost, what is stays.
class growing_file {
 public:
  /// Opens; cut to the mark. Throws FileError, also when the file is shorter or has changed up to the mark.
  growing_file(std::string path, file_mark mark);
  ~growing_file();
  growing_file(growing_file&& other) noexcept;
  growing_file& operator=(growing_file&&) = delete;
  void write(std::string_view text);
  /// Returns when all is on the disk.
  void sync();
  /// All that was written.
  file_mark mark() const { return mark_; }

 private:
  void flush();
  void check_content() const;
  std::string path_, buffer_;
  int descriptor_ = -1;
  file_mark mark_;
};

enum class tree_format { icytree, phylonet };

/// Log-likelihoods at every power: [chain][temperature][draw].
using power_draws = std::vector<std::vector<std::vector<double>>>;
void append(power_draws& all, const power_draws& part);
///@{
/// All draws one after another, and back.
std::vector<double> numbers_of(const power_draws& draws);
power_draws draws_of(const std::vector<double>& numbers, std::int64_t chains, std::int64_t temperatures);
///@}

/// All files of a run.
class run_files {
 public:
  /// New files of a run that is at `begin`, or those of the run of this identity as its last checkpoint left them.
  /// Throws FileError for what cannot be written, and InvalidArgument for a checkpoint of other data or options.
  run_files(const run_folder& folder, run_identity identity, tree_format format, std::int64_t chains,
            snp::sampler_snapshot begin, std::shared_ptr<const std::vector<std::string>> species,
            const snp::priors& prior, bool resume);

  /// The checkpoint; nothing for a new run.
  const snp::sampler_snapshot* previous() const { return previous_.step > 0 ? &previous_ : nullptr; }
  /// Writes and keeps samples.
  void add(const std::vector<std::vector<snp::sampled_state>>& samples, const snp::priors& prior);
  /// Keeps draws of a marginal likelihood.
  void add(const power_draws& draws) { append(draws_, draws); }
  /// Draws of the checkpoint that was found, and those that came since.
  const power_draws& draws() const { return draws_; }
  /// Remembers where things stand: the checkpoint that the next save() writes.
  void mark(snp::sampler_snapshot snapshot);
  /// Makes the checkpoint and all samples so far permanent: samples.h5.
  void save();
  /// Ends the trees' blocks and saves.
  void finish();
  const kept_chains& samples() const { return samples_; }
  const std::vector<std::string>& columns() const { return columns_; }

 private:
  void load();
  std::string log_head(std::size_t chain) const;
  const run_folder& folder_;
  run_identity identity_;
  tree_format format_;
  std::shared_ptr<const std::vector<std::string>> species_;
  std::vector<std::string> columns_;
  std::vector<growing_file> logs_, trees_;
  std::vector<file_mark> log_marks_, tree_marks_;  // at the checkpoint
  kept_chains samples_;
  snp::sampler_snapshot previous_, marked_;
  power_draws draws_;
  std::size_t draws_marked_ = 0;  // of every temperature
};

}  // namespace quintet::driver
