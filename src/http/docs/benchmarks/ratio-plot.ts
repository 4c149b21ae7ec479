import { type Html, html } from '../markup/html.ts';
import { benchTitle, byBench, measure, verdictOf, wantedText } from './figure-text.ts';
import { type RecordedFigure, ratioOf } from './figures-file.ts';

/**
 * A bar for each ratio, and a mark where the aim is. Each is a row of a table, so that everything that a bar shows can be
 * read as a number, too. Positions are percentages: the bars follow the width of the screen and the text keeps its size.
 */
export function ratioPlot(figures: readonly RecordedFigure[]): Html {
  const compared = figures.filter((figure) => figure.bare !== undefined && ratioOf(figure) !== null);
  return html`<table class="plot ratios">
<thead><tr><th scope="col">What</th><th scope="col">Against the bare limit</th><th scope="col">Ratio</th><th scope="col">Wanted</th><th scope="col">Service</th><th scope="col">Bare</th></tr></thead>
${byBench(compared).map(([bench, group]) => groupRows(bench, group))}</table>`;
}

function groupRows(bench: string, group: RecordedFigure[]): Html {
  // Rates and times of a bench have a scale each: a rate is at most a little above 1, a time may be several times as long.
  const scales = Map.groupBy(group, ({ unit }) => unit === '/s');
  const scaleOf = ({ unit }: RecordedFigure) =>
    axisEnd((scales.get(unit === '/s') ?? []).map((figure) => [ratioOf(figure) ?? 0, wantedRatio(figure) ?? 1]));
  return html`<tbody><tr class="group"><th colspan="6" scope="colgroup">${benchTitle(bench)}</th></tr>
${group.map((figure) => figureRow(figure, scaleOf(figure)))}</tbody>
`;
}

function figureRow(figure: RecordedFigure, scale: number): Html {
  const ratio = ratioOf(figure) ?? 0;
  const { tone, word } = verdictOf(figure);
  const { wanted, bare, unit } = figure;
  return html`<tr class="${tone}"><th scope="row">${figure.name}</th>
<td class="chart">${ratioBar(ratio, wantedRatio(figure), scale)}</td>
<td class="number"><span class="cell-name">Ratio </span><strong>${ratio.toFixed(2)}</strong></td>
<td class="number"><span class="cell-name">Wanted </span>${wanted === undefined ? '–' : wantedText(wanted, unit)}${word === '' ? null : html` <span class="verdict">${word}</span>`}</td>
<td class="number"><span class="cell-name">Service </span>${measure(figure.ours, unit)}</td>
<td class="number"><span class="cell-name">Bare </span>${bare === undefined ? '–' : measure(bare.value, unit)} <span class="base">${bare?.name ?? ''}</span></td></tr>
`;
}

/** A bar from zero, a fine rule at the bare limit, a mark at the aim. A bar that leaves the scale ends in a gap. */
export function ratioBar(ratio: number, wanted: number | null, scale: number): Html {
  const at = (value: number) => `${(Math.min(value / scale, 1) * 100).toFixed(2)}%`;
  return html`<svg class="drawn" aria-hidden="true"><line class="axis" x1="0" x2="100%" y1="13" y2="13"/>
<line class="unity" x1="${at(1)}" x2="${at(1)}" y1="3" y2="23"/>
<rect class="value" x="0" y="8" height="10" width="${at(ratio)}"/>${
    ratio > scale ? html`<rect class="break" x="96%" y="6" width="3" height="14"/>` : null
  }${wanted === null ? null : html`<line class="aim" x1="${at(wanted)}" x2="${at(wanted)}" y1="2" y2="24"/>`}</svg>`;
}

function wantedRatio({ wanted }: RecordedFigure): number | null {
  if (wanted === undefined || wanted.of !== 'ratio') return null;
  return 'atLeast' in wanted ? wanted.atLeast : wanted.atMost;
}

/** A ratio counts for the scale up to this many times its aim. */
const OFF_SCALE = 4;
const MARGIN = 1.08;

function axisEnd(pairs: [ratio: number, aim: number][]): number {
  return Math.max(1, ...pairs.map(([ratio, aim]) => Math.max(aim, Math.min(ratio, aim * OFF_SCALE)))) * MARGIN;
}
