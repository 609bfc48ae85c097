#include "quintet/io/neighbours_index.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <variant>

#include "support/points.hpp"
#include "temporary_folder.hpp"

namespace quintet::io {
namespace {

using test::clustered_points;
using test::error_of;

using neighbours_index_file = test::temporary_folder;

TEST_F(neighbours_index_file, has_the_index) {
  const auto points = clustered_points<double>(500, 3, 1), queries = clustered_points<double>(70, 3, 2);
  const neighbours::index<double> index(points.view(), {metric::manhattan});
  write_index(path("points.index"), index);
  const auto copy = read_index<double>(path("points.index"));
  EXPECT_EQ(copy.distance(), point_metric(metric::manhattan));
  EXPECT_EQ(copy.nearest(queries.view(), 5).index, index.nearest(queries.view(), 5).index);
  EXPECT_EQ(copy.nearest(queries.view(), 5).distance, index.nearest(queries.view(), 5).distance);
  EXPECT_EQ(copy.to_bytes(), index.to_bytes());
  EXPECT_EQ(std::get<neighbours::index<double>>(read_any_index(path("points.index"))).size(), 500);
}

TEST_F(neighbours_index_file, is_refused_with_its_path_if_it_is_damaged) {
  const auto points = clustered_points<float>(70, 2, 1);
  write_index(path("points.index"), neighbours::index<float>(points.view()));
  const std::string whole = content("points.index");
  const auto refusal = [&](std::string_view name) { return error_of<FileError>([&] { read_any_index(path(name)); }); };
  QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { read_index<double>(path("points.index")); }),
                          path("points.index") + ": holds points of float32, not of float64");
  file("short.index", whole.substr(0, whole.size() - 1));
  QUINTET_EXPECT_CONTAINS(refusal("short.index"), path("short.index") + ": is damaged: it ends within its coordinates");
  std::string changed = whole;
  changed[whole.size() - 100] ^= 16;
  file("changed.index", changed);
  QUINTET_EXPECT_CONTAINS(refusal("changed.index"), "the checksum of its coordinates does not agree");
  file("table.csv", "query,nn1,d1\n");
  QUINTET_EXPECT_CONTAINS(refusal("table.csv"), path("table.csv") + ": is not an index of neighbours");
  QUINTET_EXPECT_CONTAINS(refusal("absent"), "cannot be read");
}

TEST_F(neighbours_index_file, stays_what_it_was_if_writing_fails) {
  const auto points = clustered_points<float>(2000, 2, 1);
  const neighbours::index<float> index(points.view());
  file("points.index", "before");
  {
    const test::file_size_limit limit(1000);
    QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { write_index(path("points.index"), index); }), "points.index");
  }
  EXPECT_EQ(content("points.index"), "before");
  EXPECT_EQ(files(), 1);
  QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { write_index(path("absent/points.index"), index); }), "absent");
}

}  // namespace
}  // namespace quintet::io
