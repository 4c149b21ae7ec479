import { COMMAND_LINE, type TeamRole } from '../../../src/audit/actor.ts';
import { insertUser } from '../../../src/dealers/users/users.ts';
import { TEST_PASSWORD, TEST_PASSWORD_HASH } from '../passwords.ts';
import type { World } from '../world.ts';

/** A browser's side of the dashboard's API without the browser: keeps its cookies and sends its origin. */
export type DashboardClient = {
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<DashboardAnswer>;
  cookie(): string;
  signIn(email: string, password?: string): Promise<DashboardAnswer>;
};

export type DashboardAnswer = {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts what is in it.
  body: any;
  text: string;
};

export function dashboardClient(world: World, origin = world.channel.publicUrl): DashboardClient {
  const cookies = new Map<string, string>();
  const cookie = () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const client: DashboardClient = {
    cookie,
    async call(method, path, body, headers = {}) {
      const response = await fetch(`${world.origin}/api/dashboard${path}`, {
        method,
        headers: {
          ...(method === 'GET' ? {} : { origin }),
          ...(cookies.size === 0 ? {} : { cookie: cookie() }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      for (const line of response.headers.getSetCookie()) {
        const [pair = ''] = line.split(';');
        const [name = '', ...value] = pair.split('=');
        if (/max-age=0/i.test(line)) cookies.delete(name);
        else cookies.set(name, value.join('='));
      }
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
      return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : null };
    },
    signIn: (email, password = TEST_PASSWORD) => client.call('POST', '/session', { email, password }),
  };
  return client;
}

let peopleMade = 0;

/** Somebody of a dealer's team, signed in. */
export async function signedIn(
  world: World,
  options: { organizationId?: string; role?: TeamRole } = {},
): Promise<DashboardClient & { name: string; email: string; userId: string; organizationId: string }> {
  const organizationId = options.organizationId ?? (await world.dealer()).organizationId;
  peopleMade += 1;
  const email = `person${peopleMade}-${process.pid}@dealer.example`;
  const name = `Person ${peopleMade}`;
  const person = { organizationId, name, email, role: options.role ?? 'owner' };
  const { id: userId } = await insertUser(world.db, COMMAND_LINE, person, TEST_PASSWORD_HASH);
  const client = dashboardClient(world);
  const answer = await client.signIn(email);
  if (answer.status !== 200) throw new Error(`sign-in failed: ${answer.text}`);
  return { ...client, name, email, userId, organizationId };
}
