// The slider that walks the pruning path.
import { plural } from "../compute/numbers.mjs";
import { byId } from "./elements.mjs";
import { current, data, model, restsOnOne, setMember, state, words } from "./state.mjs";

const sliderMember = () => model.nMembers - 1 - Number(byId("size").value);

export function drawSize() {
  const nLeaves = data.path.n_leaves[state.member];
  const fitted = state.member === data.member;
  const text = `${plural(nLeaves, "leaf", "leaves")}${fitted ? ", the fitted tree" : ""}`;
  const slider = byId("size");
  slider.max = model.nMembers - 1;
  slider.value = model.nMembers - 1 - state.member;
  slider.setAttribute("aria-valuetext", text);
  byId("size-text").textContent = text;
  byId("size-reset").disabled = fitted;
  byId("size-control").hidden = model.nMembers < 2;
  byId("tree-lead").textContent = `Follow the answers from the top: “yes” to the left, “no” to the right. `
    + `${words.axis ? "" : `Each node asks on which side of a ${words.kinds()} surface a person lies; it names the covariates that count most there. `}`
    + `Leaves are coloured by risk, from blue (low) to orange (high).${current().nodes.some(restsOnOne) ? " A median with * rests on the one row left by then." : ""}`;
}

export function listenToSize() {
  byId("size").addEventListener("input", () => setMember(sliderMember()));
  byId("size-reset").addEventListener("click", () => setMember(data.member));
}
