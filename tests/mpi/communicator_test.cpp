#include "quintet/mpi/communicator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <new>
#include <numeric>
#include <random>
#include <stdexcept>

#include "mpi/processors.hpp"
#include "mpi/ranks.hpp"
#include "quintet/mpi/distribution.hpp"

namespace quintet {
namespace {

using test::ranks;

/// What rank r has in these tests: r + 1 numbers.
std::vector<std::int64_t> numbers_of(int rank) {
  std::vector<std::int64_t> numbers(rank + 1);
  std::iota(numbers.begin(), numbers.end(), 1000 * rank);
  return numbers;
}

std::vector<std::int64_t> all_numbers() {
  std::vector<std::int64_t> all;
  for (int r = 0; r < ranks().size(); ++r)
    for (const std::int64_t number : numbers_of(r)) all.push_back(number);
  return all;
}

TEST(mpi_communicator, knows_its_place) {
  int rank = -1, size = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT_EQ(ranks().rank(), rank);
  EXPECT_EQ(ranks().size(), size);
  EXPECT_EQ(ranks().hosts(), 1);
  EXPECT_EQ(ranks().host_size(), size);
  EXPECT_EQ(ranks().is_root(), rank == 0);
  int same = MPI_IDENT;
  MPI_Comm_compare(ranks().handle(), MPI_COMM_WORLD, &same);
  EXPECT_EQ(same, MPI_CONGRUENT) << "it is a duplicate";
}

TEST(mpi_communicator, gathers_and_scatters_in_the_order_of_ranks) {
  const std::vector<std::int64_t> mine = numbers_of(ranks().rank()), all = all_numbers();
  EXPECT_EQ(ranks().allgather(std::span<const std::int64_t>(mine)), all);
  const int root = ranks().size() - 1;
  const auto gathered = ranks().gather(std::span<const std::int64_t>(mine), root);
  EXPECT_EQ(gathered, ranks().rank() == root ? all : std::vector<std::int64_t>{});
  std::vector<std::int64_t> counts;
  for (int r = 0; r < ranks().size(); ++r) counts.push_back(r + 1);
  EXPECT_EQ(ranks().scatter(std::span<const std::int64_t>(gathered), counts, root), mine);
}

TEST(mpi_communicator, gives_everybody_what_is_theirs) {
  // Rank r sends s times the number 100 r + s to rank s.
  const int r = ranks().rank(), size = ranks().size();
  std::vector<std::int32_t> send, expected;
  std::vector<std::int64_t> counts, received, from;
  for (int s = 0; s < size; ++s) {
    send.insert(send.end(), s, 100 * r + s);
    counts.push_back(s);
    expected.insert(expected.end(), r, 100 * s + r);
    from.push_back(r);
  }
  EXPECT_EQ(ranks().alltoallv(std::span<const std::int32_t>(send), counts, &received), expected);
  EXPECT_EQ(received, from);
}

TEST(mpi_communicator, broadcasts) {
  for (int root = 0; root < ranks().size(); ++root) {
    std::string value = ranks().rank() == root ? std::string("a\0b", 3) : "something longer than that";
    ranks().broadcast(value, root);
    EXPECT_EQ(value, std::string("a\0b", 3));
    std::vector<double> numbers(3, ranks().rank());
    ranks().broadcast(std::span<double>(numbers), root);
    EXPECT_EQ(numbers, std::vector<double>(3, root));
  }
}

TEST(mpi_communicator, transfers_in_pieces) {
  // More than a piece, and no multiple of one: around the ring, and by everybody's broadcast.
  const std::int64_t bytes = mpi::communicator::piece_bytes + 12345;
  const int next = (ranks().rank() + 1) % ranks().size(),
            previous = (ranks().rank() + ranks().size() - 1) % ranks().size();
  std::vector<char> sent(bytes, char('a' + ranks().rank())), got(bytes);
  sent.back() = char('A' + ranks().rank());
  ranks().phase("pieces");
  mpi::transfer started;
  ranks().start_receive(std::span<char>(got), previous, 7, started);
  ranks().start_send(std::span<const char>(sent), next, 7, started);
  EXPECT_TRUE(started.pending());
  while (!ranks().poke(started)) {
  }
  EXPECT_FALSE(started.pending());
  EXPECT_EQ(got.front(), 'a' + previous);
  EXPECT_EQ(got[bytes - 2], 'a' + previous);
  EXPECT_EQ(got.back(), 'A' + previous);
  const mpi::phase_traffic& traffic = ranks().traffic().back();
  const bool alone = ranks().size() == 1;
  EXPECT_EQ(traffic.phase, "pieces");
  EXPECT_EQ(traffic.sent, alone ? 0 : bytes);
  EXPECT_EQ(traffic.received, alone ? 0 : bytes);
  EXPECT_EQ(traffic.messages, alone ? 0 : 2);
}

TEST(mpi_communicator, least_record_is_by_signed_words) {
  struct record {
    std::int32_t weight, u, v;
  };
  const int r = ranks().rank(), last = ranks().size() - 1;
  std::vector<record> records{
      {5, r, -r},                                                       // the first rank's
      {5, -r, 0},                                                       // the last one's
      {r == last ? 1 : std::numeric_limits<std::int32_t>::max(), 7, r}  // "none" loses
  };
  ranks().minimum<std::int32_t>(std::span<record>(records));
  EXPECT_EQ(records[0].u, 0);
  EXPECT_EQ(records[0].v, 0);
  EXPECT_EQ(records[1].u, -last);
  EXPECT_EQ(records[2].weight, 1);
  EXPECT_EQ(records[2].v, last);

  struct wide_record {
    std::int64_t weight, ends;
  };
  std::vector<wide_record> wide{{std::int64_t(1) << 40, last - r}, {(std::int64_t(1) << 40) + r, -1}};
  ranks().minimum<std::int64_t>(std::span<wide_record>(wide));
  EXPECT_EQ(wide[0].ends, 0);
  EXPECT_EQ(wide[1].weight, std::int64_t(1) << 40);
}

TEST(mpi_communicator, least_records_of_random_numbers) {
  std::vector<std::array<std::int32_t, 3>> expected(1000, {std::numeric_limits<std::int32_t>::max(), 0, 0}), mine;
  for (int r = 0; r < ranks().size(); ++r) {
    std::mt19937 random(r);
    std::vector<std::array<std::int32_t, 3>> records(expected.size());
    for (auto& record : records)
      for (std::int32_t& word : record) word = std::int32_t(random() % 5) - 2;
    for (std::size_t i = 0; i < records.size(); ++i) expected[i] = std::min(expected[i], records[i]);
    if (r == ranks().rank()) mine = records;
  }
  ranks().minimum<std::int32_t>(std::span(mine));
  EXPECT_EQ(mine, expected);
}

TEST(mpi_communicator, sums_and_extremes) {
  const std::int64_t r = ranks().rank(), size = ranks().size();
  EXPECT_EQ(ranks().sum(r + 1), size * (size + 1) / 2);
  EXPECT_EQ(ranks().minimum(-r), 1 - size);
  EXPECT_EQ(ranks().maximum(r), size - 1);
  EXPECT_EQ(ranks().largest(float(r) / 4), float(size - 1) / 4);
  EXPECT_EQ(ranks().largest(1e-300 * double(r)), 1e-300 * double(size - 1));
}

/// What agree() throws on this rank when the ranks from `first` on fail with `error`, each with its own text.
template <class Expected, class Make>
std::string agreed_text(int first, const Make& make) {
  mpi::failure mine;
  mine.attempt([&] {
    if (ranks().rank() >= first) throw make(text("of rank ", ranks().rank()));
  });
  if (mine) mine.attempt([] { FAIL() << "nothing runs after a failure"; });
  try {
    ranks().agree(mine);
  } catch (const Expected& e) {
    return e.what();
  } catch (const std::exception& e) {
    return text("another type: ", e.what());
  }
  return "nothing";
}

TEST(mpi_agree, throws_the_error_of_the_lowest_rank_everywhere) {
  const int size = ranks().size();
  for (const int first : {0, size / 2, size - 1}) {
    const std::string told = text("of rank ", first);
    const auto nothing_runs_before = [&] { ranks().agree({}); };
    EXPECT_NO_THROW(nothing_runs_before());
    EXPECT_EQ(agreed_text<InvalidArgument>(first, [](auto what) { return InvalidArgument(what); }), told);
    EXPECT_EQ(agreed_text<FileError>(first, [](auto what) { return FileError(what, 12, "bad"); }), told + ":12: bad");
    EXPECT_EQ(agreed_text<DeviceError>(first, [](auto what) { return DeviceError(what); }), told);
    EXPECT_EQ(agreed_text<OutOfMemory>(first, [](auto what) { return OutOfMemory(77, what); }),
              "out of memory: 77 bytes could not be allocated on " + told);
    EXPECT_EQ(agreed_text<Cancelled>(first, [](auto what) { return Cancelled(what); }),
              "cancelled by the caller in stage \"" + told + "\"");
    EXPECT_EQ(agreed_text<mpi::MpiError>(first, [](auto what) { return mpi::MpiError(what); }), told);
    EXPECT_EQ(agreed_text<Error>(first, [](auto what) { return Error(what); }), told);
    EXPECT_EQ(agreed_text<std::bad_alloc>(first, [](auto) { return std::bad_alloc(); }), std::bad_alloc().what());
    EXPECT_EQ(agreed_text<std::length_error>(first, [](auto what) { return std::length_error(what); }), told);
    // Of others only the text remains.
    EXPECT_EQ(agreed_text<std::runtime_error>(first, [](auto what) { return std::logic_error(what); }), told);
  }
}

TEST(mpi_agree, bytes_of_a_missing_block_are_told) {
  mpi::failure mine;
  mine.attempt([&] {
    if (ranks().rank() == ranks().size() - 1) throw OutOfMemory(123, "a host");
  });
  try {
    ranks().agree(mine);
    FAIL();
  } catch (const OutOfMemory& e) {
    EXPECT_EQ(e.bytes(), 123);
  }
}

TEST(mpi_agree, different_options_are_an_error) {
  EXPECT_NO_THROW(ranks().require_same("k", "5"));
  if (ranks().size() == 1) return;
  const bool differs = ranks().rank() == ranks().size() - 1;
  try {
    ranks().require_same("k", differs ? "6" : "5");
    FAIL();
  } catch (const InvalidArgument& e) {
    EXPECT_EQ(std::string(e.what()),
              text("k must be the same on all ranks (rank 0: 5; rank ", ranks().size() - 1, ": 6)"));
  }
}

TEST(mpi_distribution, parts_are_even_and_cover) {
  for (const std::int64_t n : {0, 1, 5, 96, 1000})
    for (const int size : {1, 2, 3, 7, 100}) {
      std::int64_t next = 0;
      const std::vector<std::int64_t> counts = mpi::even_counts(n, size);
      for (int r = 0; r < size; ++r) {
        const mpi::row_range rows = mpi::even_rows(n, r, size);
        EXPECT_EQ(rows.first, next);
        EXPECT_EQ(rows.count, counts[r]);
        EXPECT_GE(rows.count, n / size);
        EXPECT_LE(rows.count, (n + size - 1) / size);
        next += rows.count;
      }
      EXPECT_EQ(next, n);
    }
}

mpi::processor_set processors(int first, int count) {
  mpi::processor_set mask;
  for (int i = first; i < first + count; ++i) mask.set(std::size_t(i));
  return mask;
}

TEST(mpi_communicator, processors_of_a_host_are_shared) {
  const mpi::processor_set host = processors(0, 8);
  // Each rank bound to a core: it has one thread, and most of the host is idle.
  const auto bound = mpi::share_of({processors(0, 1), processors(1, 1)}, 1, host);
  EXPECT_EQ(bound.threads, 1);
  EXPECT_EQ(bound.used, 2);
  EXPECT_EQ(bound.present, 8);
  EXPECT_TRUE(bound.is_too_small);
  // Nobody is bound: even shares.
  const auto free = mpi::share_of({host, host, host}, 0, host);
  EXPECT_EQ(free.threads, 2);
  EXPECT_FALSE(free.is_too_small);
  // Bound to parts of the host that do not overlap.
  const auto parts = mpi::share_of({processors(0, 2), processors(2, 6)}, 1, host);
  EXPECT_EQ(parts.threads, 6);
  EXPECT_FALSE(parts.is_too_small);
  // More ranks than processors.
  EXPECT_EQ(mpi::share_of(std::vector<mpi::processor_set>(5, processors(0, 2)), 4, processors(0, 2)).threads, 1);
}

TEST(mpi_communicator, threads_are_those_of_the_environment) {
  // The tests set OMP_NUM_THREADS=1 and bind nothing, so there is nothing to warn of.
  EXPECT_EQ(ranks().use_threads(), "");
  EXPECT_EQ(ranks().threads(), 1);
}

}  // namespace
}  // namespace quintet
