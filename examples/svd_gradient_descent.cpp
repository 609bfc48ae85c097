// Gradient descent through an SVD: a matrix is drawn to low rank by the gradient of its nuclear norm, sum of S, beside
// the squared distance from where it began.
#include <iostream>
#include <vector>

#include "quintet/svd/gradient.hpp"

int main() {
  const std::int64_t n = 6;
  std::vector<double> start(n * n);
  for (std::int64_t i = 0; i < n; ++i)  // rank one, and a little of everything else
    for (std::int64_t j = 0; j < n; ++j) start[i * n + j] = 1 + 0.02 * double((7 * i + 3 * j * j) % 5);
  std::vector<double> a = start;

  const double penalty = 1, rate = 0.1;
  double first = 0, loss = 0;
  for (int step = 0; step < 200; ++step) {
    const auto d = quintet::svd::decompose(quintet::batch_view<const double>(a.data(), 1, n, n));
    loss = 0;
    for (const double s : d.s) loss += penalty * s;
    const std::vector<double> slope(n, penalty);  // of the loss by S; U and V do not appear in it: empty views
    std::vector<double> gradient = quintet::svd::gradient<double>(d, {}, {slope.data(), 1, n}, {});
    for (std::int64_t e = 0; e < n * n; ++e) {
      loss += (a[e] - start[e]) * (a[e] - start[e]) / 2;
      a[e] -= rate * (gradient[e] + a[e] - start[e]);
    }
    if (step == 0) first = loss;
  }
  const auto d = quintet::svd::decompose(quintet::batch_view<const double>(a.data(), 1, n, n));
  std::cout << "the loss fell: " << std::boolalpha << (loss < 0.95 * first) << ", S_1 < 0.1: " << (d.s[1] < 0.1)
            << "\n";
}
