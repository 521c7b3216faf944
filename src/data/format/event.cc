#include "data/format/event.h"

#include <fmt/format.h>

#include "base/check.h"
#include "data/format/proto/event.pb.h"
#include "muster/error.h"

namespace muster::data {
namespace {

void SetHistogram(const HistogramValue& value, event::HistogramProto* out) {
  out->set_min(value.min);
  out->set_max(value.max);
  out->set_num(value.num);
  out->set_sum(value.sum);
  out->set_sum_squares(value.sum_squares);
  out->mutable_bucket_limit()->Add(value.limits.begin(), value.limits.end());
  out->mutable_bucket()->Add(value.counts.begin(), value.counts.end());
}

void SetValue(const SummaryValue& value, event::Summary::Value* out) {
  out->set_tag(value.tag);
  if (const auto* number = std::get_if<float>(&value.value)) {
    out->set_simple_value(*number);
  } else if (const auto* histogram = std::get_if<HistogramValue>(&value.value)) {
    SetHistogram(*histogram, out->mutable_histo());
  } else if (const auto* image = std::get_if<SummaryImage>(&value.value)) {
    out->mutable_image()->set_height(image->height);
    out->mutable_image()->set_width(image->width);
    out->mutable_image()->set_colorspace(image->channels);
    out->mutable_image()->set_encoded_image_string(image->encoded);
  } else {
    out->set_tensor(std::get<std::string>(value.value));
  }
}

SummaryValue ParseValue(const event::Summary::Value& message) {
  SummaryValue value{message.tag(), std::string(message.tensor())};
  if (message.value_case() == event::Summary::Value::kSimpleValue) {
    value.value = message.simple_value();
  } else if (message.value_case() == event::Summary::Value::kHisto) {
    const event::HistogramProto& h = message.histo();
    value.value = HistogramValue{h.min(),
                                 h.max(),
                                 h.num(),
                                 h.sum(),
                                 h.sum_squares(),
                                 {h.bucket_limit().begin(), h.bucket_limit().end()},
                                 {h.bucket().begin(), h.bucket().end()}};
  } else if (message.value_case() == event::Summary::Value::kImage) {
    const event::Summary::Image& image = message.image();
    value.value = SummaryImage{image.height(), image.width(), image.colorspace(), image.encoded_image_string()};
  }
  return value;
}

void SetWhat(const Event& e, event::Event* out) {
  switch (e.kind) {
    case Event::Kind::kNothing: break;
    case Event::Kind::kFileVersion: out->set_file_version(e.bytes); break;
    case Event::Kind::kGraph: out->set_graph_def(e.bytes); break;
    case Event::Kind::kMetaGraph: out->set_meta_graph_def(e.bytes); break;
    case Event::Kind::kLogMessage: out->mutable_log_message()->set_message(e.bytes); break;
    case Event::Kind::kSummary:
      out->mutable_summary();
      for (const SummaryValue& value : e.values) SetValue(value, out->mutable_summary()->add_value());
      break;
    case Event::Kind::kRunMetadata:
      out->mutable_tagged_run_metadata()->set_tag(e.tag);
      out->mutable_tagged_run_metadata()->set_run_metadata(e.bytes);
      break;
    case Event::Kind::kSessionLog:
      out->mutable_session_log()->set_status(static_cast<event::SessionLog::SessionStatus>(e.status));
      out->mutable_session_log()->set_checkpoint_path(e.path);
      break;
  }
}

}  // namespace

std::string EventBytes(const Event& e) {
  event::Event message;
  message.set_wall_time(e.wall_time);
  message.set_step(e.step);
  SetWhat(e, &message);
  return message.SerializeAsString();
}

Event ParseEvent(std::string_view bytes, const std::string& where) {
  event::Event message;
  if (bytes.size() > INT32_MAX || !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw DataLoss(fmt::format("{}: is no Event; this is no event file", where));
  Event e{.wall_time = message.wall_time(), .step = message.step()};
  switch (message.what_case()) {
    case event::Event::kFileVersion: e.kind = Event::Kind::kFileVersion, e.bytes = message.file_version(); break;
    case event::Event::kGraphDef: e.kind = Event::Kind::kGraph, e.bytes = message.graph_def(); break;
    case event::Event::kMetaGraphDef: e.kind = Event::Kind::kMetaGraph, e.bytes = message.meta_graph_def(); break;
    case event::Event::kLogMessage: e.kind = Event::Kind::kLogMessage, e.bytes = message.log_message().message(); break;
    case event::Event::kSummary:
      e.kind = Event::Kind::kSummary;
      for (const auto& value : message.summary().value()) e.values.push_back(ParseValue(value));
      break;
    case event::Event::kTaggedRunMetadata:
      e.kind = Event::Kind::kRunMetadata;
      e.tag = message.tagged_run_metadata().tag();
      e.bytes = message.tagged_run_metadata().run_metadata();
      break;
    case event::Event::kSessionLog:
      e.kind = Event::Kind::kSessionLog;
      e.status = message.session_log().status();
      e.path = message.session_log().checkpoint_path();
      break;
    case event::Event::WHAT_NOT_SET: break;
  }
  return e;
}

}  // namespace muster::data
