// Counter-based random numbers: Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as
// 1, 2, 3" (SC 2011).
//
// A block of four 32-bit words is a pure function of (key, counter), so there is no state to share. Element i of a
// random array is the same for any thread or device that computes it, and in any order. Period 2^128 blocks a key.
//
// Two ways to use it:
//   random_stream r(seed, stream);   r.uniform<float>();   r.below(n);     // one sequence a thread, point or chain
//   normal_at<float>(seed, stream, i);                                     // element i of a random array
// Streams of one seed never overlap (the stream number is the upper half of the counter, so each has 2^64 blocks).
//
// Integers and uniform numbers are the same bits everywhere. Normal numbers go through log and sqrt of the platform:
// they agree between host and device, and between C libraries, to a few units in the last place. Everything may be
// called in device code: no allocation, no static data; nothing throws, every value of every argument is allowed.
//
// Cost: a block is ten rounds of two products of 32 x 32 bits. It makes four floats, two doubles, or two normal
// numbers, which take a logarithm, a root and two polynomials more. A stream has 48 bytes.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <type_traits>

#include "quintet/core/compiler.hpp"

namespace quintet {

/// Counter in, random words out.
struct philox_block {
  std::uint32_t word[4];  ///< least significant first, when it is a 128-bit counter
  /// All four words are equal.
  friend constexpr bool operator==(const philox_block& a, const philox_block& b) {
    return a.word[0] == b.word[0] && a.word[1] == b.word[1] && a.word[2] == b.word[2] && a.word[3] == b.word[3];
  }
};

/// Key: the seed.
struct philox_key {
  std::uint32_t word[2];  ///< low and high half of the seed
};

/// Ten rounds of Philox4x32: a bijection of the counters for each key. Agrees with Random123.
constexpr philox_block philox4x32(philox_block counter, philox_key key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53u} * counter.word[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57u} * counter.word[2];
    counter = {{static_cast<std::uint32_t>(product1 >> 32) ^ counter.word[1] ^ key.word[0],
                static_cast<std::uint32_t>(product1),
                static_cast<std::uint32_t>(product0 >> 32) ^ counter.word[3] ^ key.word[1],
                static_cast<std::uint32_t>(product0)}};
    key.word[0] += 0x9E3779B9u;
    key.word[1] += 0xBB67AE85u;
  }
  return counter;
}

/// Block `position` of stream `stream` under `seed`.
constexpr philox_block philox_at(std::uint64_t seed, std::uint64_t stream, std::uint64_t position) {
  return philox4x32({{static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(position >> 32),
                      static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)}},
                    {{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}});
}

/// Word `index & 3` of a block. By selection, not by indexing: an indexed block would leave a GPU thread's registers.
constexpr std::uint32_t word_of(const philox_block& block, std::uint64_t index) {
  const std::uint32_t low = (index & 1u) != 0u ? block.word[1] : block.word[0];
  const std::uint32_t high = (index & 1u) != 0u ? block.word[3] : block.word[2];
  return (index & 2u) != 0u ? high : low;
}

/// The 64-bit word made of two 32-bit words.
constexpr std::uint64_t join_words(std::uint32_t low, std::uint32_t high) {
  return (static_cast<std::uint64_t>(high) << 32) | low;
}

/// Uniform in [0, 1): a multiple of 2^-24. Never 1.
constexpr float uniform_float(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }
/// Uniform in [0, 1): a multiple of 2^-53. Never 1.
constexpr double uniform_double(std::uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }
/// Uniform in (0, 1]: a multiple of 2^-24. Never 0, so its logarithm is finite.
constexpr float uniform_positive_float(std::uint32_t word) { return static_cast<float>((word >> 8) + 1u) * 0x1p-24f; }
/// Uniform in (0, 1]: a multiple of 2^-53. Never 0.
constexpr double uniform_positive_double(std::uint64_t word) {
  return static_cast<double>((word >> 11) + 1u) * 0x1p-53;
}

/// Two independent numbers.
template <class Real>
struct number_pair {
  ///@{
  /// The numbers, in the order in which they are used.
  Real first, second;
  ///@}
};

namespace detail {

/// cos and sin of 2 pi turns, 0 <= turns < 1, to about one unit in the last place of 1. The quadrant comes off exactly,
/// so no reduction of large angles is needed, which on a GPU costs a stack. Taylor series suffice for the rest, up to
/// pi / 4.
template <class Real>
inline number_pair<Real> cosine_and_sine_of_turns(Real turns) {
  const Real quarters = 4 * turns;
  const int quadrant = static_cast<int>(quarters + Real(0.5));
  const Real x = (quarters - static_cast<Real>(quadrant)) * (std::numbers::pi_v<Real> / 2), square = x * x;
  constexpr int last = std::is_same_v<Real, float> ? 10 : 18;  // 0.79^19 / 19! = 9e-20
  Real cosine = 1, sine = 1;
  for (int k = last; k > 0; k -= 2) {
    cosine = 1 - square * (1 / static_cast<Real>(k * (k - 1))) * cosine;
    sine = 1 - square * (1 / static_cast<Real>(k * (k + 1))) * sine;
  }
  sine *= x;
  switch (quadrant & 3) {
    case 0:
      return {cosine, sine};
    case 1:
      return {-sine, cosine};
    case 2:
      return {-cosine, -sine};
    default:
      return {sine, -cosine};
  }
}

}  // namespace detail

/// Two independent standard normal numbers (mean 0, variance 1) from one block, by the transform of Box and Muller.
/// |x| < 6.8 for float, < 8.6 for double: the resolution of the uniform numbers ends the tails there.
template <class Real>
inline number_pair<Real> normal_pair(const philox_block& block) {
  static_assert(std::is_same_v<Real, float> || std::is_same_v<Real, double>, "Real must be float or double");
  Real radius_uniform, angle_uniform;
  if constexpr (std::is_same_v<Real, float>) {
    // All 32 bits: 24 would cut the tails at 5.8.
    radius_uniform = static_cast<float>(block.word[0]) * 0x1p-32f + 0x1p-33f;
    angle_uniform = uniform_float(block.word[1]);
  } else {
    radius_uniform = uniform_positive_double(join_words(block.word[0], block.word[1]));
    angle_uniform = uniform_double(join_words(block.word[2], block.word[3]));
  }
  const Real radius = std::sqrt(Real(-2) * std::log(radius_uniform));
  const number_pair<Real> direction = detail::cosine_and_sine_of_turns(angle_uniform);
  return {radius * direction.first, radius * direction.second};
}

/// Element `index` of an array of standard normal numbers; a pure function of its arguments.
template <class Real>
inline Real normal_at(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  const number_pair<Real> pair = normal_pair<Real>(philox_at(seed, stream, index >> 1));
  return (index & 1u) == 0u ? pair.first : pair.second;
}

/// Element `index` of an array of numbers uniform in [0, 1); a pure function of its arguments.
template <class Real>
constexpr Real uniform_at(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  static_assert(std::is_same_v<Real, float> || std::is_same_v<Real, double>, "Real must be float or double");
  if constexpr (std::is_same_v<Real, float>) {
    return uniform_float(word_of(philox_at(seed, stream, index >> 2), index));
  } else {
    const philox_block block = philox_at(seed, stream, index >> 1);
    const std::uint64_t low = join_words(block.word[0], block.word[1]);
    const std::uint64_t high = join_words(block.word[2], block.word[3]);
    return uniform_double((index & 1u) != 0u ? high : low);
  }
}

/// A sequence of random numbers that starts at block `position` of a stream. Trivially copyable: a copy repeats the
/// sequence. Meets std::uniform_random_bit_generator, so std::shuffle and the distributions of the standard library
/// take it.
class random_stream {
 public:
  /// Result of operator()().
  using result_type = std::uint32_t;

  /// Starts at block `position` (four 32-bit words each) of stream `stream`. Computes nothing before the first number
  /// is taken.
  constexpr explicit random_stream(std::uint64_t seed, std::uint64_t stream = 0, std::uint64_t position = 0)
      : block_{}, seed_(seed), stream_(stream), position_(position), left_(0) {}

  ///@{
  /// Range of operator()(): all 32-bit numbers.
  static constexpr result_type(min)() { return 0; }
  static constexpr result_type(max)() { return 0xffffffffu; }
  ///@}
  /// The next 32 random bits, as next_32().
  constexpr result_type operator()() { return next_32(); }

  /// The next 32 random bits. A block is computed in every fourth call.
  constexpr std::uint32_t next_32() {
    if (left_ == 0) {
      block_ = philox_at(seed_, stream_, position_++);
      left_ = 4;
    }
    --left_;
    // The words move up instead of an index moving down: see word_of.
    const std::uint32_t next = block_.word[0];
    block_ = {{block_.word[1], block_.word[2], block_.word[3], 0u}};
    return next;
  }
  /// The next 64 random bits: two words of 32, the lower one first.
  constexpr std::uint64_t next_64() {
    const std::uint32_t low = next_32();
    return join_words(low, next_32());
  }

  /// Uniform in [0, 1); Real is float or double.
  template <class Real>
  constexpr Real uniform() {
    if constexpr (std::is_same_v<Real, float>)
      return uniform_float(next_32());
    else
      return uniform_double(next_64());
  }
  /// Uniform in (0, 1]; Real is float or double.
  template <class Real>
  constexpr Real uniform_positive() {
    if constexpr (std::is_same_v<Real, float>)
      return uniform_positive_float(next_32());
    else
      return uniform_positive_double(next_64());
  }
  /// Two standard normal numbers; takes one whole block, so later numbers do not depend on the numbers taken before.
  template <class Real>
  number_pair<Real> normals() {
    left_ = 0;
    return normal_pair<Real>(philox_at(seed_, stream_, position_++));
  }

  /// Uniform in 0 ... bound - 1, each exactly as likely as the others (Lemire's method, with rejection). 0 for bound 0.
  constexpr std::uint32_t below(std::uint32_t bound) {
    std::uint64_t product = std::uint64_t{next_32()} * bound;
    if (static_cast<std::uint32_t>(product) < bound) {
      const std::uint32_t threshold = (0u - bound) % (bound == 0 ? 1u : bound);
      while (static_cast<std::uint32_t>(product) < threshold) product = std::uint64_t{next_32()} * bound;
    }
    return static_cast<std::uint32_t>(product >> 32);
  }
  /// The same for bounds over 2^32: uniform in 0 ... bound - 1.
  constexpr std::uint64_t below_64(std::uint64_t bound) {
    if (bound <= 0xffffffffu) return below(static_cast<std::uint32_t>(bound));
    // As many bits as the bound needs, again until they are below it: at most two tries on average.
    std::uint64_t mask = bound - 1;
    for (int shift = 1; shift < 64; shift *= 2) mask |= mask >> shift;
    std::uint64_t candidate = next_64() & mask;
    while (candidate >= bound) candidate = next_64() & mask;
    return candidate;
  }

 private:
  philox_block block_;
  std::uint64_t seed_, stream_, position_;
  std::int32_t left_;
};

}  // namespace quintet
