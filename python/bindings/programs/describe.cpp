// Inspection of programs in Python: text, drawing, profile with the user's lines.
//
// A watch stores lines while a function is recorded, on request only; the slots' places in the program
// (program/schedule/schedule.hpp) then give the lines of the program's operations.
#include <pybind11/stl.h>

#include <agrad/program/inspect/describe.hpp>
#include <agrad/program/inspect/dot.hpp>
#include <agrad/program/inspect/profile.hpp>
#include <agrad/program/schedule/schedule.hpp>
#include <agrad/solve/system/jumps/held_code.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../arrays/array.hpp"
#include "pool.hpp"
#include "run.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

// ---- lines

/// Stores the user's line of each operation.
class line_watch final : public operation_watch {
 public:
  line_watch() = default;
  line_watch(const line_watch&) = delete;
  line_watch& operator=(const line_watch&) = delete;
  ~line_watch() override {
    const lock_held locked;
    lines.clear();
  }

  void after_input(const double*, std::size_t) override {}
  void after_forward(const operation&, std::size_t index, const double*) override {
    const lock_held locked;
    lines.resize(index + 1);
    lines[index] = user_place();
  }
  void after_reverse(const operation&, std::size_t, const double*, const double*) override {}

  std::vector<source_place> lines;  // by operation
};

/// Lines of a program: the number of each slot's line, 0 for none.
struct source_lines {
  std::vector<source_place> lines{{}};
  std::vector<std::uint32_t> of_slot;

  std::uint32_t number_of(const source_place& place) {
    for (std::size_t i = lines.size(); i-- > 1;)  // usually the last line
      if (lines[i].line == place.line && lines[i].code.is(place.code)) return static_cast<std::uint32_t>(i);
    lines.push_back(place);
    return static_cast<std::uint32_t>(lines.size() - 1);
  }
};

std::pair<std::shared_ptr<pooled_program>, std::shared_ptr<source_lines>> program_with_lines(const recording& r,
                                                                                             const array& output) {
  const auto* watch = dynamic_cast<const line_watch*>(r.watching.get());
  if (watch == nullptr)
    throw std::logic_error("program_with_lines: lines are not known, but must be noted by note_lines before");
  std::vector<slot> places;
  auto made = std::make_shared<pooled_program>(schedule(r.code, output.slots(), places));
  auto lines = std::make_shared<source_lines>();
  lines->of_slot.assign(made->code->size(), 0);
  const auto& operations = r.code.code().operations;
  for (std::size_t i = 0; i < operations.size() && i < watch->lines.size(); ++i) {
    if (!watch->lines[i].code || lines->of_slot.empty()) continue;
    const std::uint32_t number = lines->number_of(watch->lines[i]);
    for (std::uint32_t k = 0; k < operations[i].count; ++k) {
      std::uint32_t& line = lines->of_slot[places[operations[i].result + k]];
      if (line == 0) line = number;  // equal operations, merged, belong to the first line
    }
  }
  return {std::move(made), std::move(lines)};
}

/// Returns the held comparisons of a right-hand side (solve/system/jumps/held_code.hpp): text, file and line.
py::list switch_lines(const pooled_program& f, const source_lines& lines, std::size_t states) {
  py::list found;
  for (const held_entry& each : held_code_of(*f.code, states).entries) {
    const source_place& place = lines.lines[lines.of_slot[each.result]];
    if (place.code) found.append(py::make_tuple(each.text, place.file(), place.line));
  }
  return found;
}

// ---- profile

/// Times of one line in operations of one kind.
struct profile_row {
  std::size_t operations = 0, entries = 0;
  double forward = 0, backward = 0;
};

/// Returns the operations' times by line and name; the time of an operation with entries from several lines is divided among
/// these lines.
std::map<std::pair<std::uint32_t, std::string>, profile_row> by_line(const program_profile& p, const source_lines& lines) {
  std::map<std::pair<std::uint32_t, std::string>, profile_row> rows;
  std::map<slot, std::uint32_t> readers;  // by operand, for copies without a line, made for an operation
  for (const profiled_operation& op : p.operations)
    for (const slot s : op.reads)
      if (op.count > 0) readers.try_emplace(s, lines.of_slot[op.result]);
  const auto line_of = [&](const profiled_operation& op, slot s) {
    if (lines.of_slot[s] != 0) return lines.of_slot[s];
    const auto reader = readers.find(op.result);
    return reader != readers.end() && reader->second != 0 ? reader->second : lines.of_slot[op.first_read];
  };
  for (const profiled_operation& op : p.operations) {
    std::map<std::uint32_t, std::size_t> entries;  // by line
    for (std::uint32_t k = 0; k < op.count; ++k) ++entries[line_of(op, op.result + k)];
    if (op.count == 0) entries[op.first_read < lines.of_slot.size() ? lines.of_slot[op.first_read] : 0] = 0;
    for (const auto& [line, n] : entries) {
      const double share = op.count == 0 ? 1.0 : static_cast<double>(n) / op.count;
      profile_row& row = rows[{line, op.name}];
      row.operations += 1;
      row.entries += n;
      row.forward += share * op.forward;
      row.backward += share * op.backward;
    }
  }
  return rows;
}

py::object profile_of(const pooled_program& f, const std::vector<doubles>& inputs, const source_lines& lines,
                      std::size_t repeats) {
  const std::vector<double> x = joined(*f.code, inputs), seeds(f.code->output_size(), 1.0);
  program_profile p;
  const bool done = on_path([&] {
    const auto w = f.workspaces.acquire();
    p = profile(*f.code, *w, x.data(), seeds.data(), repeats);
  });
  if (!done) return py::none();
  py::list rows;
  for (const auto& [key, row] : by_line(p, lines)) {
    const source_place& place = lines.lines[key.first];
    rows.append(py::make_tuple(key.second, row.operations, row.entries, row.forward, row.backward, place.file(), place.line));
  }
  return py::make_tuple(p.forward, p.backward, rows);
}

// ---- text

py::dict summary(const pooled_program& f) {
  const program_summary s = summary_of(*f.code);
  py::dict d;
  d["inputs"] = s.inputs;
  d["outputs"] = s.outputs;
  d["operations"] = s.operations;
  d["dispatches"] = s.dispatches;
  d["spans"] = s.spans;
  d["longest_span"] = s.longest_span;
  d["guards"] = s.guards;
  d["levels"] = s.levels;
  d["flops"] = s.flops;
  d["depth"] = s.depth;
  d["constants"] = s.constants;
  d["program_bytes"] = s.program_bytes;
  d["workspace_bytes"] = s.workspace_bytes;
  d["groups"] = s.groups;
  d["grouped"] = s.grouped;
  d["bytes_apart"] = s.bytes_apart;
  d["bytes_in_tiles"] = s.bytes_in_tiles;
  d["sums"] = s.sums;
  d["replaced"] = s.replaced;
  py::dict kinds;
  for (const kind_summary& kind : s.kinds)
    kinds[py::str(kind.name)] = py::make_tuple(kind.operations, kind.entries, kind.flops, kind.bytes);
  d["kinds"] = kinds;
  return d;
}

std::string drawn(const pooled_program& f, const std::vector<std::pair<std::string, std::size_t>>& inputs,
                  const std::vector<std::pair<std::string, std::size_t>>& outputs) {
  const auto groups = [](const auto& named, std::size_t all) {
    std::vector<drawn_group> made;
    std::size_t size = 0;
    for (const auto& [name, n] : named) made.push_back({name, n}), size += n;
    if (size != all) throw ShapeError("to_dot: inputs and outputs must name all inputs and outputs of the program");
    return made;
  };
  return to_dot(*f.code, groups(inputs, f.code->input_size()), groups(outputs, f.code->output_size()));
}

}  // namespace

void register_describe(py::module_& m) {
  py::class_<source_lines, std::shared_ptr<source_lines>>(m, "SourceLines", "The user's lines of a program's operations.");
  auto recordings = py::reinterpret_borrow<py::class_<recording, std::shared_ptr<recording>>>(m.attr("Recording"));
  recordings
      .def(
          "note_lines",
          [](recording& r) {
            r.watching = std::make_shared<line_watch>();
            r.code.watch(r.watching.get());
          },
          "From now on notes the user's line of each operation, for program_with_lines.")
      .def("program_with_lines", &program_with_lines, "The program, and the lines of its operations.");
  m.def("switch_lines", &switch_lines, py::arg("f"), py::arg("lines"), py::arg("states"),
        "The comparisons of states at which a right-hand side jumps: text, file, line.");
  auto programs = py::reinterpret_borrow<py::class_<pooled_program, std::shared_ptr<pooled_program>>>(m.attr("Program"));
  programs.def("__str__", [](const pooled_program& f) { return describe(*f.code); })
      .def_property_readonly(
          "externals",
          [](const pooled_program& f) {
            std::vector<std::string> names;
            for (const auto& each : f.code->code().externals) names.emplace_back(each->name());
            return names;
          },
          "The names of the external operations, such as solves and loops.")
      .def_property_readonly("summary", &summary, "The contents and costs of the program, by name.")
      .def("to_dot", &drawn, py::arg("inputs"), py::arg("outputs"), "The program as text for Graphviz.")
      .def("profile", &profile_of, py::arg("inputs"), py::arg("lines"), py::arg("repeats"),
           "Nanoseconds of the forward and reverse pass, and rows (operation, operations, entries, forward, backward, file, "
           "line); None if a comparison had another result than at recording.");
}

}  // namespace agrad::python
