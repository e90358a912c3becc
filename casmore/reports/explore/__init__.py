"""The page to explore a report: ECDFs, ERT ratios, single trials and the league, in the browser.

The page holds the trials themselves, and its scripts compute what is shown. All curves of all
choices would take several times the space of the trials: 30 sets of functions in each dimension
for each solver. `document` is the data, `page` writes the page; ``numbers.js`` computes,
``figures.js`` draws, ``controls.js`` handles the choices.
"""
