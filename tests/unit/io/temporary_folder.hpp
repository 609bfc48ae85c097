// A folder for one test's files, removed after it.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace quintet::test {

class temporary_folder : public testing::Test {
 protected:
  temporary_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "quintet-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder could be made");
    folder_ = name;
  }
  ~temporary_folder() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::string path(std::string_view name) const { return (folder_ / name).string(); }
  /// Makes a file with this content and returns its path.
  std::string file(std::string_view name, std::string_view content) const {
    std::ofstream out(path(name), std::ios::binary);
    out << content;
    return path(name);
  }
  std::string content(std::string_view name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// Number of files in the folder, temporaries included.
  std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator());
  }

 private:
  std::filesystem::path folder_;
};

/// While it lives, no file of this process grows beyond `bytes`: what a full disk looks like to a writer.
class file_size_limit {
 public:
  explicit file_size_limit(rlim_t bytes) {
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~file_size_limit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  file_size_limit(const file_size_limit&) = delete;
  file_size_limit& operator=(const file_size_limit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = SIG_DFL;
};

/// While it lives, this process gets no more memory than so many bytes of addresses.
class address_space_limit {
 public:
  explicit address_space_limit(std::int64_t bytes) {
    ::getrlimit(RLIMIT_AS, &before_);
    rlimit limit = before_;
    limit.rlim_cur = rlim_t(bytes);
    ::setrlimit(RLIMIT_AS, &limit);
  }
  ~address_space_limit() { ::setrlimit(RLIMIT_AS, &before_); }
  address_space_limit(const address_space_limit&) = delete;
  address_space_limit& operator=(const address_space_limit&) = delete;

 private:
  rlimit before_{};
};

/// The text of the Exception that `action` throws; fails the test when it throws nothing or something else.
template <class Exception, class Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const Exception& e) {
    return e.what();
  } catch (const std::exception& e) {
    ADD_FAILURE() << "another exception: " << e.what();
    return "";
  }
  ADD_FAILURE() << "no exception";
  return "";
}

}  // namespace quintet::test

/// The text holds all of the part.
#define QUINTET_EXPECT_CONTAINS(whole, part) \
  EXPECT_NE(std::string(whole).find(part), std::string::npos) << "\"" << (part) << "\" is not in: " << (whole)
