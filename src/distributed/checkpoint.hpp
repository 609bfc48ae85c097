// What a long run writes down, so that it can go on after an interruption.
//
// A checkpoint is a folder of its own inside the one that the user names, with a file of every rank that has something
// to say, and a manifest beside it that names it. Files are complete on the disk before the manifest is renamed into
// its place; then the older folder goes. Every file ends in a hash of its bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "quintet/core/process_group.hpp"

namespace quintet::distributed {

/// Arrays one after another in memory, as a file holds them.
class packed_arrays {
 public:
  template <class T>
  void add(const T* data, std::int64_t count) {
    const auto* bytes = reinterpret_cast<const char*>(data);
    bytes_.insert(bytes_.end(), bytes, bytes + count * std::int64_t(sizeof(T)));
  }
  template <class T>
  void add(const std::vector<T>& values) {
    add(values.data(), std::int64_t(values.size()));
  }
  const std::vector<char>& bytes() const { return bytes_; }

 private:
  std::vector<char> bytes_;
};

/// What a manifest says.
struct checkpoint_state {
  std::string folder;      ///< of the files
  std::string stage;       ///< "lists": within them; "rounds": after them
  std::int64_t step = 0;   ///< of the ring that is done; rounds that are done
  std::int64_t ranks = 0;  ///< that wrote the lists
};

/// Where and how often.
struct checkpoint_plan {
  std::string folder;  ///< empty: nothing is written
  double minutes;      ///< the least time between two of them
  bool resume;         ///< go on from what is in the folder
};

class checkpoint {
 public:
  /// `identity` tells points and options; whatever differs there cannot go on. Collective, as everything here.
  checkpoint(process_group& ranks, checkpoint_plan options, std::string identity);

  bool is_on() const { return !options_.folder.empty(); }
  /// What to go on from; nothing where there is no manifest or nobody asked. Throws InvalidArgument for a checkpoint of
  /// other points or options, and FileError for a damaged one.
  std::optional<checkpoint_state> previous() const { return previous_; }

  /// Whether the time has come for another one: as rank 0's clock says.
  bool is_due();
  /// Writes a new folder with what `mine` makes, on every rank.
  void save_lists(const std::string& stage, std::int64_t step, const std::function<packed_arrays()>& make_lists);
  /// Adds what rank 0 makes of the rounds to the folder of the lists.
  void save_rounds(std::int64_t step, const std::function<packed_arrays()>& of_root);
  /// After the end: removes manifest and files.
  void remove();

  /// The name of a file of a rank, or of the rounds' state, in the folder of `state`.
  std::string lists_path(const checkpoint_state& state, std::int64_t rank) const;
  std::string rounds_path(const checkpoint_state& state) const;

 private:
  void write_manifest(const checkpoint_state& state);
  std::string manifest_path() const { return options_.folder + "/manifest"; }

  process_group& ranks_;
  checkpoint_plan options_;
  std::string identity_;
  std::optional<checkpoint_state> previous_, current_;
  double last_ = 0;  ///< when the last one was written, on rank 0
};

/// A whole file, its checksum compared; throws FileError.
std::vector<char> read_checked(const std::string& path);
/// Bytes [offset, offset + count) of it.
void read_part(const std::string& path, std::int64_t offset, void* to, std::int64_t count);

/// Takes arrays out of bytes in the order in which they were added.
class array_reader {
 public:
  explicit array_reader(std::vector<char> bytes, std::string path) : bytes_(std::move(bytes)), path_(std::move(path)) {}
  template <class T>
  std::vector<T> take(std::int64_t count) {
    std::vector<T> values(count);
    copy(values.data(), count * std::int64_t(sizeof(T)));
    return values;
  }

 private:
  void copy(void* to, std::int64_t count);
  std::vector<char> bytes_;
  std::string path_;
  std::size_t at_ = 0;
};

/// 64 bits of a hash of bytes (FNV-1a), going on from `state`.
std::uint64_t hash_bytes(const void* data, std::size_t count, std::uint64_t state = 14695981039346656037ull);

}  // namespace quintet::distributed
