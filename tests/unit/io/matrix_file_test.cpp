#include "quintet/io/matrix_file.hpp"

#include "quintet/core/error.hpp"
#include "quintet/io/file_format.hpp"
#include "quintet/io/hdf5.hpp"
#include "quintet/io/npy.hpp"
#include "unit/io/temporary_folder.hpp"

namespace {

using quintet::FileError;
using quintet::io::file_format;
using quintet::io::matrix;
using quintet::test::error_of;

using FileFormat = quintet::test::temporary_folder;

TEST_F(FileFormat, TheExtensionDecides) {
  using quintet::io::format_of;
  EXPECT_EQ(format_of("a.csv"), file_format::csv);
  EXPECT_EQ(format_of("dir.h5/a.b.NPY"), file_format::npy);
  EXPECT_EQ(format_of("/x/a.h5"), file_format::hdf5);
  EXPECT_EQ(format_of("a.HDF5"), file_format::hdf5);
  const std::string unknown = error_of<FileError>([] { format_of("result.txt"); });
  QUINTET_EXPECT_CONTAINS(unknown, "result.txt");
  QUINTET_EXPECT_CONTAINS(unknown, "\".txt\"");
  QUINTET_EXPECT_CONTAINS(unknown, "allowed are .csv, .npy, .h5, .hdf5");
  QUINTET_EXPECT_CONTAINS(error_of<FileError>([] { format_of("a.npy", {file_format::csv, file_format::hdf5}); }),
                          "allowed are .csv, .h5, .hdf5");
  for (const char* path : {"result", ".csv", "dir.csv/result", "", "a."})
    EXPECT_THROW(format_of(path), FileError) << path;
}

TEST_F(FileFormat, OutputsAreCheckedBeforeTheWork) {
  using quintet::io::check_output;
  EXPECT_EQ(check_output(path("out.h5")), file_format::hdf5);
  EXPECT_EQ(files(), 0);
  QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { check_output(path("out.pdf")); }), "\".pdf\"");
  QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { check_output(path("none/out.csv")); }), "there is no folder");
  std::filesystem::create_directory(path("folder.csv"));
  QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { check_output(path("folder.csv")); }), "it is a folder");
}

using MatrixFile = quintet::test::temporary_folder;

TEST_F(MatrixFile, SameMatrixThroughEveryFormat) {
  const float data[] = {1, 2.5f, -3, 4e-20f, 5, 6};
  const quintet::matrix_view<const float> view(data, 3, 2);
  for (const char* name : {"m.csv", "m.npy", "m.h5"}) {
    quintet::io::write_matrix(path(name), view);
    const matrix<float> single = quintet::io::read_matrix<float>(path(name));
    EXPECT_EQ(single.rows, 3);
    EXPECT_EQ(single.cols, 2);
    EXPECT_EQ(single.data, std::vector<float>(data, data + 6)) << name;
    EXPECT_EQ(single.view()(2, 1), 6);
    EXPECT_EQ(quintet::io::read_matrix<double>(path(name)).data[1], 2.5) << name;
    EXPECT_THROW(quintet::io::read_table(path(name)), FileError) << name;
  }
  EXPECT_THROW(quintet::io::write_matrix(path("m.txt"), view), FileError);
  EXPECT_EQ(files(), 3);
}

TEST_F(MatrixFile, Tables) {
  const matrix<std::int64_t> pairs = quintet::io::read_table(file("pairs.csv", "i,j\n0,5\n7,12345678901\n"));
  EXPECT_EQ(pairs.rows, 2);
  EXPECT_EQ(pairs.data, (std::vector<std::int64_t>{0, 5, 7, 12345678901}));
}

TEST_F(MatrixFile, OneDimensionIsAColumnAndThreeAreTooMany) {
  const std::vector<float> values{1, 2, 3, 4};
  quintet::io::write_npy<float>(path("v.npy"), values, std::vector<std::int64_t>{4});
  EXPECT_EQ(quintet::io::read_matrix<float>(path("v.npy")).rows, 4);
  EXPECT_EQ(quintet::io::read_matrix<float>(path("v.npy")).cols, 1);
  quintet::io::write_npy<float>(path("t.npy"), values, std::vector<std::int64_t>{2, 2, 1});
  QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { quintet::io::read_matrix<float>(path("t.npy")); }), "3 dimensions");
}

TEST_F(MatrixFile, DatasetsBelongToHdf5) {
  file("m.csv", "1,2\n");
  QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { quintet::io::read_matrix<float>(path("m.csv"), "points"); }),
                          "points");
  QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { quintet::io::read_matrix<float>(path("m.xls")); }), ".xls");
}

}  // namespace
