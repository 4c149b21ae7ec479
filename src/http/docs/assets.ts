import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { crownWheelIcon } from './markup/crown-wheel.ts';

/** A file that pages use. Its URL carries a hash of its content, so browsers may keep it for good. */
export type Asset = { path: string; type: string; body: Buffer; version: string };

const FONTS = {
  'fonts/jost.woff2': '@fontsource-variable/jost/files/jost-latin-wght-normal.woff2',
  'fonts/source-sans.woff2': '@fontsource-variable/source-sans-3/files/source-sans-3-latin-wght-normal.woff2',
  'fonts/plex-mono.woff2': '@fontsource/ibm-plex-mono/files/ibm-plex-mono-latin-400-normal.woff2',
  'fonts/plex-mono-medium.woff2': '@fontsource/ibm-plex-mono/files/ibm-plex-mono-latin-500-normal.woff2',
};

/** Sent as one file, in this order: the later ones build on the earlier. */
const STYLE_FILES = [
  '../style/tokens.css',
  'style/foundation.css',
  'style/shell.css',
  'style/text.css',
  'style/code.css',
  'style/tables.css',
  'style/reference.css',
  'style/benchmarks.css',
  'style/media.css',
];

/** Below /docs/api/. Read once: the files are part of the release. */
export const ASSETS: readonly Asset[] = loadAssets();

/** The path of an asset, with its version, below /docs/api/. */
export function assetPath(path: string): string {
  const asset = ASSETS.find((candidate) => candidate.path === path);
  if (asset === undefined) throw new Error(`there is no asset ${path}`);
  return `${asset.path}?v=${asset.version}`;
}

export function versionOf(body: Buffer | string): string {
  return createHash('sha256').update(body).digest('base64url').slice(0, 16);
}

function loadAssets(): Asset[] {
  const fonts = Object.entries(FONTS).map(([path, file]) =>
    asset(path, 'font/woff2', readFileSync(new URL(import.meta.resolve(file)))),
  );
  const style = STYLE_FILES.map((file) => readFileSync(new URL(file, import.meta.url), 'utf8')).join('\n');
  return [
    ...fonts,
    asset('style.css', 'text/css; charset=utf-8', Buffer.from(withVersions(style, fonts))),
    asset('icon.svg', 'image/svg+xml', Buffer.from(crownWheelIcon())),
  ];
}

/** The style names its fonts plainly; browsers must see their versions, and a new font must change the style's own. */
function withVersions(style: string, fonts: readonly Asset[]): string {
  return style.replaceAll(/url\("(fonts\/[^"]+)"\)/g, (_, path: string) => {
    const font = fonts.find((candidate) => candidate.path === path);
    if (font === undefined) throw new Error(`the style names a font that is not served: ${path}`);
    return `url("${path}?v=${font.version}")`;
  });
}

function asset(path: string, type: string, body: Buffer): Asset {
  return { path, type, body, version: versionOf(body) };
}
