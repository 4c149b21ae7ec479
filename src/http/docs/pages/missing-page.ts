import { html } from '../markup/html.ts';
import type { DocsPage, Site } from '../page.ts';

/** What stands in place of a page that does not exist; it is in no menu. */
export function missingPage(pages: readonly DocsPage[], site: Site): DocsPage {
  return {
    path: '/missing',
    title: 'Page not found',
    label: 'Page not found',
    group: 'Reference',
    description: 'There is no such page.',
    content: () => ({
      hero: html`<div class="hero"><div>
<p class="eyebrow">404</p>
<h1>This page is not here.</h1>
<p class="lead">The address may have been cut off on its way, or the page has another name now. These are the pages there are.</p>
</div></div>`,
      contents: [],
      body: html`<ul class="signposts">${pages.map(
        (page) =>
          html`<li><a href="${site.basePath}/docs${page.path}"><strong>${page.title}</strong><span>${page.description}</span></a></li>`,
      )}</ul>`,
    }),
  };
}
