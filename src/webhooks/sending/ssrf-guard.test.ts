import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { NameLookups } from './dns/name-lookups.ts';
import { createSsrfGuard, type SsrfGuard } from './ssrf-guard.ts';

const strict = createSsrfGuard(false);
const development = createSsrfGuard(true);

/** Addresses that belong to nobody outside, in whatever dress. */
const FORBIDDEN_ADDRESSES = [
  // This host, loopback, private networks, CGNAT.
  '0.0.0.0',
  '0.1.2.3',
  '127.0.0.1',
  '127.255.255.254',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '100.64.0.1',
  '100.127.255.255',
  // Link-local, and what clouds put there and elsewhere.
  '169.254.0.1',
  '169.254.169.254',
  '169.254.170.2',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  // Reserved, documentation, benchmarking, relays, multicast, broadcast.
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  // IPv6: unspecified, loopback, link-local, site-local, unique local, multicast, discard, documentation.
  '::',
  '::1',
  'fe80::1',
  'febf::1',
  'fec0::1',
  'fc00::1',
  'fd00:ec2::254',
  'fd12:3456:789a::1',
  'ff02::1',
  '100::1',
  '2001:db8::1',
  '3fff::1',
  '5f00::1',
  '4000::1',
  // IPv4 in IPv6: mapped, compatible, translated, NAT64, 6to4, Teredo.
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '::ffff:a9fe:a9fe',
  '::127.0.0.1',
  '::a00:1',
  '::ffff:0:127.0.0.1',
  '64:ff9b::127.0.0.1',
  '64:ff9b::8.8.8.8',
  '64:ff9b:1::a00:1',
  '2002:7f00:1::',
  '2002:a00:1::1',
  '2001:0:4136:e378:8000:63bf:3fff:fdd2',
  '2001:2::1',
  '2001:10::1',
  '2001:20::1',
  // Not addresses at all.
  '',
  'localhost',
  '1.2.3',
  '8.8.8.8/32',
  'fe80::1%eth0',
];

const PUBLIC_ADDRESSES = ['8.8.8.8', '93.184.216.34', '172.32.0.1', '100.128.0.1', '::ffff:8.8.8.8', '2606:4700::1111'];

describe('the addresses that webhooks may go to', () => {
  it('the addresses that webhooks may go to are public ones only', () => {
    for (const address of FORBIDDEN_ADDRESSES) assert.equal(strict.isAllowed(address), false, address);
    for (const address of PUBLIC_ADDRESSES) assert.equal(strict.isAllowed(address), true, address);
  });

  it('the addresses that webhooks may go to are all of them in development', () => {
    for (const address of ['127.0.0.1', '10.0.0.1', '::1', '8.8.8.8']) {
      assert.equal(development.isAllowed(address), true, address);
    }
  });
});

describe('the URL of an endpoint', () => {
  const wrongs: [url: string, problem: RegExp][] = [
    ['', /absolute URL/],
    ['shop.example/hook', /absolute URL/],
    ['//shop.example/hook', /absolute URL/],
    ['https://', /absolute URL/],
    ['http://shop.example/hook', /begin with https/],
    ['ftp://shop.example/hook', /begin with https/],
    ['file:///etc/passwd', /begin with https/],
    ['javascript:alert(1)', /begin with https/],
    ['https://user@shop.example/', /user name or password/],
    ['https://:secret@shop.example/', /user name or password/],
    ['https://127.0.0.1@shop.example/', /user name or password/],
    ['https://shop.example/#part', /fragment/],
    [`https://shop.example/${'x'.repeat(2_000)}`, /at most 2000 characters/],
    // Loopback in every notation that a URL can have.
    ['https://127.0.0.1/', /private or reserved/],
    ['https://127.1/', /private or reserved/],
    ['https://2130706433/', /private or reserved/],
    ['https://0x7f000001/', /private or reserved/],
    ['https://0x7f.0.0.1/', /private or reserved/],
    ['https://0177.0.0.1/', /private or reserved/],
    ['https://017700000001/', /private or reserved/],
    ['https://127.0.0.1./', /private or reserved/],
    ['https://%31%32%37.0.0.1/', /private or reserved/],
    ['https://１２７.０.０.１/', /private or reserved/],
    ['https://127。0。0。1/', /private or reserved/],
    ['https://0/', /private or reserved/],
    ['https://0.0.0.0/', /private or reserved/],
    ['https://[::1]/', /private or reserved/],
    ['https://[::]/', /private or reserved/],
    ['https://[0:0:0:0:0:0:0:1]/', /private or reserved/],
    ['https://[::ffff:127.0.0.1]/', /private or reserved/],
    ['https://[::ffff:7f00:1]/', /private or reserved/],
    ['https://[::127.0.0.1]/', /private or reserved/],
    ['https://[64:ff9b::7f00:1]/', /private or reserved/],
    ['https://[2002:7f00:1::]/', /private or reserved/],
    ['https://[fe80::1]/', /private or reserved/],
    ['https://[fd00:ec2::254]/', /private or reserved/],
    // The rest of the networks inside.
    ['https://169.254.169.254/latest/meta-data/', /private or reserved/],
    ['https://2852039166/', /private or reserved/],
    ['https://0xa9fea9fe/', /private or reserved/],
    ['https://10.0.0.1:8443/', /private or reserved/],
    ['https://192.168.0.1/', /private or reserved/],
    ['https://100.64.0.1/', /private or reserved/],
    ['https://224.0.0.1/', /private or reserved/],
    ['https://[ff02::1]/', /private or reserved/],
    // Names that mean this machine or its network.
    ['https://localhost/', /local name/],
    ['https://LOCALHOST./', /local name/],
    ['https://localhost../', /local name/],
    ['https://api.localhost/', /local name/],
    ['https://printer.local/', /local name/],
    ['https://metadata.google.internal/', /local name/],
    ['https://router.lan/', /local name/],
    ['https://nas.home.arpa/', /local name/],
    ['https://postgres/', /local name/],
    ['https://postgres./', /local name/],
  ];
  it('the URL of an endpoint is refused when it is not https or names something inside', () => {
    for (const [url, problem] of wrongs) assert.match(strict.problemOf(url) ?? 'accepted', problem, url);
  });

  it('the URL of an endpoint is accepted when it is https and names something outside', () => {
    for (const url of [
      'https://shop.example/webhooks',
      'https://shop.example.:8443/a?b=c',
      'HTTPS://Shop.Example',
      'https://bücher.example/',
      'https://8.8.8.8/',
      'https://[2606:4700::1111]/',
      'https://localhost.shop.example/',
    ]) {
      assert.equal(strict.problemOf(url), null, url);
    }
  });

  it('the URL of an endpoint may be http and inside in development, and is still a plain URL', () => {
    for (const url of [
      'http://127.0.0.1:3000/hook',
      'http://localhost/',
      'https://[::1]:8443/',
      'http://receiver:80/',
    ]) {
      assert.equal(development.problemOf(url), null, url);
    }
    for (const url of ['ftp://localhost/', 'http://user@localhost/', 'http://localhost/#x', 'localhost:3000']) {
      assert.notEqual(development.problemOf(url), null, url);
    }
  });
});

describe('a name', () => {
  const resolving =
    (...addresses: string[]): NameLookups =>
    async () =>
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  const lookup = (guard: SsrfGuard, options: { all?: boolean } = {}) =>
    promisify<string, object, unknown>(guard.lookupFor('org_1', 1_000) as never)('shop.example', options);

  it('a name leads to its public addresses and to no other', async () => {
    const guard = createSsrfGuard(false, resolving('10.0.0.1', '93.184.216.34', '::1', '2606:4700::1111'));
    assert.deepEqual(await lookup(guard, { all: true }), [
      { address: '93.184.216.34', family: 4 },
      { address: '2606:4700::1111', family: 6 },
    ]);
  });

  it('a name that leads inside leads nowhere', async () => {
    for (const address of FORBIDDEN_ADDRESSES.filter((each) => each !== '')) {
      await assert.rejects(
        lookup(createSsrfGuard(false, resolving(address)), { all: true }),
        /webhooks may not go to/,
        address,
      );
    }
    await assert.rejects(lookup(createSsrfGuard(false, resolving()), { all: true }), /webhooks may not go to/);
  });

  it('a name that cannot be resolved is an error for each who asked', async () => {
    const guard = createSsrfGuard(false, async () => {
      throw new Error('queryA ESERVFAIL shop.example');
    });
    const results = await Promise.allSettled([lookup(guard), lookup(guard)]);
    assert.deepEqual(
      results.map((result) => result.status),
      ['rejected', 'rejected'],
    );
  });
});
