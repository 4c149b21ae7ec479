import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { BucketSettings } from '../../../src/inventory/photos/storage/photo-bucket.ts';

export const BUCKET = 'photos-of-a-dealer';
/** So few that paging is used. */
const PAGE = 3;

/** A server that speaks as much of S3 as we use, for the key `id`, with one bucket. */
export type S3Server = {
  endpoint: string;
  objects: Map<string, Buffer>;
  /** Answers carry no length: they end with the connection's chunks. */
  hasNoLengths: boolean;
  /** Writing answers 403 AccessDenied, as with a key that may only read. */
  isReadOnly: boolean;
  /** How it fails, by the method and key of a request; null serves it. */
  faultOf: (method: string, key: string) => S3Fault | null;
  /** Requests whose answers are not sent, or not read, to their end. */
  unanswered(): number;
  stop(): Promise<void>;
};

/** Never answers; answers 200 and the first half, then nothing more; answers 500; cuts the connection in the middle. */
export type S3Fault = 'silent' | 'stalled' | 'failing' | 'truncated';

export async function startS3(): Promise<S3Server> {
  let unanswered = 0;
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://s3');
    const [, bucket = '', ...rest] = decodeURIComponent(url.pathname).split('/');
    const key = rest.join('/');
    const fault = s3.faultOf(request.method ?? '', key);
    unanswered += 1;
    response.once('close', () => {
      unanswered -= 1;
    });
    if (fault === 'silent') return;
    const { status, body } =
      fault === 'failing' ? FAILING : answer(s3, request, url, bucket, key, await buffer(request));
    if (fault === 'stalled' || fault === 'truncated') {
      response.writeHead(status, { 'content-length': body.length + 1 });
      response.write(body.subarray(0, body.length / 2));
      if (fault === 'truncated') setImmediate(() => response.destroy());
      return;
    }
    response.writeHead(status, s3.hasNoLengths ? {} : { 'content-length': body.length });
    // Two writes, since Node adds the length of an answer that it gets in one.
    if (request.method !== 'HEAD') response.write(body);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const s3: S3Server = {
    endpoint: `http://127.0.0.1:${port}`,
    objects: new Map(),
    hasNoLengths: false,
    isReadOnly: false,
    faultOf: () => null,
    unanswered: () => unanswered,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return s3;
}

const FAILING = { status: 500, body: Buffer.from('<Error><Code>InternalError</Code><Message>ours</Message></Error>') };

/** The settings of its bucket. */
export function bucketSettings({ endpoint }: Pick<S3Server, 'endpoint'>): BucketSettings {
  return {
    bucket: BUCKET,
    region: 'us-east-1',
    endpoint,
    credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
    isPathStyle: true,
    prefix: 'crownwheel/',
  };
}

function answer(
  { objects, isReadOnly }: S3Server,
  request: IncomingMessage,
  url: URL,
  bucket: string,
  key: string,
  content: Buffer,
): { status: number; body: Buffer } {
  const xml = (status: number, text: string) => ({ status, body: Buffer.from(text) });
  const error = (status: number, code: string) =>
    xml(status, `<Error><Code>${code}</Code><Message>${code}</Message></Error>`);
  assert.match(request.headers.authorization ?? '', /^AWS4-HMAC-SHA256 Credential=id\//);
  if (bucket !== BUCKET) return error(404, 'NoSuchBucket');
  if (isReadOnly && request.method !== 'GET' && request.method !== 'HEAD') return error(403, 'AccessDenied');
  if (request.method === 'PUT') {
    if (request.headers['if-none-match'] === '*' && objects.has(key)) return error(412, 'PreconditionFailed');
    objects.set(key, content);
    return xml(200, '');
  }
  if (request.method === 'POST') {
    for (const [, found = ''] of content.toString().matchAll(/<Key>([^<]*)<\/Key>/g)) objects.delete(found);
    return xml(200, '<DeleteResult/>');
  }
  if (key === '') {
    const token = url.searchParams.get('continuation-token') ?? '';
    const prefix = url.searchParams.get('prefix') ?? '';
    const keys = [...objects.keys()].filter((name) => name.startsWith(prefix) && name > token).sort();
    const page = keys.slice(0, PAGE);
    const more = keys.length > PAGE ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';
    const contents = page.map((name) => `<Contents><Key>${name}</Key></Contents>`).join('');
    return xml(200, `<ListBucketResult><Name>${BUCKET}</Name>${contents}${more}</ListBucketResult>`);
  }
  const found = objects.get(key);
  return found === undefined ? error(404, 'NoSuchKey') : { status: 200, body: found };
}
