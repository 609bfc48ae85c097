#include "eigenvectors_start.hpp"

namespace quintet::test {

template <class Real>
void start_alone(const svd::columns<Real>& m, const svd::start_memory<Real>& at) {
  svd::start_from_eigenvectors(alone_map<Real>{{}, nullptr}, m, m.v, at, [] {});
}
template <class Real>
void start_in_team(const thread_team& team, Real* exchange, const svd::columns<Real>& m,
                   const svd::start_memory<Real>& at) {
  svd::start_from_eigenvectors(team_map<Real>{team, exchange}, m, m.v, at, [] {});
}

template void start_alone(const svd::columns<float>&, const svd::start_memory<float>&);
template void start_alone(const svd::columns<double>&, const svd::start_memory<double>&);
template void start_in_team(const thread_team&, float*, const svd::columns<float>&, const svd::start_memory<float>&);
template void start_in_team(const thread_team&, double*, const svd::columns<double>&, const svd::start_memory<double>&);

}  // namespace quintet::test
