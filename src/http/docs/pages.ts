import { readFigures } from './benchmarks/figures-file.ts';
import { type OpenapiView, openapiView } from './openapi-view.ts';
import type { DocsPage, Site } from './page.ts';
import { benchmarksPage } from './pages/benchmarks-page.ts';
import { errorCataloguePage } from './pages/error-catalogue.ts';
import { overviewPage } from './pages/overview.ts';
import { webhooksPage } from './pages/webhooks-page.ts';

/** Every page, in the order of the menus. A new page is written in a file of its own and named here. */
export function docsPages(site: Site): readonly DocsPage[] {
  let view: OpenapiView | undefined;
  const openapi = () => {
    view ??= openapiView(site.publicUrl);
    return view;
  };
  return [
    overviewPage(openapi, site),
    webhooksPage(openapi, site),
    errorCataloguePage(openapi, site),
    benchmarksPage(readFigures),
  ];
}
