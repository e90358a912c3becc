"use strict";
// The choices: what is shown follows from them, and they are kept in the page's address.

// what reaches the targets, in the form and at an axis
const KINDS = {
  best: ["best value so far", "target reached"],
  samples: ["median of recent samples", "target of the median sample"],
  mean: ["mean of the distribution", "target of the mean"],
};
const CONFIG = {
  responsive: true,
  displaylogo: false,
  displayModeBar: "hover",
  // no others: one of Plotly's own sends the data to a server
  modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
};
const NARROW = window.matchMedia("(max-width: 45em)");
let drawn = {curves: [], budget: 1}; // the ECDFs that are shown
const element = (id) => document.getElementById(id);
const names = [...data.solvers.map(({name}) => name), ...Object.keys(data.references)];

/** Add the options of a select, which are pairs of a value and a text. */
function fill(parent, options) {
  for (const [value, text] of options) parent.append(new Option(text, value));
}

function fillForm() {
  fill(element("dimension"), data.dimensions.map((n) => [n, `${n}-D`]));
  const functions = element("functions");
  fill(functions, [["all", "all functions"]]);
  for (const [label, options] of [
    ["groups", [...new Set(data.functions.map(({group}) => group))].map((g) => [g, g])],
    ["single functions", data.functions.map(({number, title}) => [`f${number}`, title])],
  ]) {
    const group = document.createElement("optgroup");
    group.label = label;
    fill(group, options);
    functions.append(group);
  }
  const kinds = Object.keys(KINDS).filter((kind) => kind in data.trials);
  fill(element("kind"), kinds.map((kind) => [kind, KINDS[kind][0]]));
  element("kind").closest("label").hidden = kinds.length < 2;
  for (const name of names) element("solvers").append(solverBox(name));
  const pairs = names.map((name) => [name, name]);
  for (const id of ["first", "second"]) fill(element(id), pairs);
  element("second").selectedIndex = Math.min(1, names.length - 1);
  fill(element("target"), [
    ["common", "the hardest that both reach"],
    ...data.ert_targets.map(({row, name}) => [row, name]),
  ]);
}

/** A check box with the line that the solver is drawn with. */
function solverBox(name) {
  const {color, dash, width} = look(name);
  const label = document.createElement("label");
  const box = Object.assign(document.createElement("input"), {type: "checkbox", checked: true});
  box.name = "solver";
  box.value = name;
  const line = `<svg width="28" height="10" aria-hidden="true"><line x2="28" y1="5" y2="5"
    stroke="${color}" stroke-width="${width}"
    stroke-dasharray="${dash === "solid" ? "" : dash.replaceAll("px", "")}"/></svg>`;
  label.append(box);
  label.insertAdjacentHTML("beforeend", line);
  label.append(name);
  return label;
}

/** What is chosen. */
function choices() {
  const value = (id) => element(id).value;
  const choice = value("functions");
  const numbers = data.functions
    .filter(({number, group}) => ["all", group, `f${number}`].includes(choice))
    .map(({number}) => number);
  const n = Number(value("dimension"));
  const boxes = [...document.querySelectorAll("#solvers input")];
  return {
    n,
    choice,
    numbers,
    kind: value("kind"),
    budget: data.budgets[n],
    shown: boxes.filter((box) => box.checked).map((box) => box.value),
    first: value("first"),
    second: value("second"),
    target: value("target"),
  };
}

function draw(id, {traces, layout}) {
  return Plotly.react(element(id), traces, layout, CONFIG);
}

function drawEcdf({n, numbers, kind, budget, shown}) {
  const functions = comparable(n, kind, numbers);
  const curves = shown.flatMap((solver) => {
    const trials = functions.map((f) => trialsOf(solver, kind, n, f));
    const complete = trials.length > 0 && trials.every((own) => own.length > 0);
    return complete ? [[solver, ecdf(trials, n)]] : [];
  });
  const count = functions.length;
  element("what").textContent =
    `Of the ${KINDS[kind][0]}: ${count} function${count === 1 ? "" : "s"} in ${n}-D, ` +
    `${TARGETS} targets, budget ${budget} n`;
  drawn = {curves, budget};
  const figure = ecdfFigure(curves, budget);
  figure.layout.shapes = placeLine(ecdfTable());
  return draw("ecdf", figure);
}

function placeLine(x) {
  const line = {color: "#bbb", width: 1};
  return [{type: "line", yref: "paper", y0: 0, y1: 1, x0: x, x1: x, line}];
}

/** Write the values of the curves at the chosen place into the table; return the place. */
function ecdfTable() {
  const {curves, budget} = drawn;
  const slider = element("at");
  const x = places(budget);
  slider.max = x.length - 1;
  const place = x[Math.min(Number(slider.dataset.chosen ?? x.length - 1), x.length - 1)];
  slider.value = x.indexOf(place);
  slider.setAttribute("aria-valuetext", `${place} evaluations per dimension`);
  element("place").textContent = place;
  const rows = curves.map(([solver, steps]) => [
    solver,
    valueAt(steps, place).toFixed(4),
    area(steps, budget).toFixed(4),
  ]);
  fillRows("values", rows);
  return place;
}

function fillRows(id, rows) {
  element(id).replaceChildren(
    ...rows.map((cells) => {
      const row = document.createElement("tr");
      for (const cell of cells) {
        const td = Object.assign(document.createElement("td"), {textContent: cell});
        if (!names.includes(cell)) td.className = "number";
        row.append(td);
      }
      return row;
    }),
  );
}

function drawTrials({n, numbers, kind, budget, shown}) {
  const single = numbers.length === 1;
  element("trials").hidden = !single;
  element("choose").hidden = single;
  if (!single) return null;
  const solvers = shown.filter((solver) => !(solver in data.references));
  const trials = solvers.map((solver) => [solver, trialsOf(solver, kind, n, numbers[0])]);
  return draw("trials", trialsFigure(trials, n, budget, KINDS[kind][1]));
}

function drawRatios({n, choice, first, second, target}) {
  element("ratios").style.height = NARROW.matches
    ? `${data.functions.length * 24 + 64}px`
    : `${data.dimensions.length * 38 + 80}px`;
  const chosen = data.functions.find(({number}) => choice === `f${number}`);
  const pair = chosen && compare(first, second, target, n, chosen.number);
  element("cell").textContent = chosen
    ? cellText(first, second, n, chosen.number, pair).replaceAll("<br>", "; ")
    : "Choose a single function above, or a cell, to read its numbers here.";
  return draw("ratios", ratioFigure(first, second, target, n, chosen?.number, NARROW.matches));
}

function drawLeague({numbers, choice, shown}) {
  const dimensions = Object.keys(data.league);
  const functions = choice === "all" ? data.league_functions : numbers;
  const found = dimensions.map((n) => [n, scores(n, functions)]);
  element("league").style.height = `${dimensions.length * 46 + 100}px`;
  const rows = found.flatMap(([n, {ours}]) =>
    ours
      .filter(({name}) => shown.includes(name))
      .map(({name, score, place}) => [n, name, score.toFixed(4), ...(place ? [place] : [])]),
  );
  fillRows("ranks", rows);
  return draw("league", leagueFigure(Object.fromEntries(found), shown));
}

const ALL = [drawEcdf, drawTrials, drawRatios, drawLeague];
// what a choice changes
const DEPENDENT = {
  dimension: [drawEcdf, drawTrials, drawRatios],
  functions: ALL,
  kind: [drawEcdf, drawTrials],
  solvers: [drawEcdf, drawTrials, drawLeague],
  first: [drawRatios],
  second: [drawRatios],
  target: [drawRatios],
};

function redraw(figures) {
  const chosen = choices();
  remember(chosen);
  return Promise.all(figures.map((drawFigure) => drawFigure(chosen)));
}

/** Keep the choices in the page's address, so that a view can be found again. */
function remember({n, choice, kind, shown, first, second, target}) {
  const hidden = names.filter((name) => !shown.includes(name));
  const kept = new URLSearchParams({dimension: n, functions: choice, kind, first, second, target});
  for (const name of hidden) kept.append("hidden", name);
  history.replaceState(null, "", `#${kept}`);
}

function recall() {
  const kept = new URLSearchParams(location.hash.slice(1));
  for (const [id, value] of kept) {
    const select = element(id);
    const known = select instanceof HTMLSelectElement;
    if (known && [...select.options].some((option) => option.value === value)) select.value = value;
  }
  for (const box of document.querySelectorAll("#solvers input")) {
    box.checked = !kept.getAll("hidden").includes(box.value);
  }
}

/** A click on a cell of the heat map chooses its dimension and function. */
function chooseCell({points: [{x, y}]}) {
  const [column, row] = NARROW.matches ? [y, x] : [x, y];
  element("functions").value = `f${data.functions[column].number}`;
  element("dimension").value = data.dimensions[row];
  redraw(ALL);
}

function start() {
  if (!window.Plotly) {
    element("problem").hidden = false;
    return;
  }
  fillForm();
  recall();
  redraw(ALL).then(() => {
    element("ratios").on("plotly_click", chooseCell);
    document.body.dataset.ready = "yes";
  });
  for (const [id, figures] of Object.entries(DEPENDENT)) {
    element(id).addEventListener("change", () => redraw(figures));
  }
  element("at").addEventListener("input", (event) => {
    event.target.dataset.chosen = event.target.value;
    Plotly.relayout(element("ecdf"), {shapes: placeLine(ecdfTable())});
  });
  NARROW.addEventListener("change", () => redraw(ALL));
  window.addEventListener("hashchange", () => {
    recall();
    redraw(ALL);
  });
}

start();
