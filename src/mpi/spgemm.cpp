#include "quintet/mpi/spgemm.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>

#include "distributed/ring.hpp"
#include "quintet/core/error.hpp"

namespace quintet::mpi::spgemm {

namespace {

using distributed::first_rows;
using counts = std::vector<std::int64_t>;

template <class Value, class Index>
using view_of = quintet::spgemm::csr_view<Value, Index>;
template <class Value, class Index>
using matrix_of = quintet::spgemm::csr<Value, Index>;

// Entries of a row.
template <class Value, class Index>
std::int64_t entries(const view_of<Value, Index>& m, std::int64_t row) {
  return m.row_pointers[row + 1] - m.row_pointers[row];
}

// Rows on their way: how many entries each has, and these.
template <class Value, class Index>
struct parcel {
  counts lengths;
  std::vector<Index> columns;
  std::vector<Value> values;

  void add(const view_of<Value, Index>& m, std::int64_t row) {
    lengths.push_back(entries(m, row));
    const std::int64_t begin = m.row_pointers[row], end = m.row_pointers[row + 1];
    columns.insert(columns.end(), m.columns + begin, m.columns + end);
    values.insert(values.end(), m.values + begin, m.values + end);
  }
  // The entries of a row in columns first ... last - 1, which are counted from first.
  void add_part(const view_of<Value, Index>& m, std::int64_t row, std::int64_t first, std::int64_t last) {
    lengths.push_back(0);
    for (std::int64_t e = m.row_pointers[row]; e < m.row_pointers[row + 1]; ++e) {
      if (m.columns[e] < first || m.columns[e] >= last) continue;
      ++lengths.back();
      columns.push_back(Index(m.columns[e] - first));
      values.push_back(m.values[e]);
    }
  }
  matrix_of<Value, Index> matrix(std::int64_t cols) const {
    counts pointers(lengths.size() + 1, 0);
    std::partial_sum(lengths.begin(), lengths.end(), pointers.begin() + 1);
    return {std::int64_t(lengths.size()), cols, pointers, columns, values};
  }
};

// Rows for every rank, in the order of ranks.
template <class Value, class Index>
struct outgoing {
  explicit outgoing(int ranks) : rows(std::size_t(ranks), 0), entries(rows) {}
  parcel<Value, Index> all;
  counts rows, entries;
};

// Sends them, and returns what comes, by rank.
template <class Value, class Index>
parcel<Value, Index> exchange(communicator& ranks, const outgoing<Value, Index>& out) {
  parcel<Value, Index> in;
  in.lengths = ranks.alltoallv(std::span<const std::int64_t>(out.all.lengths), out.rows);
  in.columns = ranks.alltoallv(std::span<const Index>(out.all.columns), out.entries);
  in.values = ranks.alltoallv(std::span<const Value>(out.all.values), out.entries);
  return in;
}

// Part `part` of `parts` ranges of [0, n) whose weights are about the same; `weight_before` is the sum before every
// element, one more: of all. The cuts depend on the weights alone.
std::int64_t balanced_cut(const counts& weight_before, int part, int parts) {
  const std::int64_t n = std::int64_t(weight_before.size()) - 1, all = weight_before.back();
  if (part >= parts) return n;
  if (all == 0) return even_rows(n, part, parts).first;
  // all * part / parts without overflow.
  const std::int64_t target = all / parts * part + all % parts * part / parts;
  const auto place = std::lower_bound(weight_before.begin(), weight_before.end() - 1, target);
  return part == 0 ? 0 : place - weight_before.begin();
}

// A product of rows of A by rows of B that are dealt to ranks.
template <class Value, class Index>
class distributed {
 public:
  using view = view_of<Value, Index>;
  using matrix = matrix_of<Value, Index>;
  static constexpr std::int64_t entry_bytes = sizeof(Value) + sizeof(Index);

  distributed(communicator& ranks, const view& a, const view& b, const options& settings,
              const detail::local_product<Value, Index>& product, report& summary)
      : ranks_(ranks), a_(a), b_(b), settings_(settings), product_(product), report_(summary) {
    check();
  }

  rows_of<Value, Index> run() {
    if (settings_.balance) {
      ranks_.phase("balance");
      count_products();
      deal_rows();
    }
    ranks_.phase("count");
    count_products();
    choose();
    rows_of<Value, Index> c = report_.used_grid ? multiply_on_grid() : multiply_rows();
    report_.own_products = local_.products;
    report_.products = ranks_.sum(local_.products);
    report_.fetched_rows = ranks_.sum(fetched_rows_);
    report_.ran_on = local_.ran_on;
    return c;
  }

 private:
  int size() const { return ranks_.size(); }

  void check() {
    ranks_.run_collectively([&] {
      require_argument(settings_.budget >= 0, "budget", settings_.budget, ">= 0");
      quintet::spgemm::check(a_, "a");
      quintet::spgemm::check(b_, "b");
    });
    ranks_.require_same("the columns of A", text(a_.cols));
    ranks_.require_same("the columns of B", text(b_.cols));
    ranks_.require_same("the layout of the product",
                        text(int(settings_.layout), settings_.balance ? ", rows dealt anew" : ""));
    first_of_a_ = first_rows(ranks_.allgather_counts(a_.rows));
    first_of_b_ = first_rows(ranks_.allgather_counts(b_.rows));
    ranks_.run_collectively([&] {
      require_argument(a_.cols == first_of_b_.back(), "a.cols", a_.cols, text("b.rows=", first_of_b_.back()));
    });
  }

  int owner_of_b(std::int64_t k) const {
    // The last rank that begins at or before it: ranks without rows begin where the next one does.
    return int(std::upper_bound(first_of_b_.begin(), first_of_b_.end(), k) - first_of_b_.begin()) - 1;
  }
  bool is_own(std::int64_t k) const {
    return k >= first_of_b_[std::size_t(ranks_.rank())] && k < first_of_b_[std::size_t(ranks_.rank()) + 1];
  }

  // Columns of rows of A, each once, ascending.
  static counts columns_of(const view& a, std::int64_t first, std::int64_t last) {
    counts columns;
    if (last > first) columns.assign(a.columns + a.row_pointers[first], a.columns + a.row_pointers[last]);
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    return columns;
  }

  // How many of these rows of B every rank has; they ascend.
  counts by_owner(const counts& rows) const {
    counts number(std::size_t(size()), 0);
    for (const std::int64_t k : rows) ++number[std::size_t(owner_of_b(k))];
    return number;
  }

  // Rows of B that other ranks need, by rank.
  struct questions {
    counts rows, number;
  };
  questions ask(const counts& rows) {
    questions asked;
    asked.rows = ranks_.alltoallv(std::span<const std::int64_t>(rows), by_owner(rows), &asked.number);
    return asked;
  }
  // Row k of B, which is one of this rank's.
  std::int64_t host_matrix(std::int64_t k) const { return k - first_of_b_[std::size_t(ranks_.rank())]; }

  // The columns of own rows of A, the entries of these rows of B, and the products of every row of A.
  void count_products() {
    needed_ = columns_of(a_, 0, a_.rows);
    asked_ = ask(needed_);
    counts answers;
    for (const std::int64_t k : asked_.rows) answers.push_back(entries(b_, host_matrix(k)));
    length_ = ranks_.alltoallv(std::span<const std::int64_t>(answers), asked_.number);
    products_.assign(std::size_t(a_.rows), 0);
    for (std::int64_t i = 0; i < a_.rows; ++i)
      for (std::int64_t e = a_.row_pointers[i]; e < a_.row_pointers[i + 1]; ++e)
        products_[std::size_t(i)] += length_of(a_.columns[e]);
  }
  std::int64_t length_of(std::int64_t k) const {
    return length_[std::size_t(std::lower_bound(needed_.begin(), needed_.end(), k) - needed_.begin())];
  }

  // Weights of own rows become cuts of all: rank r gets rows cut[r] ... cut[r + 1] - 1 of A.
  counts cuts_of(const counts& weight, int parts) {
    const counts all = ranks_.allgather(std::span<const std::int64_t>(weight));
    counts before(all.size() + 1, 0);
    std::partial_sum(all.begin(), all.end(), before.begin() + 1);
    counts cuts;
    for (int part = 0; part <= parts; ++part) cuts.push_back(balanced_cut(before, part, parts));
    for (std::size_t part = 1; part < cuts.size(); ++part) cuts[part] = std::max(cuts[part], cuts[part - 1]);
    return cuts;
  }

  // A row costs its products, and a little where it has none.
  counts weights() const {
    counts weight = products_;
    for (std::size_t i = 0; i < weight.size(); ++i) weight[i] += entries(a_, std::int64_t(i)) + 1;
    return weight;
  }

  void deal_rows() {
    const counts cuts = cuts_of(weights(), size());
    const std::int64_t first = first_of_a_[std::size_t(ranks_.rank())];
    outgoing<Value, Index> out(size());
    for (int r = 0; r < size(); ++r)
      for (std::int64_t i = std::max(cuts[std::size_t(r)], first);
           i < std::min(cuts[std::size_t(r) + 1], first + a_.rows); ++i) {
        out.all.add(a_, i - first);
        ++out.rows[std::size_t(r)];
        out.entries[std::size_t(r)] += entries(a_, i - first);
      }
    own_a_ = exchange(ranks_, out).matrix(a_.cols);
    a_ = own_a_.view();
    first_of_a_ = cuts;
  }

  void choose() {
    std::int64_t fetched = 0;
    for (std::size_t i = 0; i < needed_.size(); ++i)
      if (!is_own(needed_[i])) fetched += length_[i];
    report_.row_volume = ranks_.sum(fetched) * entry_bytes;
    report_.grid_rows = size();
    for (int p = 1; p <= size(); ++p)
      if (size() % p == 0 && p >= size() / p) {
        report_.grid_rows = p;
        break;
      }
    report_.grid_cols = size() / report_.grid_rows;
    // Every rank of the grid takes a panel of A and one of B.
    const std::int64_t a = ranks_.sum(a_.nnz()), b = ranks_.sum(b_.nnz());
    report_.grid_volume = (a * report_.grid_cols + b * report_.grid_rows) * entry_bytes;
    report_.used_grid = settings_.layout == layout::grid ||
                        (settings_.layout == layout::automatic && report_.row_volume / 2 > report_.grid_volume);
  }

  // Rows of A whose rows of B fit into the budget, one at least.
  std::int64_t end_of_chunk(std::int64_t first) const {
    counts columns;  // so far, ascending
    std::int64_t bytes = 0, row = first;
    for (; row < a_.rows; ++row) {
      counts own = columns_of(a_, row, row + 1), more;
      std::set_difference(own.begin(), own.end(), columns.begin(), columns.end(), std::back_inserter(more));
      for (const std::int64_t k : more)
        if (!is_own(k)) bytes += length_of(k) * entry_bytes;
      if (row > first && bytes > settings_.budget) break;
      counts both;
      std::set_union(columns.begin(), columns.end(), more.begin(), more.end(), std::back_inserter(both));
      columns.swap(both);
    }
    return row;
  }

  // Everything at once where it fits, which needs no look at single rows.
  std::int64_t bytes_of_all() const {
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < needed_.size(); ++i)
      if (!is_own(needed_[i])) bytes += length_[i] * entry_bytes;
    return bytes;
  }

  rows_of<Value, Index> multiply_rows() {
    // Alike on all ranks: questions are asked by all or none.
    const bool is_one_chunk = ranks_.maximum(bytes_of_all() > settings_.budget ? 1 : 0) == 0;
    std::vector<matrix> products;
    failure local_failure;
    for (std::int64_t first = 0; ranks_.maximum(first < a_.rows || report_.own_chunks == 0 ? 1 : 0) > 0;) {
      const std::int64_t last = is_one_chunk ? a_.rows : first < a_.rows ? end_of_chunk(first) : first;
      const counts rows = columns_of(a_, first, last);
      ranks_.phase("fetch");
      const parcel<Value, Index> fetched = fetch(rows, is_one_chunk ? asked_ : ask(rows));
      ranks_.phase("multiply");
      local_failure.attempt([&] {
        matrix b = fetched.matrix(b_.cols);
        matrix renumbered = compact(a_.slice(first, last), rows);
        quintet::spgemm::report part_report;
        products.push_back(product_(renumbered.view(), b.view(), &part_report));
        local_.products += part_report.products;
        local_.ran_on = part_report.ran_on;
      });
      ranks_.agree(local_failure);
      ++report_.own_chunks;
      first = last;
    }
    rows_of<Value, Index> c{first_of_a_[std::size_t(ranks_.rank())], {}};
    ranks_.run_collectively([&] { c.block = joined(products); });
    return c;
  }

  // These rows of B, in their order; those of this rank are copies. Their lengths are known.
  parcel<Value, Index> fetch(const counts& rows, const questions& asked) {
    counts number(std::size_t(size()), 0);
    std::size_t next = 0;
    parcel<Value, Index> out, in;
    for (std::size_t r = 0; r < asked.number.size(); ++r)
      for (std::int64_t i = 0; i < asked.number[r]; ++i, ++next) {
        out.add(b_, host_matrix(asked.rows[next]));
        number[r] += out.lengths.back();
      }
    for (const std::int64_t k : rows) {
      in.lengths.push_back(length_of(k));
      fetched_rows_ += !is_own(k);
    }
    in.columns = ranks_.alltoallv(std::span<const Index>(out.columns), number);
    in.values = ranks_.alltoallv(std::span<const Value>(out.values), number);
    return in;
  }

  // Columns by their place among `rows`, which ascend: the order of entries stays.
  static matrix compact(const view& a, const counts& rows) {
    counts pointers(std::size_t(a.rows) + 1, 0);
    const std::int64_t begin = a.rows > 0 ? a.row_pointers[0] : 0;
    for (std::int64_t i = 0; i < a.rows; ++i) pointers[std::size_t(i) + 1] = a.row_pointers[i + 1] - begin;
    std::vector<Index> columns(std::size_t(pointers.back()));
    for (std::size_t e = 0; e < columns.size(); ++e)
      columns[e] = Index(std::lower_bound(rows.begin(), rows.end(), std::int64_t(a.columns[begin + std::int64_t(e)])) -
                         rows.begin());
    const std::vector<Value> values(a.values + begin, a.values + begin + pointers.back());
    return {a.rows, std::int64_t(rows.size()), pointers, columns, values};
  }

  matrix joined(std::vector<matrix>& parts) const {
    if (parts.size() == 1) return std::move(parts[0]);
    parcel<Value, Index> all;
    for (const matrix& part : parts)
      for (std::int64_t i = 0; i < part.rows; ++i) all.add(part.view(), i);
    return all.matrix(b_.cols);
  }

  // Rank r is at (r / q, r % q).
  rows_of<Value, Index> multiply_on_grid() {
    const int p = report_.grid_rows, q = report_.grid_cols, row = ranks_.rank() / q, col = ranks_.rank() % q;
    ranks_.phase("panels");
    const counts cuts = cuts_of(weights(), p);
    const auto cols_of = [&](int j) { return even_rows(b_.cols, j, q); };
    const auto end_of = [&](int j) { return cols_of(j).first + cols_of(j).count; };
    const std::int64_t first = first_of_a_[std::size_t(ranks_.rank())];
    outgoing<Value, Index> of_a(size()), of_b(size());
    for (int r = 0; r < size(); ++r) {
      const auto place = std::size_t(r);
      for (std::int64_t i = std::max(cuts[std::size_t(r / q)], first);
           i < std::min(cuts[std::size_t(r / q) + 1], first + a_.rows); ++i) {
        of_a.all.add(a_, i - first);
        ++of_a.rows[place];
        of_a.entries[place] += of_a.all.lengths.back();
      }
      for (std::int64_t k = 0; k < b_.rows; ++k) {
        of_b.all.add_part(b_, k, cols_of(r % q).first, end_of(r % q));
        ++of_b.rows[place];
        of_b.entries[place] += of_b.all.lengths.back();
      }
    }
    const matrix a = exchange(ranks_, of_a).matrix(a_.cols);
    const matrix b = exchange(ranks_, of_b).matrix(cols_of(col).count);
    matrix c;
    ranks_.phase("multiply");
    ranks_.run_collectively([&] { c = product_(a.view(), b.view(), &local_); });
    report_.own_chunks = 1;
    // Row i of the panel goes to one rank of this row of the grid, which puts its parts together.
    ranks_.phase("assemble");
    outgoing<Value, Index> parts(size());
    for (int j = 0; j < q; ++j) {
      const auto place = std::size_t(row * q + j);
      const row_range range = even_rows(c.rows, j, q);
      for (std::int64_t i = range.first; i < range.first + range.count; ++i) parts.all.add(c.view(), i);
      parts.rows[place] = range.count;
      parts.entries[place] = c.row_pointers[range.first + range.count] - c.row_pointers[range.first];
    }
    const parcel<Value, Index> in = exchange(ranks_, parts);
    const row_range own = even_rows(c.rows, col, q);
    rows_of<Value, Index> result{cuts[std::size_t(row)] + own.first, {}};
    ranks_.run_collectively([&] { result.block = side_by_side(in, own.count, q, cols_of); });
    return result;
  }

  // Part j of every row has the columns of part j of the grid, counted from its first.
  template <class Columns>
  matrix side_by_side(const parcel<Value, Index>& in, std::int64_t rows, int parts, const Columns& columns_of_part) {
    parcel<Value, Index> all;
    counts begin(in.lengths.size() + 1, 0);
    std::partial_sum(in.lengths.begin(), in.lengths.end(), begin.begin() + 1);
    for (std::int64_t i = 0; i < rows; ++i) {
      all.lengths.push_back(0);
      for (int j = 0; j < parts; ++j) {
        const auto place = std::size_t(j * rows + i);
        all.lengths.back() += in.lengths[place];
        for (std::int64_t e = begin[place]; e < begin[place + 1]; ++e) {
          all.columns.push_back(Index(in.columns[std::size_t(e)] + columns_of_part(j).first));
          all.values.push_back(in.values[std::size_t(e)]);
        }
      }
    }
    return all.matrix(b_.cols);
  }

  communicator& ranks_;
  view a_, b_;
  const options& settings_;
  const detail::local_product<Value, Index>& product_;
  report& report_;
  matrix own_a_;
  counts first_of_a_, first_of_b_;
  counts needed_, length_;  // rows of B for own rows of A, and their entries
  questions asked_;         // by all ranks of this one
  counts products_;         // by own row of A
  std::int64_t fetched_rows_ = 0;
  quintet::spgemm::report local_;
};

}  // namespace

namespace detail {

template <class Value, class Index>
rows_of<Value, Index> multiply(communicator& ranks, const view_of<Value, Index>& a, const view_of<Value, Index>& b,
                               const options& settings, const local_product<Value, Index>& product, report* summary) {
  report own;
  report& tell = summary != nullptr ? *summary : own;
  tell = {};
  return distributed<Value, Index>(ranks, a, b, settings, product, tell).run();
}

}  // namespace detail

template <class Value, class Index>
quintet::spgemm::csr<Value, Index> gather(communicator& ranks, const view_of<Value, Index>& own) {
  ranks.phase("gather");
  parcel<Value, Index> host_matrix, all;
  ranks.run_collectively([&] {
    for (std::int64_t i = 0; i < own.rows; ++i) host_matrix.add(own, i);
  });
  all.lengths = ranks.gather(std::span<const std::int64_t>(host_matrix.lengths));
  all.columns = ranks.gather(std::span<const Index>(host_matrix.columns));
  all.values = ranks.gather(std::span<const Value>(host_matrix.values));
  matrix_of<Value, Index> whole{0, own.cols, {0}, {}, {}};
  ranks.run_collectively([&] {
    if (ranks.is_root()) whole = all.matrix(own.cols);
  });
  return whole;
}

template <class Value, class Index>
rows_of<Value, Index> scatter(communicator& ranks, const view_of<Value, Index>& whole) {
  std::int64_t size[2] = {whole.rows, whole.cols};
  ranks.broadcast(std::span<std::int64_t>(size));
  const counts rows = even_counts(size[0], ranks.size());
  counts entries_of(rows.size(), 0);
  parcel<Value, Index> all, own;
  ranks.run_collectively([&] {
    if (!ranks.is_root()) return;
    std::int64_t row = 0;
    for (std::size_t r = 0; r < rows.size(); ++r)
      for (std::int64_t i = 0; i < rows[r]; ++i, ++row) {
        all.add(whole, row);
        entries_of[r] += all.lengths.back();
      }
  });
  ranks.broadcast(std::span<std::int64_t>(entries_of));
  own.lengths = ranks.scatter(std::span<const std::int64_t>(all.lengths), rows);
  own.columns = ranks.scatter(std::span<const Index>(all.columns), entries_of);
  own.values = ranks.scatter(std::span<const Value>(all.values), entries_of);
  rows_of<Value, Index> result{even_rows(size[0], ranks.rank(), ranks.size()).first, {}};
  ranks.run_collectively([&] { result.block = own.matrix(size[1]); });
  return result;
}

#define QUINTET_INSTANTIATE(Value, Index)                                                               \
  template rows_of<Value, Index> detail::multiply(communicator&, const view_of<Value, Index>&,          \
                                                  const view_of<Value, Index>&, const options&,         \
                                                  const detail::local_product<Value, Index>&, report*); \
  template quintet::spgemm::csr<Value, Index> gather(communicator&, const view_of<Value, Index>&);      \
  template rows_of<Value, Index> scatter(communicator&, const view_of<Value, Index>&);
QUINTET_INSTANTIATE(float, std::int32_t)
QUINTET_INSTANTIATE(float, std::int64_t)
QUINTET_INSTANTIATE(double, std::int32_t)
QUINTET_INSTANTIATE(double, std::int64_t)

}  // namespace quintet::mpi::spgemm
