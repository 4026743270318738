// The slider that walks the pruning path.
const sliderMember = () => model.nMembers - 1 - Number(byId("size").value);

function setMember(member) {
  state.member = member;
  state.collapsed.clear();
  if (state.selected !== null && !current().label.has(state.selected)) state.selected = null;
  if (state.selected === null && current().leaves.length) state.selected = leavesByRisk()[0];
  if (state.prediction) state.prediction = model.predict(rowOf(state.person), state.member);
  drawAll();
}

function drawSize() {
  const nLeaves = data.path.n_leaves[state.member];
  const fitted = state.member === data.member;
  const text = `${Format.plural(nLeaves, "leaf", "leaves")}${fitted ? ", the fitted tree" : ""}`;
  const slider = byId("size");
  slider.max = model.nMembers - 1;
  slider.value = model.nMembers - 1 - state.member;
  slider.setAttribute("aria-valuetext", text);
  byId("size-text").textContent = text;
  byId("size-reset").disabled = fitted;
  byId("size-control").hidden = model.nMembers < 2;
  byId("tree-lead").textContent = `Follow the answers from the top: “yes” to the left, “no” to the right. `
    + `${words.axis ? "" : `Each node asks on which side of a ${data.splits.kernel} surface a person lies; it names the covariates that count most there. `}`
    + `Leaves are coloured by risk, from blue (low) to orange (high).`;
}
