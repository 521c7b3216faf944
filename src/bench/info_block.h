#pragma once

#include <string>
#include <vector>

#include "bench/derived.h"

namespace muster::bench {

// The lines that describe the run, as tf_cnn_benchmarks prints them, except that the first names Muster's version.
std::vector<std::string> InfoBlock(const BenchParams& params, const Derived& derived);

// Texts as Python prints a list of strings and a boolean: "['/cpu:0']", "False".
std::string PythonList(const std::vector<std::string>& items);
std::string PythonBool(bool value);

}  // namespace muster::bench
