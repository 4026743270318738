// The page as a whole: drawing all of it, the events that change it, and its functions for the console.
function drawAll() {
  drawSize();
  drawTree();
  drawDetails();
  drawForm();
  drawPrediction();
  drawCompare();
  drawLeaves();
  drawPruning();
  drawRows();
}

function listen() {
  const canvas = byId("canvas");
  canvas.addEventListener("keydown", onTreeKey);
  canvas.addEventListener("click", onTreeClick);
  canvas.addEventListener("pointerdown", onDragStart);
  window.addEventListener("pointermove", onDragMove);
  window.addEventListener("pointerup", () => { drag.from = null; });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoomBy(event.deltaY < 0 ? 1.1 : 1 / 1.1);
  }, { passive: false });
  const tipFor = (event) => {
    const item = event.target.closest && event.target.closest("[data-node]");
    if (item) showTip(Number(item.dataset.node));
  };
  canvas.addEventListener("pointerover", (event) => { if (event.pointerType !== "touch") tipFor(event); });
  canvas.addEventListener("pointerout", hideTip);
  canvas.addEventListener("focusin", (event) => {
    const item = event.target.closest("[data-node]");
    if (item) state.focused = Number(item.dataset.node);
    if (item && item.matches(":focus-visible")) tipFor(event);
  });
  canvas.addEventListener("focusout", hideTip);
  byId("size").addEventListener("input", () => setMember(sliderMember()));
  byId("size-reset").addEventListener("click", () => setMember(data.member));
  byId("zoom-in").addEventListener("click", () => zoomBy(1.25));
  byId("zoom-out").addEventListener("click", () => zoomBy(0.8));
  byId("zoom-fit").addEventListener("click", () => { state.zoom = null; drawTree(); });
  byId("layout").addEventListener("click", () => {
    state.layout = chooseLayout() === "outline" ? "top-down" : "outline";
    state.zoom = null;
    drawTree();
  });
  byId("expand").addEventListener("click", () => { state.collapsed.clear(); drawTree(); });
  byId("person-form").addEventListener("submit", onPredict);
  for (const id of ["compare-a", "compare-b"]) {
    byId(id).addEventListener("change", (event) => {
      event.target.dataset.chosen = "yes";
      drawComparison();
    });
  }
  byId("rows-more").addEventListener("click", () => { state.rowsShown += 200; drawRows(); });
  let width = canvas.clientWidth;
  new ResizeObserver(() => {
    if (canvas.clientWidth !== width) {
      width = canvas.clientWidth;
      drawTree();
    }
  }).observe(canvas);
}

state.selected = leavesByRisk()[0];
drawScores();
drawData();
drawModel();
drawAbout();
drawAll();
drawHeader();
listen();

// The same functions for the console: dipolarReport.predict([...]) takes a row in the order of `names`.
window.dipolarReport = Object.freeze({
  names: Object.freeze([...data.names]),
  predict: (row, member = data.member) => {
    if (!data.form) throw new Error("this report was written without its prediction form");
    return model.predict(row.map((value) => (value === null ? NaN : value)), member);
  },
  score: (row, node) => model.score(row.map((value) => (value === null ? NaN : value)), node),
  curve: (node) => model.curve(node),
  logrank: (a, b) => Statistics.logrank(model.curve(a).table, model.curve(b).table),
  times: model.times,
});
