import { type Figure, type FiguresFile, isMet } from '../benchmarks/figures-file.ts';
import { growthPlots } from '../benchmarks/growth-plot.ts';
import { latencyPlot } from '../benchmarks/latency-plot.ts';
import { limitsTable, machineText, plainFigures, runsTable, timeText } from '../benchmarks/limits-table.ts';
import { ratioPlot } from '../benchmarks/ratio-plot.ts';
import { type Chapter, chapterSection, contentsEntry } from '../chapter.ts';
import { type Html, html } from '../markup/html.ts';
import type { DocsPage, PageContent } from '../page.ts';

/** The figures of the last run of `npm run bench`: how fast the service is, against what its machine can do at best. */
export function benchmarksPage(read: () => FiguresFile): DocsPage {
  return {
    path: '/api/benchmarks',
    title: 'Benchmarks',
    label: 'Speed',
    group: 'Reference',
    description:
      'How fast Crownwheel is, as ratios against what the same machine can do at best, measured in the same run.',
    colophon: 'This page shows the last run of npm run bench, as it is in figures.json.',
    content: () => contentOf(read()),
  };
}

function contentOf(file: FiguresFile): PageContent {
  const chapters = file.figures.length === 0 ? [nothingMeasured()] : chaptersOf(file);
  return {
    hero: html`<div class="hero"><div>
<p class="eyebrow">Reference</p>
<h1>Benchmarks</h1>
<p class="lead">Every figure stands beside what the same machine can do at best, measured in the same run. So you can compare them with
your own machine: run <code>npm run bench</code>, and this page shows your figures.</p>
${file.figures.length === 0 ? null : whereAndWhen(file)}
</div></div>`,
    contents: [{ title: 'Benchmarks', entries: chapters.map(contentsEntry) }],
    body: html`${chapters.map(chapterSection)}`,
  };
}

function whereAndWhen({ runs, figures }: FiguresFile): Html {
  const newest = Object.values(runs).reduce((a, b) => (a.startedAt > b.startedAt ? a : b));
  const aims = figures.map(isMet).filter((met) => met !== null);
  return html`<dl class="coordinates">
<div><dt>Last run</dt><dd>${timeText(newest.startedAt)} UTC</dd></div>
<div><dt>Machine</dt><dd>${machineText(newest.machine)}</dd></div>
<div><dt>Aims</dt><dd>${aims.filter(Boolean).length} of ${aims.length} met</dd></div>
</dl>`;
}

function nothingMeasured(): Chapter {
  return {
    id: 'nothing',
    title: 'Nothing is measured yet',
    body: html`<p>Run <code>npm run bench</code> on an otherwise idle machine, then restart the service.</p>`,
  };
}

/** A chapter that no figure belongs to is left out. */
function chaptersOf(file: FiguresFile): Chapter[] {
  const { figures } = file;
  const chapters: (Chapter & { has(figure: Figure): boolean })[] = [
    {
      has: ({ bare }) => bare !== undefined,
      id: 'ratios',
      title: 'Ratios against the bare limit',
      body: html`<ul class="rules">
<li><strong>The bare limit</strong> is a program that does the least that the task needs: a server that sends the same bytes, PostgreSQL
writing the same rows, a loop that signs and posts the same bodies. It checks no key, keeps no promise and knows no dealer.</li>
<li><strong>A rate</strong> is divided by the bare rate: 1 is as fast as the bare limit, and more is better. <strong>A time</strong> is divided by the bare time: less is better.</li>
<li><strong>The brass mark</strong> is the aim, the fine rule is 1. Where a bar misses its aim, the row says “missed”.</li>
</ul>
${ratioPlot(figures)}`,
    },
    {
      has: ({ latency }) => latency !== undefined,
      id: 'latencies',
      title: 'Latencies',
      body: html`<p>Half of the requests are faster than p50, one of a hundred is slower than p99. The scale is logarithmic: from one mark to the next
is ten times as long. A webhook’s time ends when the receiver has it, which may be before its
sender has read the answer: then the time from the answer is negative.</p>
${latencyPlot(figures)}`,
    },
    {
      has: ({ growth }) => growth !== undefined,
      id: 'growth',
      title: 'Growth by size',
      body: html`<p>What takes longer when there is more? Each line compares the same work beside little and beside much data.</p>
${growthPlots(figures)}`,
    },
    {
      has: ({ limitedBy }) => limitedBy !== undefined,
      id: 'limits',
      title: 'What limits each',
      body: html`<p>CPU time is that of the service’s process and of PostgreSQL’s, for one operation. At full load, the busiest of them is the limit.</p>
${limitsTable(figures)}`,
    },
    {
      has: ({ bare, growth }) => bare === undefined && growth === undefined,
      id: 'values',
      title: 'Compared with nothing',
      body: html`<p>These depend on the machine. Use them for its size, not for comparisons.</p>
${plainFigures(figures)}`,
    },
    {
      has: () => true,
      id: 'runs',
      title: 'The runs',
      body: html`<p>Each bench can be run by itself; then only its figures are replaced. A load above 0.5 before a run means that the machine did
something else as well, and the figures are worse than they could be. So are those of a run during which the host of a virtual machine took
the processors away for more than a few percent of their time (“stolen”).</p>
${runsTable(file)}`,
    },
  ];
  return chapters.filter(({ has }) => figures.some(has));
}
