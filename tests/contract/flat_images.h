#pragma once

#include <string>
#include <vector>

namespace muster::testing {

// Pictures of one level of grey, with a label each.
struct FlatImage {
  int label = 0;
  int level = 0;  // 0 black, 255 white
};

// The pictures of tf_cnn_benchmarks' own tests: half of them black with label "black", half white with the label after
// it.
std::vector<FlatImage> BlackAndWhite(int black = 0);

// Writes them as training and as validation set in CIFAR-10's binary form.
void WriteCifar10(const std::string& folder, const std::vector<FlatImage>& images);

// As ImageNet's record files (PNGs in two files each).
void WriteImagenetRecords(const std::string& folder, const std::vector<FlatImage>& images);

// As folders of ImageNet's classes, named by the label; they are numbered from 1 in the order of their names.
void WriteImagenetFolders(const std::string& folder, const std::vector<FlatImage>& images);

}  // namespace muster::testing
