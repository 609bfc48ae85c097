// quintet-friends: whom the people of a graph may know, and how many triangles it has. An example of masked products.
//
// A is the graph: symmetric, without its diagonal, every entry 1. Then (A * A)(i, j) counts the common friends of i and
// j. Where A has no entry and i differs from j these are friends of friends: a product whose mask is the complement of
// A + I. Where A has one they are triangles: a product whose mask is A; each triangle is counted six times.
#include <algorithm>
#include <numeric>
#include <tuple>

#include "quintet/core/error.hpp"
#include "quintet/io/csv.hpp"
#include "quintet/io/sparse_file.hpp"
#include "quintet/spgemm/add.hpp"
#include "quintet/spgemm/multiply.hpp"
#include "quintet/spgemm/transpose.hpp"
#include "support/driver.hpp"
#include "support/sparse.hpp"

namespace {

namespace po = boost::program_options;
namespace spgemm = quintet::spgemm;
using quintet::driver::session;
using graph = spgemm::csr<float, std::int64_t>;

struct arguments {
  std::string input, dataset, output;
  std::int64_t top = 10;
};

po::options_description describe(arguments& a) {
  po::options_description all("Options");
  all.add_options()  //
      ("graph", po::value(&a.input)->required()->value_name("FILE"),
       "square matrix of acquaintances: .mtx, .mtx.gz, .npz or .h5")                                               //
      ("dataset", po::value(&a.dataset)->value_name("NAME"), "group of an .h5 input; by default the file itself")  //
      ("top", po::value(&a.top)->default_value(a.top)->value_name("N")->notifier([](std::int64_t n) {
        quintet::require_argument(n > 0, "--top", n, "> 0");
      }),
       "number of pairs to list, most common friends first")  //
      ("output", quintet::driver::output_file(&a.output, {quintet::io::file_format::csv}),
       "the pairs: .csv with columns a, b (from 1) and common");
  return all;
}

/// Both directions of every edge between different people, each with the value 1.
graph undirected(const graph& directed, const quintet::Device& device) {
  const graph reversed = transpose(directed.view(), spgemm::memory_source::standard(), device);
  const graph both = spgemm::add(1.0F, directed.view(), 1.0F, reversed.view(), device);
  graph result{both.rows, both.cols, spgemm::array<std::int64_t>(both.rows + 1),
               spgemm::array<std::int64_t>(both.nnz()), spgemm::array<float>(both.nnz())};
  std::int64_t next = result.row_pointers[0] = 0;
  for (std::int64_t i = 0; i < both.rows; ++i) {
    for (std::int64_t k = both.row_pointers[i]; k < both.row_pointers[i + 1]; ++k)
      if (both.columns[k] != i) result.columns[next++] = both.columns[k];
    result.row_pointers[i + 1] = next;
  }
  result.columns.trim(next);
  result.values.trim(next);
  std::fill(result.values.begin(), result.values.end(), 1.0F);
  return result;
}

graph identity(std::int64_t n) {
  graph result{n, n, spgemm::array<std::int64_t>(n + 1), spgemm::array<std::int64_t>(n), spgemm::array<float>(n)};
  std::iota(result.row_pointers.begin(), result.row_pointers.end(), 0);
  std::iota(result.columns.begin(), result.columns.end(), 0);
  std::fill(result.values.begin(), result.values.end(), 1.0F);
  return result;
}

struct pair_of_people {
  std::int64_t a, b, common;
};

/// The `top` pairs with the most common friends; ties by number.
std::vector<pair_of_people> strongest(const graph& common, std::int64_t top) {
  std::vector<pair_of_people> pairs;
  for (std::int64_t i = 0; i < common.rows; ++i)
    for (std::int64_t k = common.row_pointers[i]; k < common.row_pointers[i + 1]; ++k)
      if (common.columns[k] > i) pairs.push_back({i + 1, common.columns[k] + 1, std::int64_t(common.values[k])});
  const auto end = pairs.begin() + std::min<std::int64_t>(top, std::int64_t(pairs.size()));
  std::partial_sort(pairs.begin(), end, pairs.end(), [](const auto& x, const auto& y) {
    return std::tie(y.common, x.a, x.b) < std::tie(x.common, y.a, y.b);
  });
  pairs.erase(end, pairs.end());
  return pairs;
}

void find_friends(session& session, const arguments& a) {
  const auto input = quintet::driver::read_sparse<float>(session, a.input, a.dataset);
  if (input.rows != input.cols)
    throw quintet::FileError(a.input, quintet::text("must be square (it is ", input.rows, " x ", input.cols, ")"));
  session.result("ran_on", session.device().spelling());
  const graph known = session.timed("symmetry", [&] { return undirected(input, session.device()); });
  const graph graph_with_diagonal = spgemm::add(1.0F, known.view(), 1.0F, identity(known.rows).view());
  const graph common = session.timed("friends_of_friends", [&] {
    return spgemm::multiply_masked<spgemm::plus_times, spgemm::complement_mask>(
        known.view(), known.view(), graph_with_diagonal.view(), {}, session.device());
  });
  const graph closed = session.timed("triangles", [&] {
    return spgemm::multiply_masked(known.view(), known.view(), known.view(), {}, session.device());
  });
  const double corners = std::accumulate(closed.values.begin(), closed.values.end(), 0.0);
  const auto pairs = strongest(common, a.top);
  session.result("people", known.rows);
  session.result("friendships", known.nnz() / 2);
  session.result("triangles", std::int64_t(corners / 6));
  session.result("friends_of_friends", common.nnz() / 2);
  session.timed("write", [&] {
    quintet::io::csv_writer out(a.output, {"a", "b", "common"});
    for (const pair_of_people& p : pairs) out.row(p.a, p.b, p.common);
    out.commit();
  });
  session.say() << known.rows << " people, " << known.nnz() / 2 << " friendships, " << std::int64_t(corners / 6)
                << " triangles, " << common.nnz() / 2 << " pairs with common friends\n";
  session.say_done(a.output);
}

}  // namespace

int main(int argc, char** argv) {
  arguments a;
  const po::options_description options = describe(a);
  return quintet::driver::run_driver(argc, argv,
                                     {"quintet-friends",
                                      "friends of friends and triangles of a graph.",
                                      "quintet-friends --graph people.mtx --top 20 --output pairs.csv",
                                      {"float"}},
                                     options, [&](session& session) {
                                       quintet::driver::require_distinct_files(
                                           {{"--graph", a.input}},
                                           {{"--output", a.output}, {"--json", session.line().common.json}});
                                       find_friends(session, a);
                                     });
}
