#include <cstdio>  // jpeglib.h needs it

#include <jpeglib.h>

#include <jerror.h>

#include <csetjmp>
#include <cstring>

#include <fmt/format.h>

#include "base/check.h"
#include "data/image/decode.h"
#include "muster/error.h"

namespace muster::data {
namespace {

// libjpeg leaves by longjmp when it fails, so nothing with a destructor may live in the functions that call it; they
// work on this, which the caller owns.
struct Decoder {
  jpeg_error_mgr errors{};  // first: the library hands it back
  std::jmp_buf on_error;
  char message[JMSG_LENGTH_MAX] = "";  // of the error, or of the first warning
  bool ended_early = false;
  jpeg_decompress_struct info{};
};

Decoder& DecoderOf(j_common_ptr info) { return *reinterpret_cast<Decoder*>(info->err); }

[[noreturn]] void OnError(j_common_ptr info) {
  Decoder& decoder = DecoderOf(info);
  info->err->format_message(info, decoder.message);
  std::longjmp(decoder.on_error, 1);
}

// Level -1 is a warning, others are tracing. Data that ends too early is an error to us: the library would fill in
// grey.
void OnMessage(j_common_ptr info, int level) {
  if (level >= 0) return;
  if (info->err->msg_code == JWRN_JPEG_EOF || info->err->msg_code == JWRN_HIT_MARKER)
    DecoderOf(info).ended_early = true;
  if (info->err->num_warnings++ == 0) info->err->format_message(info, DecoderOf(info).message);
}

void OpenDecoder(Decoder* decoder, std::string_view bytes) {
  decoder->info.err = jpeg_std_error(&decoder->errors);
  decoder->errors.error_exit = OnError;
  decoder->errors.emit_message = OnMessage;
  jpeg_create_decompress(&decoder->info);
  jpeg_mem_src(&decoder->info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

// Destroyed whatever happens.
class DecoderScope {
 public:
  DecoderScope() = default;
  ~DecoderScope() { jpeg_destroy_decompress(&decoder_.info); }
  DecoderScope(const DecoderScope&) = delete;
  DecoderScope& operator=(const DecoderScope&) = delete;
  Decoder& operator*() { return decoder_; }

 private:
  Decoder decoder_;
};

// Each of these calls the library; false: it failed, and the decoder has the message.
bool ReadHeader(Decoder* decoder, std::string_view bytes) {
  if (setjmp(decoder->on_error) != 0) return false;
  OpenDecoder(decoder, bytes);
  jpeg_read_header(&decoder->info, TRUE);
  return true;
}

bool Start(Decoder* decoder, const DecodeOptions& options) {
  if (setjmp(decoder->on_error) != 0) return false;
  jpeg_decompress_struct& info = decoder->info;
  const bool has_four_inks = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  info.out_color_space = has_four_inks ? JCS_CMYK : JCS_RGB;
  info.dct_method = options.dct_method == DctMethod::kIntegerFast ? JDCT_IFAST : JDCT_ISLOW;
  info.do_fancy_upsampling = options.fancy_upscaling ? TRUE : FALSE;
  jpeg_start_decompress(&info);
  return true;
}

// Narrows to the window as far as blocks allow: the columns that then come out begin at "first".
bool Narrow(Decoder* decoder, const CropWindow& window, JDIMENSION* first) {
  if (setjmp(decoder->on_error) != 0) return false;
  JDIMENSION width = static_cast<JDIMENSION>(window.width);
  *first = static_cast<JDIMENSION>(window.x);
  jpeg_crop_scanline(&decoder->info, first, &width);
  if (window.y > 0) jpeg_skip_scanlines(&decoder->info, static_cast<JDIMENSION>(window.y));
  return true;
}

bool ReadRow(Decoder* decoder, JSAMPLE* row) {
  if (setjmp(decoder->on_error) != 0) return false;
  return jpeg_read_scanlines(&decoder->info, &row, 1) == 1;
}

// Inks to light, as TensorFlow does it: Adobe's programs store inks inverted.
void InksToRgb(const JSAMPLE* inks, int width, bool are_inverted, uint8_t* rgb) {
  for (int x = 0; x < width; ++x, inks += 4, rgb += 3) {
    const int key = are_inverted ? inks[3] : 255 - inks[3];
    for (int c = 0; c < 3; ++c) rgb[c] = static_cast<uint8_t>(key * (are_inverted ? inks[c] : 255 - inks[c]) / 255);
  }
}

[[noreturn]] void Fail(const Decoder& decoder) {
  throw DataLoss(fmt::format("not a whole JPEG image: {}", decoder.message));
}

ImageSize SizeOf(const Decoder& decoder) {
  const ImageSize size{static_cast<int>(decoder.info.image_height), static_cast<int>(decoder.info.image_width)};
  if (int64_t{4} * size.height * size.width > kMaxDecodedBytes)
    throw DataLoss(fmt::format("the image claims {}x{} pixels, which is too large", size.height, size.width));
  return size;
}

void ReadRows(Decoder* decoder, JDIMENSION skipped, RgbImage* image) {
  const jpeg_decompress_struct& info = decoder->info;
  const size_t components = static_cast<size_t>(info.output_components);
  // A window that is as wide as what comes out needs no copy.
  const bool is_direct = components == 3 && static_cast<int>(info.output_width) == image->width;
  std::vector<JSAMPLE> line(is_direct ? 0 : components * info.output_width);
  for (int y = 0; y < image->height; ++y) {
    if (!ReadRow(decoder, is_direct ? image->row(y) : line.data()) || decoder->ended_early) Fail(*decoder);
    if (is_direct) continue;
    const JSAMPLE* const first = line.data() + components * skipped;
    if (components == 4) InksToRgb(first, image->width, info.saw_Adobe_marker != FALSE, image->row(y));
    else std::memcpy(image->row(y), first, static_cast<size_t>(image->width) * 3);
  }
}

}  // namespace

ImageSize ReadJpegSize(std::string_view bytes) {
  DecoderScope scope;
  if (!ReadHeader(&*scope, bytes)) Fail(*scope);
  return SizeOf(*scope);
}

std::string DecodeJpeg(std::string_view bytes, const DecodeOptions& options, const std::optional<CropWindow>& window,
                       RgbImage* image) {
  DecoderScope scope;
  Decoder& decoder = *scope;
  if (!ReadHeader(&decoder, bytes)) Fail(decoder);
  const ImageSize size = SizeOf(decoder);
  MUSTER_CHECK(!window || window->IsInside(size));
  if (!Start(&decoder, options)) Fail(decoder);
  JDIMENSION first = 0;
  if (window && !Narrow(&decoder, *window, &first)) Fail(decoder);
  image->Resize(window ? window->height : size.height, window ? window->width : size.width);
  ReadRows(&decoder, window ? static_cast<JDIMENSION>(window->x) - first : 0, image);
  return decoder.errors.num_warnings > 0 ? decoder.message : "";
}

}  // namespace muster::data
