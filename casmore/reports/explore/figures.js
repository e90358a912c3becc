"use strict";
// What Plotly draws: each function below returns the traces and the layout of a figure.

const REFERENCE = {color: "#e8bf6a", dash: "solid", symbol: "line-ns-open", width: 5};
const LEFT = 0.5; // evaluations per dimension, where the axes begin
// of ColorBrewer, as in the other figures
const BLUE_TO_RED = ["#2166ac", "#67a9cf", "#d1e5f0", "#f7f7f7", "#fddbc7", "#ef8a62", "#b2182b"];
const LARGEST_RATIO = 8; // the colors of the heat map end at this ratio and at its inverse

/** How a solver is drawn. */
function look(solver) {
  const own = data.solvers.find(({name}) => name === solver);
  return own ? {...own, width: 2} : REFERENCE;
}

/** A number with six digits, as in summary.csv. */
function digits(value) {
  return Number.isFinite(value) ? String(Number(value.toPrecision(6))) : "not reached";
}

/** A layout with the style of all figures. */
function layout(changes) {
  const axis = {gridcolor: "#e8e8e8", zeroline: false, linecolor: "#999", automargin: true};
  return {
    font: {family: "system-ui, sans-serif", size: 13, color: "#222"},
    margin: {l: 64, r: 16, t: 32, b: 56},
    paper_bgcolor: "white",
    plot_bgcolor: "white",
    showlegend: false,
    hoverlabel: {font: {size: 13}, namelength: -1},
    ...changes,
    xaxis: {...axis, ...changes.xaxis},
    yaxis: {...axis, ...changes.yaxis},
  };
}

function logAxis(title, from, to) {
  const range = [Math.log10(from), Math.log10(to)];
  return {type: "log", title: {text: title, standoff: 8}, range, dtick: 1, exponentformat: "power"};
}

/**
 * Where the curves are evaluated: numbers of three digits, which the pointer shows as they are.
 * Neighbors differ by one per cent, less than a pixel.
 */
function places(budget) {
  const found = new Set();
  const [from, to] = [Math.ceil(200 * Math.log10(LEFT)), Math.floor(200 * Math.log10(budget))];
  for (let k = from; k <= to; k++) found.add(Number((10 ** (k / 200)).toPrecision(3)));
  return [...found].filter((x) => x < budget).concat(budget);
}

/** The ECDFs of several solvers, `curves` being pairs of a name and its steps. */
function ecdfFigure(curves, budget) {
  const x = places(budget);
  const traces = curves.map(([solver, steps]) => {
    const {color, dash, width} = look(solver);
    return {
      name: solver,
      x,
      y: x.map((place) => valueAt(steps, place)),
      mode: "lines",
      line: {color, dash, width, shape: "hv"},
      cliponaxis: false,
      hovertemplate: "%{y:.4f}",
    };
  });
  const ends = curves.map(([solver], i) => endTrace(solver, [[budget, traces[i].y.at(-1)]]));
  return {
    traces: [...traces, ...ends],
    layout: layout({
      hovermode: "x unified",
      xaxis: {
        ...logAxis("evaluations / dimension", LEFT, budget * 1.05),
        hoverformat: ".6~g",
        unifiedhovertitle: {text: "%{x} evaluations / dimension"},
      },
      yaxis: {title: {text: "fraction of function-target pairs"}, range: [0, 1.01]},
    }),
  };
}

/** Symbols where the lines of a solver end, at pairs of x and y. */
function endTrace(solver, ends) {
  const {color, symbol} = look(solver);
  return {
    x: ends.map(([x]) => x),
    y: ends.map(([, y]) => y),
    mode: "markers",
    marker: {color, symbol, size: 9},
    cliponaxis: false,
    hoverinfo: "skip",
  };
}

/** The single trials of several solvers, `trials` being pairs of a name and its trials. */
function trialsFigure(trials, n, budget, title) {
  const lines = trials.flatMap(([solver, own]) => own.map((trial) => trialLine(solver, trial, n)));
  const ends = trials.map(([solver]) => {
    const own = lines.filter((line) => line.meta === solver && line.x.length > 0);
    return endTrace(solver, own.map(({x, y}) => [x.at(-1), y.at(-1)]));
  });
  return {
    traces: [...lines, ...ends],
    layout: layout({
      hovermode: "closest",
      xaxis: logAxis("evaluations / dimension", LEFT, budget * 1.05),
      yaxis: logAxis(title, 10 ** -8.3, 10 ** 2.3),
    }),
  };
}

/** The line of a trial: the hardest target reached, to the end of the trial. */
function trialLine(solver, trial, n) {
  const {color, dash} = look(solver);
  const points = trial.at.map((count, k) => ({count, level: trial.level[k], how: "after"}));
  if (points.length > 0 && points.at(-1).count < trial.spent) {
    points.push({...points.at(-1), count: trial.spent, how: "at the end, after"});
  }
  const target = ({level}) => data.targets[level - 1]; // none at level 0
  const name = `${solver}, instance ${trial.instance}`;
  return {
    meta: solver,
    name,
    x: points.map(({count}) => count / n),
    y: points.map((point) => (point.level > 0 ? 10 ** target(point) : null)),
    text: points.map((point) => `1e${target(point)} ${point.how} ${point.count} evaluations`),
    mode: "lines",
    line: {color, dash, width: 1.2, shape: "hv"},
    opacity: 0.8,
    hovertemplate: `${name}<br>%{text}<extra></extra>`,
  };
}

/** What two solvers need in a cell of the heat map, in words. */
function cellText(a, b, n, f, pair) {
  const {title} = data.functions.find(({number}) => number === f);
  if (!pair) return `${title}, ${n}-D<br>no data of both`;
  if (pair.row < 0) return `${title}, ${n}-D<br>no target that both reach`;
  const [first, second] = pair.erts.map(digits);
  const lines = [
    `${title}, ${n}-D, target 1e${data.targets[pair.row]}`,
    `ERT of ${a}: ${first}`,
    `ERT of ${b}: ${second}`,
  ];
  if (Number.isFinite(pair.ratio) && pair.ratio > 0) lines.push(`ratio: ${digits(pair.ratio)}`);
  return lines.join("<br>");
}

/** A ratio in a cell. */
function short(ratio) {
  if (!Number.isFinite(ratio) || ratio === 0) return "";
  if (ratio >= 9.95) return ratio < 1e4 ? ratio.toFixed(0) : ratio.toExponential(0);
  return ratio >= 0.995 ? ratio.toFixed(1) : ratio.toFixed(2).replace(/^0/, "");
}

/**
 * The ratio of the ERTs of two solvers; on a narrow screen the functions are the rows. The cell of
 * dimension n and function f, if there is such, is framed.
 */
function ratioFigure(a, b, target, n, f, narrow) {
  const rows = data.dimensions.map((n) =>
    data.functions.map(({number}) => {
      const pair = compare(a, b, target, n, number);
      return {pair, text: cellText(a, b, n, number, pair)};
    }),
  );
  const cells = narrow ? data.functions.map((_, j) => rows.map((row) => row[j])) : rows;
  const limit = Math.log10(LARGEST_RATIO);
  const color = ({pair}) => {
    if (!pair || Number.isNaN(pair.ratio)) return null;
    return Math.max(-limit, Math.min(limit, Math.log10(pair.ratio)));
  };
  const ticks = [1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8];
  const bar = {
    tickvals: ticks.map(Math.log10),
    ticktext: ["1/8", "1/4", "1/2", "1", "2", "4", "8"],
    thickness: 12,
    outlinewidth: 0,
  };
  const map = {
    type: "heatmap",
    z: cells.map((row) => row.map(color)),
    text: cells.map((row) => row.map(({pair}) => (pair ? short(pair.ratio) : ""))),
    hovertext: cells.map((row) => row.map(({text}) => text)),
    texttemplate: "%{text}",
    hovertemplate: "%{hovertext}<extra></extra>",
    textfont: {size: 12},
    colorscale: BLUE_TO_RED.map((color, i) => [i / (BLUE_TO_RED.length - 1), color]),
    zmin: -limit,
    zmax: limit,
    xgap: 1,
    ygap: 1,
    showscale: !narrow,
    colorbar: bar,
  };
  const dimensions = named(data.dimensions.map((n) => `${n}-D`), !narrow);
  const functions = named(data.functions.map(({number}) => `f${number}`), narrow);
  return {
    traces: [map, ...(target === "common" ? [0, 1].map((who) => furtherTrace(cells, who)) : [])],
    layout: layout({
      hovermode: "closest",
      plot_bgcolor: "#eee",
      xaxis: {...(narrow ? dimensions : functions), side: narrow ? "top" : "bottom"},
      yaxis: narrow ? functions : dimensions,
      shapes: [...borders(narrow), ...frame(n, f, narrow)],
      margin: {l: 44, r: 8, t: narrow ? 56 : 32, b: narrow ? 8 : 30},
    }),
  };
}

/** An axis with names for the integers from 0 on; `down`: from top to bottom. */
function named(ticktext, down) {
  const tickvals = ticktext.map((_, i) => i);
  const ends = [-0.5, ticktext.length - 0.5];
  if (down) ends.reverse();
  return {tickvals, ticktext, range: ends, showgrid: false, ticks: ""};
}

function frame(n, f, narrow) {
  const row = data.dimensions.indexOf(n);
  const column = data.functions.findIndex(({number}) => number === f);
  if (row < 0 || column < 0) return [];
  const [x, y] = narrow ? [row, column] : [column, row];
  const ends = {x0: x - 0.5, x1: x + 0.5, y0: y - 0.5, y1: y + 0.5};
  return [{type: "rect", ...ends, line: {color: "#000", width: 3}}];
}

/** Triangles in the cells where a solver (0 or 1) reaches harder targets, too. */
function furtherTrace(cells, who) {
  const found = cells.flatMap((row, y) =>
    row.flatMap(({pair}, x) => (pair?.further === who ? [[x, y]] : [])),
  );
  return {
    x: found.map(([x]) => x - 0.38),
    y: found.map(([, y]) => y + 0.32),
    mode: "markers",
    marker: {
      symbol: who === 0 ? "triangle-down" : "triangle-up",
      size: 8,
      color: who === 0 ? "#08306b" : "#8b0000",
      line: {color: "white", width: 0.7},
    },
    hoverinfo: "skip",
  };
}

/** Lines between the function groups. */
function borders(narrow) {
  const changes = data.functions.flatMap(({group}, i) =>
    i > 0 && group !== data.functions[i - 1].group ? [i - 0.5] : [],
  );
  const line = {color: "#222", width: 1.5};
  return changes.map((at) =>
    narrow
      ? {type: "line", xref: "paper", x0: 0, x1: 1, y0: at, y1: at, line}
      : {type: "line", yref: "paper", y0: 0, y1: 1, x0: at, x1: at, line},
  );
}

/** The scores of all algorithms of the archive, and of the solvers among them. */
function leagueFigure(league, shown) {
  const dimensions = Object.keys(league).map(Number);
  const trace = (name, entries, changes) => ({
    name,
    x: entries.map(({entry}) => entry.score),
    y: entries.map(({y}) => y),
    text: entries.map(({entry}) => entry.name),
    customdata: entries.map(({entry}) => (entry.place ? `, rank ${entry.place}` : "")),
    mode: "markers",
    hovertemplate: "%{text}<br>score %{x:.4f}%{customdata}<extra></extra>",
    ...changes,
  });
  const all = (part, name) =>
    dimensions.flatMap((n, y) =>
      league[n][part]
        .filter((entry) => name === undefined || entry.name === name)
        .map((entry) => ({entry, y})),
    );
  const tick = (size, color, width) => ({
    marker: {symbol: "line-ns-open", size, color, line: {color, width}},
  });
  return {
    traces: [
      trace("archive", all("archive"), tick(14, "#aaa", 1)),
      ...Object.entries(data.virtual).map(([name, color]) =>
        trace(name, all("references", name), tick(24, color, 4)),
      ),
      ...shown.map((solver) => {
        const {color, symbol} = look(solver);
        const marker = {symbol, color, size: 11, line: {color: "white", width: 1}};
        return trace(solver, all("ours", solver), {marker});
      }),
    ],
    layout: layout({
      hovermode: "closest",
      xaxis: {title: {text: "score"}, rangemode: "tozero"},
      yaxis: named(dimensions.map((n) => `${n}-D`), true),
    }),
  };
}
