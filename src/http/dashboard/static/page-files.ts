import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Encoding } from '../../accept-encoding.ts';
import { strongEtagOf } from '../../etag.ts';

/** One file of the built dashboard, in every encoding that it is sent in. */
export type PageFile = {
  type: string;
  /** Null for the page itself and for files that compression does not make smaller. */
  encoded: { identity: EncodedFile } & Partial<Record<Encoding, EncodedFile>>;
  /** Its name carries a hash of its content, so browsers may keep it for good. */
  isHashed: boolean;
};

/** The bytes in one encoding. Each encoding has an ETag of its own, so the ETag is strong. */
export type EncodedFile = { body: Buffer; etag: string };

/** The built dashboard. */
export type PageFiles = {
  /** The one HTML page, which every address of the dashboard opens. */
  page: PageFile;
  /** By path, such as assets/main-x1y2z3.js. */
  files: ReadonlyMap<string, PageFile>;
};

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

/** Reads the whole build into memory: it is small, part of the release, and never changes while it is served. */
export function loadPageFiles(dir: string, basePath: string): PageFiles {
  const files = new Map<string, PageFile>();
  for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
    const type = TYPES[extname(name)];
    if (type !== undefined) files.set(name, pageFile(dir, name, type));
  }
  const html = files.get('index.html');
  if (html === undefined) throw new Error(`${dir} holds no index.html`);
  files.delete('index.html');
  return { page: atBasePath(html, basePath), files };
}

function pageFile(dir: string, name: string, type: string): PageFile {
  const path = join(dir, name);
  const br = readIfThere(`${path}.br`);
  const gzip = readIfThere(`${path}.gz`);
  return {
    type,
    encoded: {
      identity: encodedFile(readFileSync(path)),
      ...(br === null ? {} : { br: encodedFile(br) }),
      ...(gzip === null ? {} : { gzip: encodedFile(gzip) }),
    },
    isHashed: name.startsWith('assets/'),
  };
}

/** The build names its files relative to the page; a page may be opened at any depth, so their paths become absolute. */
function atBasePath(html: PageFile, basePath: string): PageFile {
  const text = html.encoded.identity.body
    .toString('utf8')
    .replaceAll(/(src|href)="\.\//g, `$1="${basePath}/`)
    .replace('name="base-path" content=""', `name="base-path" content="${basePath}"`);
  return { ...html, encoded: { identity: encodedFile(Buffer.from(text)) } };
}

function encodedFile(body: Buffer): EncodedFile {
  return { body, etag: strongEtagOf(body) };
}

function readIfThere(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}
