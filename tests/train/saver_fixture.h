#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/file.h"
#include "muster/saver.h"
#include "muster/session.h"
#include "muster/variables.h"
#include "tests/testing/idx_files.h"

namespace muster::train {

// A counter and some weights.
struct SavedModel {
  explicit SavedModel(Shape shape = {2, 3}) : scope(&graph) {
    step = GlobalStep(scope);
    weights = GetVariable(scope, {"w", DType::kFloat32, shape, initializers::Ones()});
    session = std::make_unique<Session>(&graph, SessionOptions{.intra_op_threads = 1, .backend = "reference"});
    session->Initialize();
  }
  void Set(float value, int64_t at) {
    Tensor tensor(DType::kFloat32, graph.shape(weights));
    std::ranges::fill(tensor.data<float>(), value);
    session->WriteVariable(weights, tensor);
    session->WriteVariable(step, Tensor::Scalar<int64_t>(at));
  }
  float value() { return session->ReadVariable(weights).data<float>()[0]; }

  Graph graph;
  Scope scope;
  Variable step, weights;
  std::unique_ptr<Session> session;
};

class SaverTest : public ::testing::Test {
 protected:
  std::string Prefix() const { return (folder_.path() / "model.ckpt").string(); }
  std::string Folder() const { return folder_.path().string(); }
  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
  }
  void SaveAt(Saver& saver, int64_t step) {
    model_.Set(static_cast<float>(step), step);
    saver.Save(*model_.session, Prefix(), step);
  }
  void Damage(const std::string& file) const {
    std::string bytes = ReadFile((folder_.path() / file).string());
    bytes.at(10) = static_cast<char>(bytes.at(10) ^ 1);
    std::ofstream(folder_.path() / file, std::ios::binary) << bytes;
  }

  testing::TempFolder folder_;
  SavedModel model_;
};

}  // namespace muster::train
