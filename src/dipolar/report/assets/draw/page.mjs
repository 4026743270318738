// The page as a whole: what is drawn, when it is drawn again, and its functions for the console.
import { encodePerson } from "../compute/encoding.mjs";
import { logrank } from "../compute/statistics.mjs";
import { drawAbout, drawHeader, drawModel } from "./about.mjs";
import { drawData, drawPreparation, drawRows } from "./data.mjs";
import { drawDetails } from "./details.mjs";
import { byId } from "./elements.mjs";
import { drawCompare, drawComparison, drawLeaves } from "./leaves.mjs";
import { drawForm, drawPrediction, onPredict } from "./person.mjs";
import { drawTree } from "./picture.mjs";
import { drawPruning } from "./pruning.mjs";
import { drawScores } from "./scores.mjs";
import { drawSize, listenToSize } from "./size.mjs";
import { columns, data, model, names, setMember, state, watch } from "./state.mjs";
import { listenToTree } from "./walk.mjs";

function listen() {
  listenToTree();
  listenToSize();
  byId("person-form").addEventListener("submit", onPredict);
  for (const id of ["compare-a", "compare-b"]) {
    byId(id).addEventListener("change", (event) => {
      event.target.dataset.chosen = "yes";
      drawComparison();
    });
  }
  byId("rows-more").addEventListener("click", () => { state.rowsShown += 200; drawRows(); });
}

watch(drawSize, "member");
watch(drawTree, "member", "selection", "person", "view");
watch(drawDetails, "member", "selection");
watch(drawForm, "member");
watch(drawPrediction, "member", "person");
watch(drawCompare, "member");
watch(drawLeaves, "member");
watch(drawPruning, "member");
watch(drawRows, "member", "selection");

drawScores();
drawData();
drawPreparation();
drawModel();
drawAbout();
setMember(data.member);
drawHeader();
listen();

// The same functions for the console: dipolarReport.predict([...]) takes a row in the order of `names`.
const withMissing = (row) => row.map((value) => (value === null ? NaN : value));

window.dipolarReport = Object.freeze({
  names: Object.freeze([...names]),
  predict: (row, member = data.member) => {
    if (!data.form) throw new Error("this report was written without its prediction form");
    return model.predict(withMissing(row), member);
  },
  // A person is { column: cell }; absent columns are unknown.
  predictPerson: (person, member = data.member) => {
    if (!data.form) throw new Error("this report was written without its prediction form");
    const { row, unknown, odd } = encodePerson(columns.map(({ name }) => person[name] ?? null), columns, data.keeps_gaps);
    const called = (numbers) => numbers.map((column) => columns[column].name);
    return { ...model.predict(row, member), row, unknown: called(unknown), odd: called(odd) };
  },
  score: (row, node) => model.score(withMissing(row), node),
  curve: (node) => model.curve(node),
  logrank: (a, b) => logrank(model.curve(a).table, model.curve(b).table),
  times: model.times,
});
