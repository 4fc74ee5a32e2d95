// Definitions of program/sparse/sparsity.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/sparse/sparsity.hpp>

namespace agrad::detail {

AGRAD_INLINE set_flow::set_flow(const program& f, const std::vector<std::uint32_t>& required)
    : f_(f),
      operations_(f.code()),
      sets_(required.size()),
      of_(f.size(), index_sets::empty),
      is_zero_(f.size(), 0),
      matters_(f.size(), 1) {
  for (slot s = 0; s < f.fixed().size(); ++s) is_zero_[s] = f.fixed()[s] == 0 ? 1 : 0;
  for (const slot s : f.inputs()) is_zero_[s] = 0;
  for (std::size_t j = 0; j < required.size(); ++j) {
    of_[f.inputs()[required[j]]] = sets_.singleton(static_cast<std::uint32_t>(j));
  }
}

AGRAD_INLINE csr_pattern set_flow::jacobian() {
  for (const operation& op : operations_.operations()) propagate(op);
  std::size_t entries = 0;
  for (const slot s : f_.outputs()) pace_.step(), csr_pattern::check_entries(entries += sets_.elements(of_[s]).size());
  csr_pattern p;
  p.cols = sets_.universe();
  std::vector<csr_pattern::index> row;
  for (const slot s : f_.outputs()) {
    pace_.step();
    const auto elements = sets_.elements(of_[s]);
    row.assign(elements.begin(), elements.end());
    p.append_row(row);
  }
  return p;
}

AGRAD_INLINE csr_pattern set_flow::hessian() {
  interactions meet(sets_);
  meet_ = &meet;
  mark_what_matters();
  for (const operation& op : operations_.operations()) propagate(op);
  return meet.pattern();
}

AGRAD_INLINE slot set_flow::slot_of(const operation& op, std::size_t k, std::size_t i) const {
  return slot_of_entry(f_.code().integers.data(), op.operands[k], i);
}

AGRAD_INLINE set_flow::set set_flow::all_of(const operation& op, std::size_t first) {
  list_.clear();
  for (std::size_t k = first; k < op.arity; ++k)
    for (std::size_t i = 0; i < size_of(op, k); ++i) list_.push_back(at(op, k, i));
  return sets_.unite(list_);
}

AGRAD_INLINE void set_flow::mark_what_matters() {
  std::fill(matters_.begin(), matters_.end(), 0);
  for (const slot s : f_.outputs()) matters_[s] = 1;
  const auto& operations = operations_.operations();
  for (auto op = operations.rbegin(); op != operations.rend(); ++op) {
    if (op->what->depends.how == dependence::on_nothing) continue;
    if (op->count == 0 || std::memchr(matters_.data() + op->result, 1, op->count) == nullptr) continue;
    if (op->what->depends.how == dependence::gathered)
      for (std::size_t i = 0; i < op->count; ++i) matters_[integers(*op)[i]] = 1;
    for (std::size_t k = 0; k < op->arity; ++k)
      for (std::size_t i = 0; i < size_of(*op, k); ++i) matters_[slot_of(*op, k, i)] = 1;
  }
}

AGRAD_INLINE void set_flow::curve(const operation& op, std::size_t i, set a, set b) {
  if (meet_ != nullptr && !op.what->depends.is_linear && matters_[op.result + i] != 0) meet_->add(a, b);
}

AGRAD_INLINE void set_flow::propagate(const operation& op) {
  pace_.step();
  switch (op.what->depends.how) {
    case dependence::on_nothing:
      return;
    case dependence::entrywise:
      return entrywise(op);
    case dependence::gathered:
      return gathered(op);
    case dependence::grouped:
      return along_lines(op, integers(op)[0], 1, op.count);
    case dependence::along_lines:
      return along_lines(op, integers(op)[0], integers(op)[1], op.count);
    case dependence::before_in_line:
    case dependence::across_lines:
    case dependence::within_lines:
      return whole_lines(op, integers(op)[0], integers(op)[1]);
    case dependence::product:
      return product(op, integers(op)[0], integers(op)[1], integers(op)[2], op.result, 0, 0);
    case dependence::products:
      return products(op);
    case dependence::terms:
      return terms(op);
    case dependence::scattered:
      return scattered(op);
    case dependence::looked_up:
      return looked_up(op);
    case dependence::on_everything:
      return on_everything(op);
  }
}

AGRAD_INLINE void set_flow::on_everything(const operation& op) {
  const set all = all_of(op);
  std::fill_n(of_.begin() + op.result, op.count, all);
  for (std::size_t i = 0; i < op.count; ++i) curve(op, i, all, all);
}

AGRAD_INLINE void set_flow::entrywise(const operation& op) {
  const dependence& d = op.what->depends;
  for (std::size_t i = 0; i < op.count; ++i) {
    set all = index_sets::empty;
    bool is_zero_here = false;
    pace_.step();
    for (std::size_t k = 0; k < op.arity; ++k) {
      is_zero_here = is_zero_here || ((d.zero_with >> k & 1U) != 0 && is_zero_[slot_of(op, k, i)] != 0);
      all = sets_.unite(all, at(op, k, i));
    }
    is_zero_[op.result + i] = is_zero_here ? 1 : 0;
    if (is_zero_here) continue;
    of_[op.result + i] = all;
    if (d.is_linear) continue;
    for (std::size_t k = 0; k < op.arity; ++k)
      for (std::size_t l = k; l < op.arity; ++l)
        if ((d.curved[k] >> l & 1U) != 0) curve(op, i, at(op, k, i), at(op, l, i));
  }
}

AGRAD_INLINE void set_flow::gathered(const operation& op) {
  for (std::size_t i = 0; i < op.count; ++i) {
    of_[op.result + i] = of_[integers(op)[i]];
    is_zero_[op.result + i] = is_zero_[integers(op)[i]];
  }
}

AGRAD_INLINE std::size_t set_flow::begin_of_line(std::size_t i, std::size_t length, std::size_t inner) {
  return i / inner * length * inner + i % inner;
}

AGRAD_INLINE set_flow::set set_flow::line(const operation& op, std::size_t begin, std::size_t length, std::size_t inner) {
  list_.clear();
  for (std::size_t k = 0; k < op.arity; ++k)
    for (std::size_t j = 0; j < length; ++j) list_.push_back(at(op, k, begin + j * inner));
  return sets_.unite(list_);
}

AGRAD_INLINE void set_flow::along_lines(const operation& op, std::size_t length, std::size_t inner, std::size_t lines) {
  for (std::size_t i = 0; i < lines; ++i) {
    const set all = line(op, begin_of_line(i, length, inner), length, inner);
    pace_.step();
    of_[op.result + i] = all;
    curve(op, i, all, all);
  }
}

AGRAD_INLINE void set_flow::whole_lines(const operation& op, std::size_t length, std::size_t inner) {
  const bool is_before = op.what->depends.how == dependence::before_in_line;
  const bool has_half = op.what->depends.how == dependence::within_lines;
  const std::size_t entries = has_half ? op.count / 2 : op.count, lines = length == 0 ? 0 : entries / length;
  for (std::size_t i = 0; i < lines; ++i) {
    const std::size_t begin = begin_of_line(i, length, inner);
    set all = is_before ? index_sets::empty : line(op, begin, length, inner);
    for (std::size_t j = 0; j < length; ++j) {
      const std::size_t here = begin + j * inner;
      if (is_before) all = sets_.unite(all, at(op, 0, here));
      pace_.step();
      of_[op.result + here] = all;
      curve(op, here, all, all);
    }
  }
}

AGRAD_INLINE void set_flow::products(const operation& op) {
  const std::uint32_t* n = integers(op);
  for (std::size_t i = 0; i < n[3]; ++i)
    product(op, n[0], n[1], n[2], op.result + i * n[0] * n[2], n[4] != 0 ? i * n[0] * n[1] : 0,
            n[5] != 0 ? i * n[1] * n[2] : 0);
}

AGRAD_INLINE void set_flow::product(const operation& op, std::size_t rows, std::size_t inner, std::size_t cols,
                                    std::size_t result, std::size_t a, std::size_t b) {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) {
      list_.clear();
      pace_.step();
      for (std::size_t k = 0; k < inner; ++k) {
        const slot left = slot_of(op, 0, a + i * inner + k), right = slot_of(op, 1, b + k * cols + j);
        if (is_zero_[left] != 0 || is_zero_[right] != 0) continue;
        add_to_list(of_[left]);
        add_to_list(of_[right]);
      }
      of_[result + i * cols + j] = sets_.unite(list_);
    }
  }
  if (meet_ == nullptr || std::memchr(matters_.data() + result, 1, rows * cols) == nullptr) return;
  for (std::size_t k = 0; k < inner; ++k) {
    std::vector<set> left, right;
    for (std::size_t i = 0; i < rows; ++i) left.push_back(at(op, 0, a + i * inner + k));
    for (std::size_t j = 0; j < cols; ++j) right.push_back(at(op, 1, b + k * cols + j));
    meet_each(left, right);
  }
}

AGRAD_INLINE void set_flow::add_to_list(set s) {
  if (s != index_sets::empty && (list_.empty() || list_.back() != s)) list_.push_back(s);
}

AGRAD_INLINE void set_flow::meet_each(std::vector<set>& left, std::vector<set>& right) {
  for (std::vector<set>* side : {&left, &right}) {
    std::sort(side->begin(), side->end());
    side->erase(std::unique(side->begin(), side->end()), side->end());
  }
  for (const set l : left) {
    pace_.step();
    for (const set r : right) meet_->add(l, r);
  }
}

AGRAD_INLINE void set_flow::terms(const operation& op) {
  for (std::size_t i = 0; meet_ != nullptr && i < integers(op)[0]; ++i) {
    set all = index_sets::empty;
    for (std::size_t k = 0; k < op.arity; ++k) all = sets_.unite(all, at(op, k, i));
    curve(op, 0, all, all);
  }
  of_[op.result] = all_of(op);
}

AGRAD_INLINE void set_flow::scattered(const operation& op) {
  for (std::size_t i = 0; i < op.count; ++i) of_[op.result + i] = at(op, 0, i);
  for (std::size_t i = 0; i < size_of(op, 1); ++i) {
    set& to = of_[op.result + static_cast<std::size_t>(f_.fixed()[slot_of(op, 2, i)])];
    to = sets_.unite(to, at(op, 1, i));
  }
}

AGRAD_INLINE void set_flow::looked_up(const operation& op) {
  const set table = all_of(op, 1);
  for (std::size_t i = 0; i < op.count; ++i) {
    const set all = of_[op.result + i] = sets_.unite(at(op, 0, i), table);
    if (table != index_sets::empty) curve(op, i, all, all);  // piecewise linear for a constant table
  }
}

}  // namespace agrad::detail

namespace agrad {

AGRAD_INLINE std::vector<std::uint32_t> all_inputs(const program& f) {
  std::vector<std::uint32_t> all(f.input_size());
  for (std::size_t j = 0; j < all.size(); ++j) all[j] = static_cast<std::uint32_t>(j);
  return all;
}

AGRAD_INLINE csr_pattern jacobian_pattern(const program& f, const std::vector<std::uint32_t>& required) {
  return detail::set_flow(f, required).jacobian();
}

AGRAD_INLINE csr_pattern hessian_pattern(const program& f, const std::vector<std::uint32_t>& required) {
  return detail::set_flow(f, required).hessian();
}

}  // namespace agrad
