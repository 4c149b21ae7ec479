import { CURRENT_VERSION } from '../../contract/versions.ts';
import { assetPath } from './assets.ts';
import { crownWheelMark } from './markup/crown-wheel.ts';
import { type Html, html } from './markup/html.ts';
import type { ContentsEntry, ContentsGroup, DocsPage, Site } from './page.ts';

/** The shell around every page: masthead, the menu of pages, the menu of the page, and the page. */
export function renderPage(page: DocsPage, pages: readonly DocsPage[], site: Site): string {
  const { hero, contents, body } = page.content();
  const menu = menuOf(page, contents, pages, site);
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title} · Crownwheel</title>
<meta name="description" content="${page.description}">
${pages.includes(page) ? html`<link rel="canonical" href="${site.publicUrl}/docs${page.path}">` : null}
<link rel="icon" type="image/svg+xml" href="${assetUrl('icon.svg', site)}">
<link rel="preload" as="font" type="font/woff2" crossorigin href="${assetUrl('fonts/jost.woff2', site)}">
<link rel="preload" as="font" type="font/woff2" crossorigin href="${assetUrl('fonts/source-sans.woff2', site)}">
<link rel="stylesheet" href="${assetUrl('style.css', site)}">
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<header class="masthead">
<div class="bar">
<a class="brand" href="${site.basePath}/docs/api">${crownWheelMark()}<span>Crownwheel</span></a>
<nav aria-label="Documentation">
${pages.map((other) => pageLink(other, page, site))}
<a href="${site.basePath}/api/v1/openapi.json">OpenAPI</a>
</nav>
<p class="version"><span>Version</span> ${CURRENT_VERSION}</p>
</div>
</header>
<section aria-label="Title">
${hero}
</section>
<div class="frame${menu === null ? ' without-menu' : ''}">
${
  menu === null
    ? null
    : html`<aside class="rail">${menu}</aside>
<details class="pocket"><summary>Contents</summary>${menu}</details>`
}
<main id="content">
${body}
</main>
</div>
<footer class="colophon">
<p>Crownwheel API, version ${CURRENT_VERSION}. ${page.colophon ?? 'This page is made from the same declarations that answer requests.'}</p>
</footer>
</body>
</html>
`;
  return document.markup;
}

function assetUrl(path: string, site: Site): string {
  return `${site.basePath}/docs/api/${assetPath(path)}`;
}

function pageLink(target: DocsPage, current: DocsPage, site: Site): Html {
  const isCurrent = target.path === current.path;
  return html`<a href="${site.basePath}/docs${target.path}"${isCurrent ? html` aria-current="page"` : null}>${target.label}</a>
`;
}

/** The menu beside a page: the guides, if there are any, then the headings of the page. */
function menuOf(
  page: DocsPage,
  contents: readonly ContentsGroup[],
  pages: readonly DocsPage[],
  site: Site,
): Html | null {
  const guides = pages.filter((other) => other.group === 'Guides');
  if (guides.length === 0 && contents.length === 0) return null;
  return html`${
    guides.length === 0
      ? null
      : html`<nav aria-label="Guides"><p class="menu-title">Guides</p><ul>${guides.map(
          (guide) => html`<li>${pageLink(guide, page, site)}</li>`,
        )}</ul></nav>`
  }<nav class="contents" aria-label="On this page">${contents.map(
    (group) => html`<p class="menu-title">${group.title}</p>${contentsList(group.entries)}`,
  )}</nav>`;
}

function contentsList(entries: readonly ContentsEntry[]): Html {
  return html`<ul>${entries.map(
    (entry) =>
      html`<li><a href="#${entry.id}">${entry.label}</a>${entry.entries === undefined ? null : contentsList(entry.entries)}</li>`,
  )}</ul>`;
}
