// What a product decides from predictions, set by tests and measurements. The result never depends on it.
#pragma once

#include <cstdint>
#include <optional>

#include "quintet/spgemm/options.hpp"

namespace quintet::spgemm {

struct tuning {
  /// Factor on the predicted number of entries, > 0. Too small a prediction costs time (the memory grows several times,
  /// or rows are computed twice), too large a one memory.
  double prediction_scale = 1;
  /// Entries of the result that the first arena of a device holds; < 0: from the prediction. With 0 every row is
  /// computed a second time.
  std::int64_t arena_entries = -1;
  /// Slots of a hash table at most, >= 8, rounded down to a power of two. Rows that overflow their table are redone
  /// without one.
  std::int64_t table_size_cap = std::int64_t{1} << 30;
  /// Bytes of C that a device computes at a time for multiply_top(), > 0; a row, if that is larger.
  std::int64_t top_block_bytes = std::int64_t{1} << 28;
  /// The accumulator for all rows that it can compute, instead of the library's choice.
  std::optional<strategy> accumulator = std::nullopt;
};

/// That of this process.
const tuning& current_tuning();

/// Options of products; until it is destroyed, all products of the process have this tuning. Not while one runs in
/// another thread.
class tuned : public options {
 public:
  explicit tuned(const tuning& t, const options& o = {});
  tuned(const tuned&) = delete;
  tuned& operator=(const tuned&) = delete;
  ~tuned();

 private:
  tuning previous_;
};

}  // namespace quintet::spgemm
