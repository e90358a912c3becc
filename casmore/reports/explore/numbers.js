"use strict";
// The numbers behind the figures, computed from the trials in the page. Nothing is drawn here.
//
// A trial is {instance, spent, at, level}: from evaluation at[k] on, level[k] targets are reached.
// By the best value so far, these are ever more; by a median sample or the mean they may be fewer
// again.

const data = JSON.parse(document.getElementById("data").textContent);
const TARGETS = data.targets.length;

/** Decode an entry of `data.trials`; document.py says what is in it. */
function decode([instance, spent, ...gaps]) {
  if (typeof gaps[0] === "string") {
    const level = [...gaps[0]].map((digit) => data.digits.indexOf(digit));
    // the last point is the end of the trial
    const at = level.map((_, k) => (k < level.length - 1 ? data.checkpoints[k] : spent));
    return {instance, spent, at, level};
  }
  let count = 0;
  const at = gaps.map((gap) => (count += gap));
  return {instance, spent, at, level: at.map((_, k) => k + 1)};
}

/** The trials of a solver; a reference has a single one, which takes the ERT to each target. */
function trialsOf(solver, kind, n, f) {
  if (solver in data.references) {
    const at = data.references[solver][n]?.[f];
    if (kind !== "best" || !at) return [];
    return [{instance: 0, spent: at.at(-1), at, level: at.map((_, k) => k + 1)}];
  }
  return (data.trials[kind]?.[solver]?.[n]?.[f] ?? []).map(decode);
}

/** The functions that all solvers have in this dimension: a mean over others compares nothing. */
function comparable(n, kind, numbers) {
  const own = data.solvers.map(({name}) => data.trials[kind][name]?.[n]).filter(Boolean);
  return numbers.filter((f) => own.every((trials) => f in trials));
}

/** The weight of each trial: instances have equal weights, the sum is 1. */
function weights(trials) {
  const repeats = new Map();
  for (const {instance} of trials) repeats.set(instance, (repeats.get(instance) ?? 0) + 1);
  return trials.map(({instance}) => 1 / repeats.get(instance) / repeats.size);
}

/** The expected running time to each target, in evaluations; Infinity: never reached. */
function ert(trials) {
  const weight = weights(trials);
  return data.targets.map((_, row) => {
    let cost = 0;
    let successes = 0;
    trials.forEach((trial, i) => {
      const reached = row < trial.at.length;
      cost += weight[i] * (reached ? trial.at[row] : trial.spent);
      if (reached) successes += weight[i];
    });
    return successes > 0 ? cost / successes : Infinity;
  });
}

/**
 * The ECDF of the trials of several functions, which have equal weights: from x[i] evaluations per
 * dimension on, y[i] is the fraction of pairs of function and target.
 */
function ecdf(functions, n) {
  const changes = [];
  for (const trials of functions) {
    const weight = weights(trials);
    trials.forEach(({at, level}, i) => {
      at.forEach((count, k) => {
        const gained = level[k] - (k > 0 ? level[k - 1] : 0);
        changes.push([count / n, (weight[i] * gained) / TARGETS / functions.length]);
      });
    });
  }
  changes.sort((a, b) => a[0] - b[0]);
  const steps = {x: [], y: []};
  let sum = 0;
  for (const [x, gained] of changes) {
    sum += gained;
    if (x !== steps.x.at(-1)) {
      steps.x.push(x);
      steps.y.push(sum);
    } else {
      steps.y[steps.y.length - 1] = sum;
    }
  }
  return steps;
}

/** The value of a step function at x. */
function valueAt({x: places, y}, x) {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle] <= x) low = middle + 1;
    else high = middle;
  }
  return low > 0 ? y[low - 1] : 0;
}

/** The area under an ECDF over log(x), from 1 to the budget, as a fraction of the whole. */
function area(steps, budget) {
  if (budget === 1) return valueAt(steps, 1);
  const inside = steps.x.filter((x) => x > 1 && x < budget);
  const ends = [1, ...inside, budget];
  let sum = 0;
  for (let i = 1; i < ends.length; i++) {
    sum += valueAt(steps, ends[i - 1]) * Math.log(ends[i] / ends[i - 1]);
  }
  return sum / Math.log(budget);
}

/**
 * Two solvers on a function: their ERTs to a target, and the ratio.
 *
 * `target` is a row of `data.targets`, or "common": the hardest target that both reach. `further`
 * is the solver (0 or 1) that then reaches a harder one.
 */
function compare(a, b, target, n, f) {
  const pair = [a, b].map((solver) => trialsOf(solver, "best", n, f));
  if (pair.some((trials) => trials.length === 0)) return null;
  const erts = pair.map(ert);
  const last = erts.map((own) => own.findLastIndex(Number.isFinite));
  const row = target === "common" ? Math.min(...last) : Number(target);
  const [first, second] = erts.map((own) => own[row] ?? Infinity);
  return {
    row,
    erts: [first, second],
    ratio: first === Infinity && second === Infinity ? NaN : first / second,
    further: last[0] === last[1] ? null : last[0] > last[1] ? 0 : 1,
  };
}

/**
 * The league in a dimension: the mean score of each algorithm over functions, and its place among
 * those of the archive, if these are known.
 */
function scores(n, numbers) {
  const league = data.league[n];
  const column = new Map(data.league_functions.map((f, i) => [f, i]));
  const score = ([name, ...points]) => ({
    name,
    // a function without data scores 0
    score: numbers.reduce((sum, f) => sum + (points[column.get(f)] ?? 0), 0) / numbers.length,
  });
  const archive = league.archive.map(score);
  const place = (own) => {
    const rank = 1 + archive.filter((other) => other.score > own.score).length;
    return archive.length > 0 ? `${rank} of ${archive.length + 1}` : null;
  };
  const placed = (entries) => entries.map(score).map((own) => ({...own, place: place(own)}));
  return {
    ours: placed(league.ours),
    archive: placed(league.archive),
    references: placed(league.references),
  };
}
