// Nearest neighbours by name in a hyperbolic embedding:
//
//   nearest-by-name mammals_poincare10.csv mammals_poincare10_names.txt dog.n.01 whale.n.02
//
// The first file holds a point of the unit ball a line, the second its name. Try it on an embedding of a hierarchy:
// the nearest neighbours of a leaf are its ancestors and its siblings.
#include <algorithm>
#include <exception>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

#include "quintet/io/matrix_file.hpp"
#include "quintet/poincare/nearest.hpp"

namespace {

constexpr std::int64_t neighbours = 10;

std::vector<std::string> read_names(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) names.push_back(line);
  if (names.empty()) throw quintet::FileError(path, "cannot be read, or holds no names");
  return names;
}

/// The row of every wanted name, as points of their own.
quintet::io::matrix<double> rows_of(const std::vector<std::string>& wanted, const std::vector<std::string>& names,
                                    const quintet::io::matrix<double>& points) {
  quintet::io::matrix<double> rows{0, points.cols, {}};
  for (const std::string& name : wanted) {
    const auto found = std::find(names.begin(), names.end(), name);
    quintet::require_argument(found != names.end(), "name", name, "one of the names of the embedding");
    const double* row = points.view().row(found - names.begin());
    rows.data.insert(rows.data.end(), row, row + points.cols);
    ++rows.rows;
  }
  return rows;
}

void print(const std::string& name, const std::vector<std::string>& names, const std::int64_t* index,
           const double* distance) {
  std::cout << name << "\n" << std::fixed << std::setprecision(4);
  // The first is the point itself, at distance 0.
  for (std::int64_t e = 1; e <= neighbours; ++e)
    std::cout << std::setw(10) << distance[e] << "  " << names[index[e]] << "\n";
}

void run(const std::vector<std::string>& arguments) {
  const auto points = quintet::io::read_matrix<double>(arguments[0]);
  const std::vector<std::string> names = read_names(arguments[1]), wanted(arguments.begin() + 2, arguments.end());
  quintet::require_argument(std::int64_t(names.size()) == points.rows, "names", names.size(),
                            quintet::text("as many as points, ", points.rows));
  const auto queries = rows_of(wanted, names, points);
  const auto found = quintet::poincare::nearest(queries.view(), points.view(), neighbours + 1);
  for (std::size_t q = 0; q < wanted.size(); ++q)
    print(wanted[q], names, &found.index[q * found.k], &found.distance[q * found.k]);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: nearest-by-name POINTS NAMES NAME...\n";
    return 2;
  }
  try {
    run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "nearest-by-name: " << error.what() << "\n";
    return 2;
  }
}
