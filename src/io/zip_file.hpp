// Zip archives as NumPy makes them: members that are stored or deflated, with 64-bit sizes where needed
// (https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/input_file.hpp"
#include "quintet/io/atomic_file.hpp"

namespace quintet::io {

/// The members of an archive. Throws FileError when the file is none, is damaged or is a pipe.
class zip_reader {
 public:
  explicit zip_reader(std::string path);
  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// The content of a member, compared with its checksum. Throws FileError when there is none of this name, it is
  /// encrypted, compressed by another method or damaged, or larger than the memory.
  std::vector<char> read(std::string_view name);
  const std::string& path() const noexcept { return file_.path(); }

 private:
  struct member {
    std::string name;
    std::int64_t begin = 0, packed_bytes = 0, bytes = 0;
    std::uint32_t checksum = 0;
    int method = 0, flags = 0;
  };
  const member* find(std::string_view name) const;
  void read_directory(std::int64_t begin, std::int64_t bytes, std::int64_t count);
  std::int64_t find_data(const member& m);
  void unpack(const member& m, std::vector<char>& content);

  input_file file_;
  std::vector<member> members_;
};

/// Writes members one after another, deflated. finish() before the file's commit(). The file must be regular.
class zip_writer {
 public:
  explicit zip_writer(atomic_file& file);
  ~zip_writer();
  void begin(std::string_view name);
  void write(const void* data, std::size_t bytes);
  void end();
  void finish();

 private:
  void run(int flush);
  void append(std::string_view bytes);
  struct state;
  atomic_file& file_;
  std::unique_ptr<state> state_;
};

/// Bytes in memory as a source.
class bytes_source final : public byte_source {
 public:
  bytes_source(std::string path, std::vector<char> bytes);
  std::size_t read(void* data, std::size_t bytes) override;
  void seek(std::int64_t position) override { position_ = static_cast<std::size_t>(position); }

 private:
  std::vector<char> bytes_;
  std::size_t position_ = 0;
};

}  // namespace quintet::io
