// gzip by zlib, zstd by libzstd; see archive.h. Compiled for each program, with what it is linked with.
#include "cli/lines/archive.h"

#include <array>
#include <utility>

#ifdef PARLANCE_HAS_ZLIB
#include <zlib.h>
#endif
#ifdef PARLANCE_HAS_ZSTD
#include <zstd.h>
#endif

namespace parlance::cli {

Packing packing_of(std::string_view path) {
  return path.ends_with(".gz") ? Packing::gzip : path.ends_with(".zst") ? Packing::zstd : Packing::none;
}

Packing packing_of_bytes(std::string_view begin) {
  return begin.starts_with("\x1F\x8B")           ? Packing::gzip
         : begin.starts_with("\x28\xB5\x2F\xFD") ? Packing::zstd
                                                 : Packing::none;
}

namespace {

#if defined(PARLANCE_HAS_ZLIB) || defined(PARLANCE_HAS_ZSTD)
constexpr std::size_t kPiece = std::size_t{1} << 16;

Error damaged(const std::string& name, std::uint64_t at, const std::string& why, std::string hint = {}) {
  return Error(ErrorCode::file, name + ": at byte " + std::to_string(at) + " of the compressed file: " + why)
      .hint(std::move(hint));
}

constexpr const char* kCutOff = "the file is cut off: its data goes on, and the file does not";
constexpr const char* kNot = "is the file what its name's ending says?";
#endif

#ifdef PARLANCE_HAS_ZLIB
constexpr int kGzipOnly = 15 + 16;  // zlib's own way to say so

/// A file of gzip is one member or several; zeros may follow the last.
class Gunzip final : public Filter {
 public:
  explicit Gunzip(std::string name) : name_(std::move(name)) { inflateInit2(&stream_, kGzipOnly); }
  ~Gunzip() override { inflateEnd(&stream_); }

  Result<void> feed(std::string_view bytes, const Pour& pour) override {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    while (stream_.avail_in > 0) {
      if (ended_ && !begin_next()) break;
      stream_.next_out = reinterpret_cast<Bytef*>(piece_.data());
      stream_.avail_out = kPiece;
      const uInt before = stream_.avail_in;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      taken_ += before - stream_.avail_in;
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) return wrong();
      begun_ = true;
      ended_ = status == Z_STREAM_END;
      if (!pour({piece_.data(), kPiece - stream_.avail_out})) return {};
    }
    return {};
  }
  Result<void> finish(const Pour&) override { return ended_ ? Result<void>() : damaged(name_, taken_, kCutOff); }

 private:
  /// The next member, unless only zeros are left.
  bool begin_next() {
    while (stream_.avail_in > 0 && *stream_.next_in == 0) ++stream_.next_in, --stream_.avail_in, ++taken_;
    if (stream_.avail_in == 0) return false;
    inflateReset(&stream_);
    ended_ = false;
    return true;
  }
  Error wrong() const {
    const std::string why =
        stream_.msg == nullptr ? "the gzip data is damaged" : std::string("no gzip data: ") + stream_.msg;
    return damaged(name_, taken_, why, begun_ ? "" : kNot);
  }

  std::string name_;
  z_stream stream_{};
  std::array<char, kPiece> piece_;
  std::uint64_t taken_ = 0;
  bool begun_ = false;
  bool ended_ = false;
};

class Gzip final : public Filter {
 public:
  Gzip() { deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipOnly, 8, Z_DEFAULT_STRATEGY); }
  ~Gzip() override { deflateEnd(&stream_); }
  Result<void> feed(std::string_view bytes, const Pour& pour) override { return run(bytes, Z_NO_FLUSH, pour); }
  Result<void> finish(const Pour& pour) override { return run({}, Z_FINISH, pour); }

 private:
  Result<void> run(std::string_view bytes, int flush, const Pour& pour) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(piece_.data());
      stream_.avail_out = kPiece;
      deflate(&stream_, flush);
      if (!pour({piece_.data(), kPiece - stream_.avail_out})) return {};
    } while (stream_.avail_out == 0);
    return {};
  }

  z_stream stream_{};
  std::array<char, kPiece> piece_;
};
#endif

#ifdef PARLANCE_HAS_ZSTD
/// A file of zstd is one frame or several.
class Unzstd final : public Filter {
 public:
  explicit Unzstd(std::string name) : name_(std::move(name)), context_(ZSTD_createDCtx()) {
    ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, kLargestWindow);
  }
  ~Unzstd() override { ZSTD_freeDCtx(context_); }

  Result<void> feed(std::string_view bytes, const Pour& pour) override {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    bool more = false;  // of the output, where a piece was not enough
    while (in.pos < in.size || more) {
      ZSTD_outBuffer out{piece_.data(), kPiece, 0};
      const std::size_t before = in.pos;
      const std::size_t wanted = ZSTD_decompressStream(context_, &out, &in);
      taken_ += in.pos - before;
      if (ZSTD_isError(wanted))
        return damaged(name_, taken_, std::string("no zstd data: ") + ZSTD_getErrorName(wanted), begun_ ? "" : kNot);
      begun_ = true;
      ended_ = wanted == 0;
      if (!pour({piece_.data(), out.pos})) return {};
      more = out.pos == kPiece && !ended_;
    }
    return {};
  }
  Result<void> finish(const Pour&) override { return ended_ ? Result<void>() : damaged(name_, taken_, kCutOff); }

 private:
  static constexpr int kLargestWindow = 27;  // 128 MiB, as the program `zstd` has it

  std::string name_;
  ZSTD_DCtx* context_;
  std::array<char, kPiece> piece_;
  std::uint64_t taken_ = 0;
  bool begun_ = false;
  bool ended_ = false;
};

class Zstd final : public Filter {
 public:
  Zstd() : context_(ZSTD_createCCtx()) { ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1); }
  ~Zstd() override { ZSTD_freeCCtx(context_); }
  Result<void> feed(std::string_view bytes, const Pour& pour) override { return run(bytes, ZSTD_e_continue, pour); }
  Result<void> finish(const Pour& pour) override { return run({}, ZSTD_e_end, pour); }

 private:
  Result<void> run(std::string_view bytes, ZSTD_EndDirective end, const Pour& pour) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (bool done = false; !done;) {
      ZSTD_outBuffer out{piece_.data(), kPiece, 0};
      const std::size_t left = ZSTD_compressStream2(context_, &out, &in, end);
      done = end == ZSTD_e_end ? left == 0 : in.pos == in.size;
      if (!pour({piece_.data(), out.pos})) return {};
    }
    return {};
  }

  ZSTD_CCtx* context_;
  std::array<char, kPiece> piece_;
};
#endif

template <typename Unpack, typename Pack>
std::unique_ptr<Filter> one_of(Direction direction, std::string name) {
  if (direction == Direction::pack) return std::make_unique<Pack>();
  return std::make_unique<Unpack>(std::move(name));
}

}  // namespace

Result<std::unique_ptr<Filter>> make_filter(Packing packing, [[maybe_unused]] Direction direction, std::string name) {
#ifdef PARLANCE_HAS_ZLIB
  if (packing == Packing::gzip) return one_of<Gunzip, Gzip>(direction, std::move(name));
#endif
#ifdef PARLANCE_HAS_ZSTD
  if (packing == Packing::zstd) return one_of<Unzstd, Zstd>(direction, std::move(name));
#endif
  return Error(ErrorCode::file,
               name + ": this build reads and writes no " + (packing == Packing::gzip ? ".gz" : ".zst"))
      .hint(packing == Packing::gzip ? "it was built without zlib: zcat FILE | parlance …"
                                     : "it was built without libzstd: zstdcat FILE | parlance …");
}

}  // namespace parlance::cli
