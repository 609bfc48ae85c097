// What the rules write: partial likelihoods with their exponents, matrices of branches, shares of reticulations. Each
// has an accepted and a current version; what a proposal writes can be taken back at no cost.
#pragma once

#include <memory>
#include <vector>

#include "snp/likelihood/device_plan.hpp"
#include "snp/likelihood/parameters.hpp"
#include "snp/likelihood/rules/pattern_numbers.hpp"
#include "snp/likelihood/rules/stages.hpp"
#include "snp/likelihood/versioned.hpp"

namespace quintet::snp {

/// What an exponential was computed for.
struct matrix_parameters {
  std::int32_t max = -1;  ///< lineages, -1: nothing
  double length = 0, theta = 0, u = 0, v = 0;

  /// The leading block for fewer lineages is as good.
  bool serves(const matrix_parameters& requested) const {
    return max >= requested.max && length == requested.length && theta == requested.theta && u == requested.u &&
           v == requested.v;
  }
};

class partials_store {
 public:
  /// Whose lineages count: those of the last evaluation, or of the accepted parameters.
  enum class version { current, accepted };

  explicit partials_store(std::shared_ptr<const device_plan> steps);

  const device_plan& steps() const { return *steps_; }
  const plan& host() const { return steps_->host; }
  const Device& device() const { return steps_->device; }
  const partial_shape& shape(std::int32_t partial) const { return host().partials[std::size_t(partial)]; }
  bool is_leaf(std::int32_t partial) const { return steps_->leaf_of_partial[std::size_t(partial)] >= 0; }
  const std::int32_t* table(std::int64_t place) const { return steps_->table(place); }
  tile_range range(const tile_slice& slice) const { return steps_->range(slice); }

  ///@{
  /// Makes what is written next a new version, until accept() or reject(), if it belongs to a proposal.
  void begin_partial(std::int32_t partial, bool propose) { begin(partial_version_[std::size_t(partial)], propose); }
  void begin_matrix(std::int64_t branch, bool propose) { begin(matrix_version_[std::size_t(branch)], propose); }
  void begin_shares(std::int64_t branch, bool propose) { begin(share_version_[std::size_t(branch)], propose); }
  void begin(version_switch& version, bool propose);
  void accept();
  void reject();
  ///@}

  ///@{
  /// Partial likelihoods, [entries][padded patterns].
  const double* partial(std::int32_t v) const;
  double* write_partial(std::int32_t v) { return partials_[std::size_t(v)].write(partial_version_[std::size_t(v)]); }
  ///@}
  ///@{
  /// Exponents of a join's result, and in scaled plans of leaves and of branches with stages, by pattern: what it was
  /// itself scaled by, and all below it together.
  const std::int32_t* own_exponents(std::int32_t v) const { return read(own_exponents_, partial_version_, v); }
  const std::int32_t* total_exponents(std::int32_t v) const {
    return v < 0 ? nullptr : read(total_exponents_, partial_version_, v);
  }
  void copy_total_exponents(std::int32_t v, std::vector<std::int32_t>& to) {
    total_exponents_[std::size_t(v)]
        .buffer(partial_version_[std::size_t(v)])
        .copy_to_host(to.data(), std::int64_t(to.size()));
  }
  std::int32_t* write_own_exponents(std::int32_t v) { return write(own_exponents_, partial_version_, v); }
  std::int32_t* write_total_exponents(std::int32_t v) { return write(total_exponents_, partial_version_, v); }
  /// The sum below any partial likelihood, for the patterns of the root.
  pattern_numbers exponents_at_root(std::int32_t v) const;
  ///@}
  ///@{
  /// exp(A t) of a branch, as state_space.hpp orders it, and how many elements there is room for.
  const double* matrix(std::int64_t b) const { return read(matrices_, matrix_version_, b); }
  double* write_matrix(std::int64_t b, const matrix_parameters& of) {
    matrix_of_[version_of_matrix(b)][std::size_t(b)] = of;
    return write(matrices_, matrix_version_, b);
  }
  const matrix_parameters& matrix_of(std::int64_t b) const { return matrix_of_[version_of_matrix(b)][std::size_t(b)]; }
  std::int64_t matrix_size(std::int64_t b) const { return matrices_[std::size_t(b)].size(); }
  std::size_t branches() const { return matrices_.size(); }
  ///@}
  ///@{
  /// C(ny + nz, ny) g^ny (1 - g)^nz of the reticulation whose parent branch y it is.
  const double* shares(std::int64_t y) const { return read(shares_, share_version_, y); }
  void write_shares(std::int64_t y, const std::vector<double>& values) {
    shares_[std::size_t(y)]
        .buffer(share_version_[std::size_t(y)])
        .copy_from_host(values.data(), std::int64_t(values.size()));
  }
  ///@}

  ///@{
  /// Lineages of the groups of one branch alone; only where some branch has stages.
  bool has_stages() const { return has_stages_; }
  bool has_lineages(std::int32_t v) const { return has_stages_ && shape(v).is_single(); }
  const lineage_bound& lineages(std::int32_t v, version edition = version::current) const {
    return lineages_[version_of(v, edition)][std::size_t(v)];
  }
  /// In a plan that is cut all states there are count, always: what is negligible has none.
  void set_lineages(std::int32_t v, lineage_bound bound) {
    if (host().is_cut) return;
    lineages_[version_of(v, version::current)][std::size_t(v)] = std::move(bound);
  }
  /// Before a rule is run that does not say better.
  void set_all_lineages(std::int32_t v, std::int32_t max);
  /// Lineages that are not negligible: `max` in groups of several branches.
  std::int32_t limit(std::int32_t v, std::int32_t max, version edition = version::current) const;
  /// Of a scaled plan: lineages below which there is nothing that is not negligible either.
  std::int32_t low(std::int32_t v) const;
  /// Entries that are not negligible.
  std::int64_t entries(std::int32_t v, version edition = version::current) const;
  /// Zeros in the others, where a rule reads them.
  void clear_negligible(std::int32_t v);
  /// Zeros in the entries from `first` on.
  void clear_entries(std::int32_t v, std::int64_t first);
  ///@}

  ///@{
  /// Room that is free after the rule: numbers, and the two partial likelihoods between stages with their work.
  double* work(std::int64_t size) { return room(work_, size); }
  double* stage_partial(std::size_t index, std::int64_t size) { return room(stage_partials_[index], size); }
  double* stage_work(std::int64_t size) { return room(stage_work_, size); }
  ///@}

  /// What rules/root.hpp computes with.
  struct root_values {
    Buffer<double> weight, likelihood;
    Buffer<std::int32_t> weight_exponent, exponent;  ///< of a scaled plan
    double a1 = -1, a0 = -1;                         ///< theta v and theta u of the weights
  };
  root_values root;

 private:
  template <class T, class Index>
  static const T* read(const std::vector<versioned<T>>& all, const std::vector<version_switch>& versions, Index i) {
    return all[std::size_t(i)].read(versions[std::size_t(i)]);
  }
  template <class T, class Index>
  static T* write(std::vector<versioned<T>>& all, const std::vector<version_switch>& versions, Index i) {
    return all[std::size_t(i)].write(versions[std::size_t(i)]);
  }
  double* room(Buffer<double>& buffer, std::int64_t size) const {
    if (buffer.size() < size) buffer = Buffer<double>(size, device());
    return buffer.data();
  }
  std::size_t version_of(std::int32_t v, version edition) const {
    const version_switch& versions = partial_version_[std::size_t(v)];
    return std::size_t(edition == version::accepted ? versions.accepted() : versions.current());
  }

  std::size_t version_of_matrix(std::int64_t b) const { return std::size_t(matrix_version_[std::size_t(b)].current()); }

  std::shared_ptr<const device_plan> steps_;
  std::vector<versioned<double>> partials_;
  std::vector<version_switch> partial_version_;
  std::vector<versioned<std::int32_t>> own_exponents_, total_exponents_;  // by partial likelihood, of joins
  std::vector<versioned<double>> matrices_;                               // by branch
  std::vector<version_switch> matrix_version_;
  std::vector<matrix_parameters> matrix_of_[2];
  std::vector<versioned<double>> shares_;  // by branch y
  std::vector<version_switch> share_version_;
  std::vector<version_switch*> proposed_;

  bool has_stages_ = false;
  std::vector<lineage_bound> lineages_[2];
  std::vector<bool> is_split_;  // a reticulation reads every row of these
  Buffer<double> stage_partials_[2], stage_work_, work_;
};

/// Runs one rule on what lies below; `propose`: into the version of the proposal.
void forward(const rule& any_rule, partials_store& values, const parameters& params, bool propose);

}  // namespace quintet::snp
