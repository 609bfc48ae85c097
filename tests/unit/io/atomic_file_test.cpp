#include "quintet/io/atomic_file.hpp"

#include <sys/stat.h>

#include "quintet/core/error.hpp"
#include "unit/io/temporary_folder.hpp"

namespace {

using quintet::FileError;
using quintet::io::atomic_file;
using quintet::test::error_of;
using temporary = atomic_file::temporary;

class AtomicFile : public quintet::test::temporary_folder, public testing::WithParamInterface<temporary> {};
INSTANTIATE_TEST_SUITE_P(Temporaries, AtomicFile, testing::Values(temporary::automatic, temporary::named));

TEST_P(AtomicFile, AppearsOnCommitAndReplacesWhatWasThere) {
  file("out", "before");
  atomic_file out(path("out"), GetParam());
  out.write("after");
  EXPECT_EQ(content("out"), "before");
  out.commit();
  EXPECT_EQ(content("out"), "after");
  EXPECT_EQ(files(), 1);
}

TEST_P(AtomicFile, WithoutCommitNothingChanges) {
  file("old", "before");
  try {
    atomic_file replaced(path("old"), GetParam()), fresh(path("new"), GetParam());
    replaced.write("half of it");
    fresh.write(std::string(1 << 20, 'x'));  // more than the buffer: it is on the disk
    throw 1;
  } catch (int) {
  }
  EXPECT_EQ(content("old"), "before");
  EXPECT_EQ(files(), 1);
}

TEST_P(AtomicFile, WritesOfAnySizeArriveInOrder) {
  std::string all;
  atomic_file out(path("out"), GetParam());
  for (std::size_t size = 1; size < 3'000'000; size = size * 3 + 1) {
    const std::string part(size, static_cast<char>('a' + size % 26));
    out.write(part);
    all += part;
  }
  out.commit();
  EXPECT_EQ(content("out"), all);
}

TEST_P(AtomicFile, WhatWasWrittenCanBeReplaced) {
  atomic_file out(path("out"), GetParam());
  out.write("size: ... bytes\n");
  out.overwrite(6, "123");
  out.write("end");
  QUINTET_EXPECT_CONTAINS(error_of<quintet::InvalidArgument>([&] { out.overwrite(17, "abc"); }), "position");
  QUINTET_EXPECT_CONTAINS(error_of<quintet::InvalidArgument>([&] { out.overwrite(INT64_MAX, "abc"); }), "position");
  out.commit();
  EXPECT_EQ(content("out"), "size: 123 bytes\nend");
}

TEST_P(AtomicFile, FullDisk) {
  file("out", "before");
  {
    const quintet::test::file_size_limit limit(1000);
    atomic_file early(path("out"), GetParam()), late(path("out"), GetParam());
    QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { early.write(std::string(1 << 20, 'x')); }), path("out"));
    late.write(std::string(2000, 'x'));
    QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { late.commit(); }), "cannot be written");
    EXPECT_THROW(early.commit(), FileError) << "a failed file must not be committed";
  }
  EXPECT_EQ(content("out"), "before");
  EXPECT_EQ(files(), 1);
}

TEST_P(AtomicFile, KeepsPermissionsAndFollowsLinks) {
  file("real", "before");
  ASSERT_EQ(::chmod(path("real").c_str(), 0640), 0);
  std::filesystem::create_symlink("real", path("link"));
  atomic_file out(path("link"), GetParam());
  out.write("after");
  out.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(content("real"), "after");
  struct stat status;
  ASSERT_EQ(::stat(path("real").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST_P(AtomicFile, NewFilesFollowTheUmask) {
  const mode_t before = ::umask(027);
  atomic_file out(path("out"), GetParam());
  out.commit();
  ::umask(before);
  struct stat status;
  ASSERT_EQ(::stat(path("out").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

using AtomicFileErrors = quintet::test::temporary_folder;

TEST_F(AtomicFileErrors, FullDevice) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  std::filesystem::create_symlink("/dev/full", path("out"));
  atomic_file out(path("out"));
  EXPECT_FALSE(out.regular());
  out.write("x");
  QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { out.commit(); }), "No space left on device");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST_F(AtomicFileErrors, PathsThatCannotBeWritten) {
  std::filesystem::create_directory(path("folder"));
  file("file", "");
  const struct {
    std::string path, reason;
  } cases[] = {{path("nowhere/out"), "there is no folder"},
               {path("folder"), "it is a folder"},
               {path("file/out"), "Not a directory"},
               {"", "empty path"}};
  for (const auto& c : cases) {
    QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { atomic_file out(c.path); }), c.reason);
    QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { quintet::io::check_writable(c.path); }), c.reason);
  }
  EXPECT_THROW(atomic_file("/proc/quintet"), FileError);
  EXPECT_NO_THROW(quintet::io::check_writable(path("file")));
  EXPECT_NO_THROW(quintet::io::check_writable(path("new")));
  EXPECT_EQ(files(), 2);
}

TEST_F(AtomicFileErrors, WriteProtection) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  file("protected", "before");
  ::chmod(path("protected").c_str(), 0444);
  QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { atomic_file out(path("protected")); }), "Permission denied");
  std::filesystem::create_directory(path("folder"));
  ::chmod(path("folder").c_str(), 0555);
  QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { atomic_file out(path("folder/out")); }), "Permission denied");
}

TEST_F(AtomicFileErrors, CommittedFilesAreClosed) {
  atomic_file out(path("out"));
  out.commit();
  EXPECT_THROW(out.write("x"), FileError);
  EXPECT_THROW(out.commit(), FileError);
}

}  // namespace
