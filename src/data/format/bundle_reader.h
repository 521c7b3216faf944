#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/input_file.h"
#include "data/format/bundle.h"
#include "muster/tensor.h"

namespace muster::data {

// Reads a checkpoint. What it reads it verifies: every failure throws Error with one line naming file, tensor and byte.
// Takes no more memory than the files' sizes account for, whatever they claim. Reading is const: any number of threads.
class BundleReader {
 public:
  // Reads the index. NotFound if there is none, DataLoss if it is damaged or two tensors claim the same bytes.
  explicit BundleReader(std::string prefix);

  // All tensors by name; those that are kept in slices once, as a whole.
  const std::vector<BundleEntry>& entries() const { return entries_; }
  const BundleEntry* Find(std::string_view name) const;  // null: none
  int num_shards() const { return num_shards_; }
  const std::string& prefix() const { return prefix_; }

  // The value of a tensor. NotFound without one; Unimplemented for types that Muster does not have.
  Tensor Read(std::string_view name) const;
  // The elements of a tensor of strings.
  std::vector<std::string> ReadStrings(std::string_view name) const;
  // Reads the bytes of a tensor of any type and compares their checksum; of slices also that they are the whole tensor.
  void Verify(const BundleEntry& entry) const;
  // Verifies what of the index is not needed to read the checkpoint.
  void VerifyIndex() const;

 private:
  void ParseIndex();
  void RefuseSharedBytes() const;
  const BundleEntry& Get(std::string_view name) const;
  const BundleEntry& GetSlice(const BundleEntry& whole, const TensorSlice& slice) const;
  void CheckExtent(const BundleEntry& entry) const;
  void CheckSlices(const BundleEntry& whole) const;
  const InputFile& ShardOf(const BundleEntry& entry) const;
  void ReadBytes(const BundleEntry& entry, char* out) const;
  std::vector<std::string> StringsOf(const BundleEntry& entry) const;
  std::string Where(const BundleEntry& entry) const;

  std::string prefix_;
  int num_shards_ = 0;
  std::vector<BundleEntry> entries_;
  std::map<std::string, BundleEntry, std::less<>> slices_;  // by key
  std::vector<std::unique_ptr<InputFile>> shards_;          // null: there is no such file
};

}  // namespace muster::data
