import type { Html } from './markup/html.ts';

/** One page of the documentation. The shell makes the menus from these, so a new page is one new entry in pages.ts. */
export type DocsPage = {
  /** Below /docs; unique. */
  path: string;
  title: string;
  /** The name of the page in menus. */
  label: string;
  /** The part of the menu it stands in. */
  group: 'Reference' | 'Guides';
  /** The description for search engines and previews. */
  description: string;
  /** The last line, where the page is not made from the contract. */
  colophon?: string;
  /** Made when the page is first asked for: all pages together are a twentieth of a start. */
  content(): PageContent;
};

export type PageContent = {
  /** What stands above the text, over the whole width. */
  hero: Html;
  contents: readonly ContentsGroup[];
  body: Html;
};

/** A part of the menu of the page, under its own title. */
export type ContentsGroup = { title: string; entries: readonly ContentsEntry[] };

/** A heading that the menu of the page leads to. */
export type ContentsEntry = { id: string; label: Html | string; entries?: readonly ContentsEntry[] };

/** What pages need to know of where they are served. */
export type Site = {
  /** The {base_url} that clients use. */
  publicUrl: string;
  /** The path of the base URL, for links inside the site: empty, or such as "/crownwheel" behind a proxy. */
  basePath: string;
};

export function siteAt(publicUrl: string): Site {
  return { publicUrl, basePath: new URL(publicUrl).pathname.replace(/\/+$/, '') };
}
