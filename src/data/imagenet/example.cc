#include "data/imagenet/example.h"

#include <utility>

#include <fmt/format.h>

#include "data/format/proto/example.pb.h"
#include "muster/error.h"

namespace muster::data {
namespace {

constexpr char kEncoded[] = "image/encoded", kLabel[] = "image/class/label";
constexpr std::pair<const char*, float Box::*> kSides[] = {{"image/object/bbox/ymin", &Box::ymin},
                                                           {"image/object/bbox/xmin", &Box::xmin},
                                                           {"image/object/bbox/ymax", &Box::ymax},
                                                           {"image/object/bbox/xmax", &Box::xmax}};

using Features = google::protobuf::Map<std::string, example::Feature>;

example::Feature* Find(Features* features, const char* name) {
  const auto found = features->find(name);
  return found == features->end() ? nullptr : &found->second;
}

std::string TakeEncoded(Features* features) {
  example::Feature* feature = Find(features, kEncoded);
  if (feature == nullptr) throw DataLoss(fmt::format("the record has no feature {}", kEncoded));
  if (feature->bytes_list().value_size() != 1)
    throw DataLoss(fmt::format("feature {} is not one string of bytes", kEncoded));
  return std::move(*feature->mutable_bytes_list()->mutable_value(0));
}

int32_t LabelIn(Features* features, int num_classes) {
  const example::Feature* feature = Find(features, kLabel);
  if (feature == nullptr) throw DataLoss(fmt::format("the record has no feature {}", kLabel));
  if (feature->int64_list().value_size() != 1) throw DataLoss(fmt::format("feature {} is not one integer", kLabel));
  const int64_t label = feature->int64_list().value(0);
  if (label < 0 || label >= num_classes)
    throw DataLoss(fmt::format("feature {} is {}; 0 to {} was expected", kLabel, label, num_classes - 1));
  return static_cast<int32_t>(label);
}

std::vector<Box> BoxesIn(Features* features) {
  std::vector<Box> boxes;
  for (const auto& [name, side] : kSides) {
    const example::Feature* feature = Find(features, name);
    const int count = feature == nullptr ? 0 : feature->float_list().value_size();
    if (side == &Box::ymin) boxes.resize(static_cast<size_t>(count));
    if (static_cast<size_t>(count) != boxes.size())
      throw DataLoss(fmt::format("feature {} has {} values, {} has {}", name, count, kSides[0].first, boxes.size()));
    for (int i = 0; i < count; ++i) boxes[static_cast<size_t>(i)].*side = feature->float_list().value(i);
  }
  return boxes;
}

}  // namespace

EncodedImage ParseImageExample(std::string_view record, int num_classes) {
  example::Example parsed;
  if (record.size() > INT32_MAX || !parsed.ParseFromArray(record.data(), static_cast<int>(record.size())))
    throw DataLoss("the record is no tf.train.Example");
  Features* features = parsed.mutable_features()->mutable_feature();
  EncodedImage image;
  image.label = LabelIn(features, num_classes);
  image.boxes = BoxesIn(features);
  image.bytes = TakeEncoded(features);
  return image;
}

std::string MakeImageExample(const EncodedImage& image) {
  example::Example made;
  Features& features = *made.mutable_features()->mutable_feature();
  features[kEncoded].mutable_bytes_list()->add_value(image.bytes);
  features[kLabel].mutable_int64_list()->add_value(image.label);
  for (const auto& [name, side] : kSides) {
    auto* values = features[name].mutable_float_list();
    for (const Box& box : image.boxes) values->add_value(box.*side);
  }
  return made.SerializeAsString();
}

}  // namespace muster::data
