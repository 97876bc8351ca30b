// Reading TrainerSpec. Begin reading at read_sp_trainer.
#include "sources/sentencepiece_trainer.h"

#include "base/wire.h"

namespace parlance {
namespace {

template <typename T>
struct Row {
  std::uint64_t field;
  T SpTrainer::*member;
};
constexpr Row<bool> kFlags[] = {{24, &SpTrainer::whitespace_as_suffix}, {35, &SpTrainer::byte_fallback}};
constexpr Row<std::int32_t> kIds[] = {{40, &SpTrainer::unk_id}, {41, &SpTrainer::bos_id}, {42, &SpTrainer::eos_id}};
constexpr Row<std::string> kTexts[] = {{45, &SpTrainer::unk}, {46, &SpTrainer::bos}, {47, &SpTrainer::eos}};
constexpr std::uint64_t kAlgorithm = 3;

void take_number(const WireField& field, SpTrainer& trainer) {
  if (field.number == kAlgorithm) trainer.algorithm = field.value;
  for (const auto& row : kFlags) {
    if (field.number == row.field) trainer.*row.member = field.value != 0;
  }
  for (const auto& row : kIds) {
    if (field.number == row.field) trainer.*row.member = static_cast<std::int32_t>(field.value & 0xFFFFFFFF);
  }
}

}  // namespace

bool read_sp_trainer(std::string_view message, SpTrainer& trainer) {
  WireReader reader(message);
  for (WireField field; reader.next(field);) {
    if (field.type == WireField::varint) take_number(field, trainer);
    if (field.type != WireField::bytes || field.text.empty()) continue;
    for (const auto& row : kTexts) {
      if (field.number == row.field) trainer.*row.member = field.text;
    }
  }
  return reader.good();
}

}  // namespace parlance
