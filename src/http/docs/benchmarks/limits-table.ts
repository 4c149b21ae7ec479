import { type Html, html } from '../markup/html.ts';
import { benchTitle, byBench, measure, verdictOf, wantedText } from './figure-text.ts';
import type { FiguresFile, RecordedFigure } from './figures-file.ts';

/** What keeps each figure from being better, and what an operation costs. */
export function limitsTable(figures: readonly RecordedFigure[]): Html {
  const explained = figures.filter(({ limitedBy }) => limitedBy !== undefined);
  return html`<table class="plot limits">
<thead><tr><th scope="col">What</th><th scope="col">What limits it</th><th scope="col">CPU each, service</th><th scope="col">PostgreSQL</th></tr></thead>
${byBench(explained).map(
  ([bench, group]) => html`<tbody><tr class="group"><th colspan="4" scope="colgroup">${benchTitle(bench)}</th></tr>
${group.map(
  ({ name, limitedBy = '', cpuMicroseconds: cpu }) => html`<tr><th scope="row">${name}</th><td>${limitedBy}</td>
<td class="number"><span class="cell-name">Service </span>${microseconds(cpu?.service)}</td>
<td class="number"><span class="cell-name">PostgreSQL </span>${microseconds(cpu?.postgresql)}</td></tr>
`,
)}</tbody>
`,
)}</table>`;
}

/** Figures that are compared with nothing: rates, times and counts for themselves. */
export function plainFigures(figures: readonly RecordedFigure[]): Html {
  const plain = figures.filter(({ bare, growth }) => bare === undefined && growth === undefined);
  return html`<table class="plot values">
<thead><tr><th scope="col">What</th><th scope="col">Measured</th><th scope="col">Wanted</th><th scope="col">Note</th></tr></thead>
${byBench(plain).map(
  ([bench, group]) => html`<tbody><tr class="group"><th colspan="4" scope="colgroup">${benchTitle(bench)}</th></tr>
${group.map((figure) => {
  const { tone, word } = verdictOf(figure);
  const { name, ours, unit, wanted, note = '' } = figure;
  return html`<tr class="${tone}"><th scope="row">${name}</th>
<td class="number"><strong>${measure(ours, unit)}</strong></td>
<td class="number">${wanted === undefined ? '–' : html`${wantedText(wanted, unit)} <span class="verdict">${word}</span>`}</td><td>${note}</td></tr>
`;
})}</tbody>
`,
)}</table>`;
}

/** When, where and from which commit each bench was run. */
export function runsTable({ runs, figures, failures }: FiguresFile): Html {
  const entries = Object.entries(runs).map(([id, run]) => {
    const bench = [...figures, ...failures].find((entry) => entry.run === id)?.bench ?? '';
    return { id, run, bench, failure: failures.find((entry) => entry.run === id) };
  });
  return html`<table class="plot runs">
<thead><tr><th scope="col">Bench</th><th scope="col">Began, UTC</th><th scope="col">Took</th><th scope="col">Load before</th><th scope="col">Stolen</th><th scope="col">Commit</th><th scope="col">Machine</th></tr></thead>
<tbody>${byBench(entries).flatMap(([, own]) =>
    own.map(
      ({
        run,
        bench,
        failure,
      }) => html`<tr class="${failure === undefined ? 'free' : 'missed'}"><th scope="row">${benchTitle(bench)}${
        failure === undefined ? null : html`<br><span class="verdict">failed</span> ${failure.message}`
      }</th>
<td class="number">${timeText(run.startedAt)}</td>
<td class="number"><span class="cell-name">Took </span>${run.seconds} s</td>
<td class="number"><span class="cell-name">Load before </span>${run.loadBefore.toFixed(2)}</td>
<td class="number"><span class="cell-name">Stolen </span>${run.stolen === undefined ? 'unknown' : `${(run.stolen * 100).toFixed(1)} %`}</td>
<td><code>${run.commit === '' ? 'unknown' : run.commit.slice(0, 9)}</code>${run.isModified ? ' and changes' : ''}</td>
<td>${machineText(run.machine)}</td></tr>
`,
    ),
  )}</tbody></table>`;
}

export function machineText({
  cores,
  processor,
  memoryMb,
  node,
  postgresql,
}: FiguresFile['runs'][string]['machine']): string {
  return `${cores} cores (${processor}), ${(memoryMb / 1024).toFixed(0)} GB, Node ${node}, PostgreSQL ${postgresql}`;
}

/** 2026-11-16 13:05, as it stands in the file. */
export function timeText(iso: string): string {
  return iso.slice(0, 16).replace('T', ' ');
}

function microseconds(value: number | undefined): string {
  return value === undefined ? '–' : `${Math.round(value).toLocaleString('en-US')} µs`;
}
