import { type Html, html } from '../markup/html.ts';
import { benchTitle, byBench, shortNumber } from './figure-text.ts';
import type { Latency, RecordedFigure } from './figures-file.ts';

type Timed = RecordedFigure & { latency: Latency };

/** From p50 to p99 on a logarithmic scale, with a fine mark at the longest. */
export function latencyPlot(figures: readonly RecordedFigure[]): Html {
  const timed = figures.filter((figure): figure is Timed => figure.latency !== undefined);
  const scale = logScale(
    timed.flatMap(({ latency }) => [latency.p50Ms, latency.p99Ms, latency.longestMs ?? latency.p99Ms]),
  );
  return html`<table class="plot latencies">
<thead><tr><th scope="col">What</th><th scope="col" class="scale">p50 to p99${scaleMarks(scale)}</th><th scope="col">p50</th><th scope="col">p99</th><th scope="col">Longest</th></tr></thead>
${byBench(timed).map(
  ([bench, group]) => html`<tbody><tr class="group"><th colspan="5" scope="colgroup">${benchTitle(bench)}</th></tr>
${group.map((figure) => latencyRow(figure, scale))}</tbody>
`,
)}</table>`;
}

function latencyRow({ name, latency: { p50Ms, p99Ms, longestMs } }: Timed, scale: LogScale): Html {
  const ms = (value: number | undefined) => (value === undefined ? '–' : `${shortNumber(value)} ms`);
  const grid = scale.decades.map(
    (decade) => html`<line class="grid" x1="${scale.at(decade)}" x2="${scale.at(decade)}" y1="0" y2="100%"/>`,
  );
  return html`<tr><th scope="row">${name}</th>
<td class="chart"><svg class="drawn" aria-hidden="true">${grid}
${longestMs === undefined ? null : html`<line class="whisker" x1="${scale.at(p99Ms)}" x2="${scale.at(longestMs)}" y1="13" y2="13"/><line class="whisker" x1="${scale.at(longestMs)}" x2="${scale.at(longestMs)}" y1="8" y2="18"/>`}
<line class="span" x1="${scale.at(p50Ms)}" x2="${scale.at(p99Ms)}" y1="13" y2="13"/>
<circle class="p50" cx="${scale.at(p50Ms)}" cy="13" r="4.5"/><circle class="p99" cx="${scale.at(p99Ms)}" cy="13" r="4.5"/></svg></td>
<td class="number"><span class="cell-name">p50 </span>${ms(p50Ms)}</td>
<td class="number"><span class="cell-name">p99 </span>${ms(p99Ms)}</td>
<td class="number"><span class="cell-name">Longest </span>${ms(longestMs)}</td></tr>
`;
}

type LogScale = { decades: number[]; at(value: number): string };

/** Whole decades around all values. Both ends keep room for a dot. */
function logScale(values: number[]): LogScale {
  const positive = values.filter((value) => value > 0 && Number.isFinite(value));
  const from = Math.floor(Math.log10(Math.min(1, ...positive)));
  const to = Math.max(from + 1, Math.ceil(Math.log10(Math.max(...positive, 1))));
  const at = (value: number) => {
    const share = (Math.log10(Math.max(value, 10 ** from)) - from) / (to - from);
    return `${(2 + Math.min(share, 1) * 96).toFixed(2)}%`;
  };
  return { decades: Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index)), at };
}

function scaleMarks({ decades, at }: LogScale): Html {
  const anchor = (index: number) => (index === 0 ? 'start' : index === decades.length - 1 ? 'end' : 'middle');
  return html`<svg class="marks" aria-hidden="true">${decades.map(
    (decade, index) =>
      html`<text x="${at(decade)}" y="13" text-anchor="${anchor(index)}">${decade < 1 ? decade.toFixed(1) : decade.toLocaleString('en-US')} ms</text>`,
  )}</svg>`;
}
