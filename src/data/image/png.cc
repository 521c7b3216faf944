#include <png.h>

#include <csetjmp>
#include <cstring>

#include <fmt/format.h>

#include "data/image/decode.h"
#include "muster/error.h"

namespace muster::data {
namespace {

// libpng leaves by longjmp when it fails, so nothing with a destructor may live in the functions that call it.
struct Decoder {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::string_view rest;   // bytes that were not read yet
  char message[200] = "";  // of the error, or of the first warning
  bool warned = false;
};

void Keep(Decoder* decoder, const char* message) {
  std::snprintf(decoder->message, sizeof decoder->message, "%s", message);
}

[[noreturn]] void OnError(png_structp png, png_const_charp message) {
  Keep(static_cast<Decoder*>(png_get_error_ptr(png)), message);
  png_longjmp(png, 1);
}

void OnWarning(png_structp png, png_const_charp message) {
  auto* decoder = static_cast<Decoder*>(png_get_error_ptr(png));
  if (!decoder->warned) Keep(decoder, message);
  decoder->warned = true;
}

void Read(png_structp png, png_bytep out, size_t size) {
  auto* decoder = static_cast<Decoder*>(png_get_io_ptr(png));
  if (size > decoder->rest.size()) png_error(png, "the data ends too early");
  std::memcpy(out, decoder->rest.data(), size);
  decoder->rest.remove_prefix(size);
}

class DecoderScope {
 public:
  explicit DecoderScope(std::string_view bytes) {
    decoder_.rest = bytes;
    decoder_.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &decoder_, OnError, OnWarning);
    if (decoder_.png != nullptr) decoder_.info = png_create_info_struct(decoder_.png);
    if (decoder_.info == nullptr) throw Error(Code::kResourceExhausted, "no memory to decode a PNG image");
  }
  ~DecoderScope() { png_destroy_read_struct(&decoder_.png, &decoder_.info, nullptr); }
  DecoderScope(const DecoderScope&) = delete;
  DecoderScope& operator=(const DecoderScope&) = delete;
  Decoder& operator*() { return decoder_; }

 private:
  Decoder decoder_;
};

// Each of these calls the library; false: it failed, and the decoder has the message.
bool ReadHeader(Decoder* decoder) {
  if (setjmp(png_jmpbuf(decoder->png)) != 0) return false;
  png_set_read_fn(decoder->png, decoder, Read);
  png_read_info(decoder->png, decoder->info);
  return true;
}

// Whatever is stored becomes eight bits of red, green and blue. Colours are taken as they are, without their gamma.
bool AskForRgb(Decoder* decoder) {
  if (setjmp(png_jmpbuf(decoder->png)) != 0) return false;
  png_set_strip_16(decoder->png);
  png_set_expand(decoder->png);
  png_set_strip_alpha(decoder->png);
  png_set_gray_to_rgb(decoder->png);
  png_set_interlace_handling(decoder->png);
  png_read_update_info(decoder->png, decoder->info);
  return true;
}

bool ReadRows(Decoder* decoder, png_bytepp rows) {
  if (setjmp(png_jmpbuf(decoder->png)) != 0) return false;
  png_read_image(decoder->png, rows);
  png_read_end(decoder->png, nullptr);
  return true;
}

[[noreturn]] void Fail(const Decoder& decoder) {
  throw DataLoss(fmt::format("not a whole PNG image: {}", decoder.message));
}

ImageSize SizeOf(const Decoder& decoder) {
  const int64_t height = png_get_image_height(decoder.png, decoder.info),
                width = png_get_image_width(decoder.png, decoder.info);
  if (height > kMaxDecodedBytes / 4 / width)
    throw DataLoss(fmt::format("the image claims {}x{} pixels, which is too large", height, width));
  return {static_cast<int>(height), static_cast<int>(width)};
}

}  // namespace

ImageSize ReadPngSize(std::string_view bytes) {
  DecoderScope scope(bytes);
  if (!ReadHeader(&*scope)) Fail(*scope);
  return SizeOf(*scope);
}

std::string DecodePng(std::string_view bytes, RgbImage* image) {
  DecoderScope scope(bytes);
  Decoder& decoder = *scope;
  if (!ReadHeader(&decoder)) Fail(decoder);
  const ImageSize size = SizeOf(decoder);
  if (!AskForRgb(&decoder)) Fail(decoder);
  image->Resize(size.height, size.width);
  if (png_get_rowbytes(decoder.png, decoder.info) != static_cast<size_t>(size.width) * 3)
    throw DataLoss("a PNG image of an unknown kind");
  std::vector<png_bytep> rows;
  for (int y = 0; y < size.height; ++y) rows.push_back(image->row(y));
  if (!ReadRows(&decoder, rows.data())) Fail(decoder);
  return decoder.warned ? decoder.message : "";
}

}  // namespace muster::data
