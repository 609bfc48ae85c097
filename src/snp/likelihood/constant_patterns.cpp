#include "snp/likelihood/constant_patterns.hpp"

#include <string_view>
#include <unordered_map>

namespace quintet::snp {

constant_patterns::constant_patterns(const Data& data, const model& m)
    : condition_of_pattern(std::size_t(data.patterns()), -1) {
  const bool are_own = m.polymorphic_only && !m.full_samples;
  if (!are_own && (m.polymorphic_only || m.unseen_zeros > 0 || m.unseen_ones > 0))
    copies.emplace_back(data.sampled_copies().begin(), data.sampled_copies().end());
  const std::size_t species = data.species().size();
  std::unordered_map<std::string_view, std::int64_t> condition_of_copies;  // the bytes of a row of data.copies()
  for (std::int64_t p = 0; m.polymorphic_only && p < data.patterns(); ++p) {
    if (data.kind(p) != pattern_kind::polymorphic) continue;
    std::int64_t& condition = condition_of_pattern[std::size_t(p)];
    condition = 0;
    if (!are_own) continue;
    const auto row = data.copies().subspan(std::size_t(p) * species, species);
    const std::string_view bytes(reinterpret_cast<const char*>(row.data()), row.size_bytes());
    const auto [place, is_new] = condition_of_copies.emplace(bytes, std::int64_t(copies.size()));
    if (is_new) copies.emplace_back(row.begin(), row.end());
    condition = place->second;
  }
}

}  // namespace quintet::snp
