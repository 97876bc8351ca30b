// Reading TrainerSpec. Begin reading at read_sp_trainer.
#include "sources/sentencepiece_trainer.h"

#include "base/wire.h"

namespace parlance {
namespace {

struct FlagRow {
  std::uint64_t field;
  bool SpTrainer::*member;
};
constexpr FlagRow kFlags[] = {{24, &SpTrainer::whitespace_as_suffix}, {35, &SpTrainer::byte_fallback}};

struct IdRow {
  std::uint64_t field;
  std::int32_t SpTrainer::*member;
};
constexpr IdRow kIds[] = {{40, &SpTrainer::unk_id}, {41, &SpTrainer::bos_id}, {42, &SpTrainer::eos_id}};

struct TextRow {
  std::uint64_t field;
  std::string SpTrainer::*member;
};
constexpr TextRow kTexts[] = {{45, &SpTrainer::unk}, {46, &SpTrainer::bos}, {47, &SpTrainer::eos}};

constexpr std::uint64_t kAlgorithm = 3;

void take_number(const WireField& field, SpTrainer& trainer) {
  if (field.number == kAlgorithm) trainer.algorithm = field.value;
  for (const FlagRow& row : kFlags) {
    if (field.number == row.field) trainer.*row.member = field.value != 0;
  }
  for (const IdRow& row : kIds) {
    if (field.number == row.field) trainer.*row.member = static_cast<std::int32_t>(field.value & 0xFFFFFFFF);
  }
}

}  // namespace

bool read_sp_trainer(std::string_view message, SpTrainer& trainer) {
  WireReader reader(message);
  for (WireField field; reader.next(field);) {
    if (field.type == WireField::varint) take_number(field, trainer);
    if (field.type != WireField::bytes || field.text.empty()) continue;
    for (const TextRow& row : kTexts) {
      if (field.number == row.field) trainer.*row.member = field.text;
    }
  }
  return reader.good();
}

}  // namespace parlance
