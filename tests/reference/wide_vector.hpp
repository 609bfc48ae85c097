// Points of the ball as vectors of Eigen; for the references alone.
#pragma once

#include <Eigen/Core>

#include "reference/poincare_reference.hpp"

#if defined(__x86_64__)
template <>
struct Eigen::NumTraits<__float128> : Eigen::GenericNumTraits<__float128> {};
#endif

namespace quintet::reference {

using wide_vector = Eigen::Matrix<wide, Eigen::Dynamic, 1>;

inline Eigen::Map<const wide_vector> mapped(const ball_vector& x) { return {x.data(), Eigen::Index(x.size())}; }
inline ball_vector plain(const wide_vector& x) { return {x.data(), x.data() + x.size()}; }

}  // namespace quintet::reference
