import { request } from 'node:http';
import { assertMatchesContract } from './contract-check.ts';

export type ApiResponse = {
  status: number;
  headers: Record<string, string>;
  text: string;
  /** The parsed body; tests read it freely. */
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts on whatever the server really sent.
  body: any;
};

export type ApiRequest = {
  method?: string;
  headers?: Record<string, string>;
  /** Sent as it is if it is text or bytes, else as JSON. */
  body?: unknown;
};

/** Speaks HTTP to the server under test. Each answer of a known operation is checked against OpenAPI. */
export type ApiClient = {
  send(path: string, options?: ApiRequest): Promise<ApiResponse>;
  get(path: string, headers?: Record<string, string>): Promise<ApiResponse>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse>;
};

export function apiClient(origin: string, apiKey: string | null): ApiClient {
  async function send(path: string, options: ApiRequest = {}): Promise<ApiResponse> {
    const method = options.method ?? 'GET';
    const response = await exchange(`${origin}/api${path}`, {
      ...options,
      method,
      headers: { ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }), ...options.headers },
    });
    assertMatchesContract(method, path, response);
    return response;
  }
  return {
    send,
    get: (path, headers = {}) => send(path, { headers }),
    post: (path, body, headers = {}) => send(path, { method: 'POST', body, headers }),
  };
}

/** One HTTP exchange by node:http, which sends a path as it is written. */
export async function exchange(url: string, options: ApiRequest): Promise<ApiResponse> {
  const { hostname, port, origin } = new URL(url);
  const isRaw = options.body === undefined || typeof options.body === 'string' || options.body instanceof Uint8Array;
  const payload = isRaw ? (options.body as string | Uint8Array | undefined) : JSON.stringify(options.body);
  const headers: Record<string, string | number> = { ...options.headers };
  if (!isRaw) headers['content-type'] ??= 'application/json';
  if (payload !== undefined) headers['content-length'] ??= Buffer.byteLength(payload);
  return await new Promise((resolve, reject) => {
    const outgoing = request(
      { hostname, port, path: url.slice(origin.length), method: options.method ?? 'GET', headers },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const isJson = response.headers['content-type']?.startsWith('application/json') ?? false;
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers as Record<string, string>,
            text,
            body: isJson && text !== '' ? JSON.parse(text) : null,
          });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(payload);
  });
}
