#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "muster/profile.h"

namespace muster {
namespace {

// One kind of operation: means over the steps.
struct Row {
  std::string op;
  double bytes = 0, accelerator = 0, cpu = 0;  // microseconds
  double all() const { return accelerator + cpu; }
};

std::string Time(double micros) {
  if (micros < 1e3) return fmt::format("{:.0f}us", micros);
  return micros < 1e6 ? fmt::format("{:.2f}ms", micros / 1e3) : fmt::format("{:.2f}sec", micros / 1e6);
}

std::string Bytes(double bytes) {
  return bytes < 1e6 ? fmt::format("{:.2f}KB", bytes / 1e3) : fmt::format("{:.2f}MB", bytes / 1e6);
}

// "3.45ms (100.00%, 17.20%)": the share of this row and all below it, and of this row alone.
template <typename Value, typename Text>
std::string Cell(const std::vector<Row>& rows, size_t at, Value value, Text text) {
  double sum = 0, rest = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    sum += value(rows[i]);
    if (i >= at) rest += value(rows[i]);
  }
  const auto percent = [sum](double part) { return sum > 0 ? 100 * part / sum : 0.0; };
  return fmt::format("{} ({:.2f}%, {:.2f}%)", text(value(rows[at])), percent(rest), percent(value(rows[at])));
}

}  // namespace

std::string Profile::OperationTable(int most) const {
  std::map<std::string, Row> by_op;
  const double steps = std::max(1, num_steps());
  for (const Operation& operation : operations_) {
    if (operation.runs.empty()) continue;
    Row& row = by_op[operation.op];
    row.op = operation.op;
    for (const auto& [step, runs] : operation.runs) {
      row.bytes += static_cast<double>(operation.output_bytes) / steps;
      for (const Run& run : runs)
        (IsAccelerator(operation) ? row.accelerator : row.cpu) += static_cast<double>(run.micros) / steps;
    }
  }
  std::vector<Row> rows;
  for (auto& [op, row] : by_op) rows.push_back(row);
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.accelerator != b.accelerator ? a.accelerator > b.accelerator : a.all() > b.all();
  });
  std::string text =
      "Profile:\nnode name | output bytes | total execution time | accelerator execution time | cpu execution time";
  for (size_t i = 0; i < std::min(rows.size(), static_cast<size_t>(most)); ++i)
    text += fmt::format("\n{:<30} {:>28}, {:>28}, {:>28}, {:>28}", rows[i].op,
                        Cell(
                            rows, i, [](const Row& r) { return r.bytes; }, Bytes),
                        Cell(
                            rows, i, [](const Row& r) { return r.all(); }, Time),
                        Cell(
                            rows, i, [](const Row& r) { return r.accelerator; }, Time),
                        Cell(
                            rows, i, [](const Row& r) { return r.cpu; }, Time));
  return text;
}

}  // namespace muster
