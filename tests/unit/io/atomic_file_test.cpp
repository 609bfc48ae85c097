#include "quintet/io/atomic_file.hpp"

#include <filesystem>

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include "quintet/core/error.hpp"
#include "quintet/io/file_format.hpp"
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

// What appears in a folder, in order.
class folder_watch {
 public:
  explicit folder_watch(const std::string& folder) : descriptor_(::inotify_init1(IN_NONBLOCK)) {
    ::inotify_add_watch(descriptor_, folder.c_str(), IN_CREATE | IN_MOVED_TO);
  }
  ~folder_watch() { ::close(descriptor_); }
  std::vector<std::string> names() const {
    alignas(inotify_event) char buffer[4096];
    std::vector<std::string> all;
    const ssize_t count = ::read(descriptor_, buffer, sizeof buffer);
    for (ssize_t at = 0; at < count;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      all.emplace_back(event->name);
      at += ssize_t(sizeof(inotify_event) + event->len);
    }
    return all;
  }

 private:
  int descriptor_;
};

TEST_F(AtomicFileErrors, ANewFileAppearsInOneStep) {
  atomic_file out(path("out"));
  if (files() > 0) GTEST_SKIP() << "this file system has no files without a name";
  out.write("x");
  const folder_watch watch(path(""));
  out.commit();
  EXPECT_EQ(watch.names(), std::vector<std::string>{"out"});
  atomic_file again(path("out"));
  again.write("y");
  again.commit();
  EXPECT_EQ(content("out"), "y");
  EXPECT_EQ(files(), 1);
}

TEST_F(AtomicFileErrors, OpenFilesAreWrittenWhereTheyStand) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const std::string name = "/dev/fd/" + std::to_string(pipe[1]);
  std::filesystem::create_symlink(name, path("link.csv"));
  for (const std::string& to : {name, "/proc/self/fd/" + std::to_string(pipe[1]), path("link.csv")}) {
    SCOPED_TRACE(to);
    quintet::io::check_writable(to);
    atomic_file out(to);
    EXPECT_FALSE(out.regular());
    out.write("abc");
    out.commit();
    char text[8] = {};
    EXPECT_EQ(::read(pipe[0], text, sizeof text), 3);
    EXPECT_STREQ(text, "abc");
  }
  EXPECT_EQ(quintet::io::format_of(name), quintet::io::file_format::csv);
  const std::string reading = "/dev/fd/" + std::to_string(pipe[0]);
  QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { atomic_file out(reading); }), "open for reading only");
  ::close(pipe[0]);
  ::close(pipe[1]);
  QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { atomic_file out(name); }), "Bad file descriptor");

  file("begun", "first ");
  const int begun = ::open(path("begun").c_str(), O_WRONLY | O_APPEND);
  atomic_file out("/dev/fd/" + std::to_string(begun));
  out.write("second");
  out.commit();
  ::close(begun);
  EXPECT_EQ(content("begun"), "first second");
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
  // Root may write everywhere: this is somebody else's process for a while.
  struct nobody {
    bool was_root = ::geteuid() == 0;
    nobody() {
      if (was_root) EXPECT_EQ(::setresuid(65534, 65534, 0), 0);
    }
    ~nobody() {
      if (was_root) EXPECT_EQ(::setresuid(0, 0, 0), 0);
    }
  };
  ::chmod(path("").c_str(), 0777);
  const nobody other;
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
