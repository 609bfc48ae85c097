// C functions of sparse matrices, but for plans.
#include <variant>

#include "c/spgemm_support.hpp"
#include "quintet/spgemm/add.hpp"
#include "quintet/spgemm/complex_product.hpp"
#include "quintet/spgemm/dense_product.hpp"
#include "quintet/spgemm/gram.hpp"
#include "quintet/spgemm/left_transposed.hpp"
#include "quintet/spgemm/multiply_add.hpp"
#include "quintet/spgemm/top.hpp"
#include "quintet/spgemm/transpose.hpp"

using namespace quintet;
using namespace quintet::c;

namespace {

constexpr auto spgemm_option_list = [](auto visit) {
  using c = quintet_spgemm_options;
  using library = spgemm::options;
  visit(&c::host_products, &library::host_products);
};

constexpr quintet_spgemm_options default_spgemm_options = [] {
  quintet_spgemm_options options{};
  options.size = sizeof(options);
  options.prediction_scale = 1;
  options.arena_entries = -1;
  options.table_size_cap = std::int64_t{1} << 30;
  copy_to_interface(spgemm_option_list, spgemm::options{}, options);
  return options;
}();

void write_report(const spgemm::report& report, quintet_spgemm_report* out) {
  if (out == nullptr) return;
  quintet_spgemm_report written{};
  written.products = report.products;
  written.upper_bound = report.upper_bound;
  written.predicted = report.predicted;
  written.retries = report.retries;
  written.peak_bytes = report.peak_bytes;
  written.scratch_bytes = report.scratch_bytes;
  written.ran_on_host = report.ran_on_host;
  written.seconds =
      report.analysis_seconds + report.prediction_seconds + report.product_seconds + report.assembly_seconds;
  write_struct(written, out, out->size, "report->size");
}

// Makes product(semiring, a, b, options, device, report) for the types of the operands.
template <class Product>
quintet_status product_of(const quintet_csr* a, const quintet_csr* b, quintet_semiring semiring,
                          const quintet_spgemm_options* options, const char* device, quintet_spgemm_report* report,
                          quintet_spgemm_matrix** result, Product&& product) noexcept {
  return make_handle(result, [&] {
    if (report != nullptr) check_struct_size(report->size, sizeof(*report), "report->size");
    return with_csr_types(a, "a", [&]<class Value, class Index> {
      return with_semiring(semiring, [&]<class Semiring> {
        spgemm::report product_report;
        quintet_spgemm_matrix handle{product(Semiring(), operand<Value, Index>(a, "a"), operand<Value, Index>(b, "b"),
                                             product_options(options), chosen_device(device), &product_report)};
        write_report(product_report, report);
        return handle;
      });
    });
  });
}

}  // namespace

spgemm::options quintet::c::product_options(const quintet_spgemm_options* c_options) {
  const quintet_spgemm_options known = known_options(c_options, default_spgemm_options);
  require_argument(known.prediction_scale > 0 && known.prediction_scale <= 1e6, "prediction_scale",
                   known.prediction_scale, "in (0, 1e6]");
  require_argument(known.table_size_cap >= 8, "table_size_cap", known.table_size_cap, ">= 8");
  spgemm::options options;
  copy_to_library(spgemm_option_list, known, options);
  return options;
}

extern "C" {

quintet_status quintet_spgemm_options_default(quintet_spgemm_options* options, size_t size) noexcept {
  return guarded([&] { write_struct(default_spgemm_options, options, size, "options"); });
}

quintet_status quintet_spgemm_view(const quintet_spgemm_matrix* matrix, quintet_csr* view) noexcept {
  return guarded([&] {
    std::visit([&](const auto& held) { required(view, "view") = shown(held); }, required(matrix, "matrix").held);
  });
}

void quintet_spgemm_free(quintet_spgemm_matrix* matrix) noexcept { delete matrix; }

quintet_status quintet_spgemm_multiply(const quintet_csr* a, const quintet_csr* b, quintet_semiring semiring,
                                       const quintet_spgemm_options* options, const char* device,
                                       quintet_spgemm_report* report, quintet_spgemm_matrix** result) noexcept {
  return product_of(
      a, b, semiring, options, device, report, result,
      []<class Semiring>(Semiring, const auto&... arguments) { return spgemm::multiply<Semiring>(arguments...); });
}

quintet_status quintet_spgemm_multiply_masked(const quintet_csr* a, const quintet_csr* b, const quintet_csr* mask,
                                              quintet_semiring semiring, const quintet_spgemm_options* options,
                                              const char* device, quintet_spgemm_matrix** result) noexcept {
  return product_of(
      a, b, semiring, options, device, nullptr, result,
      [&]<class Semiring, class Value, class Index>(
          Semiring, const spgemm::csr_view<Value, Index>& left, const spgemm::csr_view<Value, Index>& right,
          const spgemm::options& settings, const Device& where, spgemm::report*) {
        return spgemm::multiply_masked<Semiring>(left, right, operand<Value, Index>(mask, "mask"), settings, where);
      });
}

quintet_status quintet_spgemm_multiply_transposed(const quintet_csr* a, const quintet_csr* b, quintet_semiring semiring,
                                                  const quintet_spgemm_options* options, const char* device,
                                                  quintet_spgemm_report* report,
                                                  quintet_spgemm_matrix** result) noexcept {
  return product_of(a, b, semiring, options, device, report, result,
                    []<class Semiring>(Semiring, const auto&... arguments) {
                      return spgemm::multiply_transposed<Semiring>(arguments...);
                    });
}

quintet_status quintet_spgemm_multiply_left_transposed(const quintet_csr* a, const quintet_csr* b,
                                                       quintet_semiring semiring, const quintet_spgemm_options* options,
                                                       const char* device, quintet_spgemm_report* report,
                                                       quintet_spgemm_matrix** result) noexcept {
  return product_of(a, b, semiring, options, device, report, result,
                    []<class Semiring>(Semiring, const auto&... arguments) {
                      return spgemm::multiply_left_transposed<Semiring>(arguments...);
                    });
}

quintet_status quintet_spgemm_multiply_add(double alpha, const quintet_csr* a, const quintet_csr* b, double beta,
                                           const quintet_csr* c, const quintet_spgemm_options* options,
                                           const char* device, quintet_spgemm_report* report,
                                           quintet_spgemm_matrix** result) noexcept {
  return product_of(a, b, QUINTET_PLUS_TIMES, options, device, report, result,
                    [&]<class Semiring, class Value, class Index>(Semiring, const spgemm::csr_view<Value, Index>& left,
                                                                  const spgemm::csr_view<Value, Index>& right,
                                                                  const auto&... others) {
                      return spgemm::multiply_add(Value(alpha), left, right, Value(beta), operand<Value, Index>(c, "c"),
                                                  others...);
                    });
}

quintet_status quintet_spgemm_multiply_complex(const quintet_csr* a, quintet_operand_form form_a, const quintet_csr* b,
                                               quintet_operand_form form_b, const quintet_spgemm_options* options,
                                               const char* device, quintet_spgemm_report* report,
                                               quintet_spgemm_matrix** result) noexcept {
  return make_handle(result, [&] {
    if (report != nullptr) check_struct_size(report->size, sizeof(*report), "report->size");
    const spgemm::complex_forms forms{enumerated<spgemm::operand_form>(form_a, 3, "form_a"),
                                      enumerated<spgemm::operand_form>(form_b, 3, "form_b")};
    return with_complex_types(a, "a", [&]<class Real, class Index> {
      spgemm::report product_report;
      quintet_spgemm_matrix handle{
          spgemm::multiply_complex(complex_operand<Real, Index>(a, "a"), complex_operand<Real, Index>(b, "b"), forms,
                                   product_options(options), chosen_device(device), &product_report)};
      write_report(product_report, report);
      return handle;
    });
  });
}

quintet_status quintet_spgemm_gram(const quintet_csr* matrix, int32_t of_rows, int32_t is_upper,
                                   quintet_semiring semiring, const quintet_spgemm_options* options, const char* device,
                                   quintet_spgemm_report* report, quintet_spgemm_matrix** result) noexcept {
  const auto side = of_rows != 0 ? spgemm::gram_side::rows : spgemm::gram_side::columns;
  const auto part = is_upper != 0 ? spgemm::gram_part::upper : spgemm::gram_part::whole;
  return product_of(matrix, matrix, semiring, options, device, report, result,
                    [&]<class Semiring>(Semiring, const auto& x, const auto&, const auto&... others) {
                      return spgemm::gram<Semiring>(x, side, part, others...);
                    });
}

quintet_status quintet_spgemm_multiply_top(const quintet_csr* a, const quintet_csr* b, quintet_semiring semiring,
                                           int64_t count, const double* threshold, int32_t by_value,
                                           const quintet_spgemm_options* options, const char* device,
                                           quintet_spgemm_report* report, quintet_spgemm_matrix** result) noexcept {
  return product_of(a, b, semiring, options, device, report, result,
                    [&]<class Semiring>(Semiring, const auto& left, const auto& right, const auto&... others) {
                      spgemm::top_selection selection{.count = count, .by_value = by_value != 0};
                      if (threshold != nullptr) selection.threshold = *threshold;
                      return spgemm::multiply_top<Semiring>(left, right, selection, others...);
                    });
}

quintet_status quintet_spgemm_multiply_in_blocks(const quintet_csr* a, const quintet_csr* b, quintet_semiring semiring,
                                                 int64_t budget, const quintet_spgemm_options* options,
                                                 const char* device, quintet_spgemm_block take, void* user) noexcept {
  return guarded([&] {
    if (take == nullptr) throw InvalidArgument("take must not be null");
    with_csr_types(a, "a", [&]<class Value, class Index> {
      with_semiring(semiring, [&]<class Semiring> {
        bool stopped = false;
        const auto pass_on = [&](spgemm::result_block<Value, Index>&& piece) {
          const quintet_csr block = shown(piece.block);
          stopped = take(piece.first_row, piece.first_col, piece.last_col, &block, user) == 0;
          return !stopped;
        };
        spgemm::multiply_in_blocks<Semiring, Value, Index>(operand<Value, Index>(a, "a"), operand<Value, Index>(b, "b"),
                                                           budget, pass_on, product_options(options),
                                                           chosen_device(device));
        if (stopped) throw Cancelled("blocks");
      });
    });
  });
}

quintet_status quintet_spgemm_estimate_product(const quintet_csr* a, const quintet_csr* b,
                                               quintet_spgemm_estimate* estimate) noexcept {
  return guarded([&] {
    check_struct_size(required(estimate, "estimate").size, sizeof(*estimate), "estimate->size");
    with_csr_types(a, "a", [&]<class Value, class Index> {
      const auto sizes = spgemm::estimate(operand<Value, Index>(a, "a"), operand<Value, Index>(b, "b"));
      write_struct({estimate->size, sizes.products, sizes.upper_bound, sizes.predicted_nnz, sizes.upper_bytes,
                    sizes.predicted_bytes, sizes.minimum_budget},
                   estimate, estimate->size, "estimate->size");
    });
  });
}

quintet_status quintet_spgemm_transpose(const quintet_csr* matrix, quintet_spgemm_matrix** result) noexcept {
  return make_handle(result, [&] {
    return with_csr_types(matrix, "matrix", [&]<class Value, class Index> {
      return quintet_spgemm_matrix{spgemm::transpose(operand<Value, Index>(matrix, "matrix"))};
    });
  });
}

quintet_status quintet_spgemm_add(double alpha, const quintet_csr* a, double beta, const quintet_csr* b,
                                  quintet_spgemm_matrix** result) noexcept {
  return make_handle(result, [&] {
    return with_csr_types(a, "a", [&]<class Value, class Index> {
      return quintet_spgemm_matrix{
          spgemm::add(Value(alpha), operand<Value, Index>(a, "a"), Value(beta), operand<Value, Index>(b, "b"))};
    });
  });
}

quintet_status quintet_spgemm_multiply_dense(const quintet_csr* a, const void* x, int64_t n, int64_t x_stride, void* y,
                                             int64_t y_stride, const char* device) noexcept {
  return guarded([&] {
    with_csr_types(a, "a", [&]<class Value, class Index> {
      const auto left = operand<Value, Index>(a, "a");
      spgemm::multiply_dense(left, input_matrix<Value>(x, left.cols, n, x_stride, "x"),
                             output_matrix<Value>(y, left.rows, n, y_stride, "y"), chosen_device(device));
    });
  });
}

quintet_status quintet_spgemm_multiply_dense_transposed(const quintet_csr* a, const void* x, int64_t n,
                                                        int64_t x_stride, void* y, int64_t y_stride,
                                                        const char* device) noexcept {
  return guarded([&] {
    with_csr_types(a, "a", [&]<class Value, class Index> {
      const auto left = operand<Value, Index>(a, "a");
      spgemm::multiply_dense_transposed(left, input_matrix<Value>(x, left.rows, n, x_stride, "x"),
                                        output_matrix<Value>(y, left.cols, n, y_stride, "y"), chosen_device(device));
    });
  });
}

quintet_status quintet_spgemm_multiply_sampled(const quintet_csr* mask, const void* x, int64_t x_stride, const void* y,
                                               int64_t y_stride, int64_t n, void* values, const char* device) noexcept {
  return guarded([&] {
    with_csr_types(mask, "mask", [&]<class Value, class Index> {
      const auto m = operand<Value, Index>(mask, "mask");
      check(m, "mask");
      spgemm::multiply_sampled(m, input_matrix<Value>(x, m.rows, n, x_stride, "x"),
                               input_matrix<Value>(y, m.cols, n, y_stride, "y"),
                               output_matrix<Value>(values, 1, m.nnz(), m.nnz(), "values"), chosen_device(device));
    });
  });
}

}  // extern "C"
