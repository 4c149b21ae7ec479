import { type Html, html } from '../markup/html.ts';
import { benchTitle, byBench, measure, verdictOf, wantedText } from './figure-text.ts';
import { type Figure, isMet, type RecordedFigure, ratioOf } from './figures-file.ts';
import { ratioBar } from './ratio-plot.ts';

type Growing = RecordedFigure & { growth: NonNullable<Figure['growth']> };

/** Lists with more figures than this are drawn together on one scale; their numbers are in a table that unfolds. */
const CARDS_LIMIT = 6;

/** How the same work takes longer when there is more data beside it. */
export function growthPlots(figures: readonly RecordedFigure[]): Html {
  const growing = figures.filter((figure): figure is Growing => figure.growth !== undefined);
  return html`${byBench(growing).map(([bench, group]) =>
    group.length <= CARDS_LIMIT
      ? html`<h3>${benchTitle(bench)}</h3>
<div class="cards">${group.map(growthCard)}</div>`
      : html`<h3>${benchTitle(bench)}</h3>
${strips(group)}
<details class="drawer"><summary>All ${group.length} figures</summary>${growthTable(group)}</details>`,
  )}`;
}

function growthCard(figure: Growing): Html {
  const { name, unit, growth, wanted } = figure;
  const { tone, word } = verdictOf(figure);
  const highest = Math.max(...growth.points.map(({ value }) => value)) * 1.25;
  const x = (index: number) => `${(6 + (index / Math.max(1, growth.points.length - 1)) * 88).toFixed(2)}%`;
  const y = (value: number) => `${(96 - (value / highest) * 90).toFixed(2)}%`;
  const steps = growth.points.slice(1).map((point, index) => {
    const before = growth.points[index] ?? point;
    return html`<line class="slope" x1="${x(index)}" y1="${y(before.value)}" x2="${x(index + 1)}" y2="${y(point.value)}"/>`;
  });
  return html`<figure class="card ${tone}"><figcaption>${name}</figcaption>
<svg class="slopes" aria-hidden="true"><line class="axis" x1="0" x2="100%" y1="96%" y2="96%"/>${steps}${growth.points.map(
    ({ value }, index) => html`<circle class="p99" cx="${x(index)}" cy="${y(value)}" r="4.5"/>`,
  )}</svg>
<dl class="points">${growth.points.map(
    ({ size, value }) => html`<div><dt>${size.toLocaleString('en-US')}</dt><dd>${measure(value, unit)}</dd></div>`,
  )}</dl>
<p class="remark">By ${growth.of}: ${(ratioOf(figure) ?? 0).toFixed(2)} times${
    wanted === undefined ? null : html` (${wantedText(wanted, unit)} wanted, <span class="verdict">${word}</span>)`
  }</p></figure>`;
}

/** A line for each list, and on it a tick for each of its figures, as on a minute track. */
function strips(group: Growing[]): Html {
  const limit = Math.max(...group.map((figure) => limitOf(figure) ?? 1));
  const scale = Math.max(limit, ...group.map((figure) => ratioOf(figure) ?? 0)) * 1.1;
  const at = (value: number) => `${((value / scale) * 100).toFixed(2)}%`;
  const lists = [...Map.groupBy(group, ({ name }) => name.split(': ')[0] ?? name)];
  return html`<table class="plot strips">
<thead><tr><th scope="col">List</th><th scope="col">Many rows against few: a tick for each search, filter and order</th><th scope="col">Highest</th><th scope="col">Within</th></tr></thead>
<tbody>${lists.map(([list, own]) => {
    const highest = Math.max(...own.map((figure) => ratioOf(figure) ?? 0));
    const within = own.filter((figure) => isMet(figure) !== false).length;
    return html`<tr class="${within === own.length ? 'met' : 'missed'}"><th scope="row">${list}</th>
<td class="chart"><svg class="drawn" aria-hidden="true"><line class="axis" x1="0" x2="100%" y1="23" y2="23"/><line class="unity" x1="${at(1)}" x2="${at(1)}" y1="2" y2="23"/>
${own.map((figure) => html`<line class="tick${isMet(figure) === false ? ' over' : ''}" x1="${at(ratioOf(figure) ?? 0)}" x2="${at(ratioOf(figure) ?? 0)}" y1="7" y2="23"/>`)}
<line class="aim" x1="${at(limit)}" x2="${at(limit)}" y1="0" y2="25"/></svg></td>
<td class="number"><span class="cell-name">Highest </span><strong>${highest.toFixed(2)}</strong> (≤ ${limit} wanted)</td>
<td class="number"><span class="cell-name">Within </span>${within} of ${own.length}</td></tr>
`;
  })}</tbody></table>`;
}

function growthTable(group: Growing[]): Html {
  const scale = Math.max(...group.map((figure) => Math.max(ratioOf(figure) ?? 0, limitOf(figure) ?? 0))) * 1.1;
  return html`<table class="plot growth">
<thead><tr><th scope="col">What</th><th scope="col">Many against few</th><th scope="col">Ratio</th><th scope="col">Few</th><th scope="col">Many</th></tr></thead>
<tbody>${group.map((figure) => {
    const [few, many] = [figure.growth.points[0], figure.growth.points.at(-1)];
    const ratio = ratioOf(figure) ?? 0;
    return html`<tr class="${verdictOf(figure).tone}"><th scope="row">${figure.name}</th>
<td class="chart">${ratioBar(ratio, limitOf(figure), scale)}</td>
<td class="number"><span class="cell-name">Ratio </span><strong>${ratio.toFixed(2)}</strong></td>
<td class="number"><span class="cell-name">Few </span>${measure(few?.value ?? 0, figure.unit)}</td>
<td class="number"><span class="cell-name">Many </span>${measure(many?.value ?? 0, figure.unit)}</td></tr>
`;
  })}</tbody></table>`;
}

function limitOf({ wanted }: Figure): number | null {
  return wanted?.of === 'ratio' && 'atMost' in wanted ? wanted.atMost : null;
}
