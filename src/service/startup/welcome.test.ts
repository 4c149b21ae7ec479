import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from '../../config.ts';
import { welcome } from './welcome.ts';

const DEMO = { email: 'demo@crownwheel.example', password: 'hush-hush', liveKey: 'svc_live', testKey: 'svc_test' };

describe('the text at the start', () => {
  const textOf = (environment: Record<string, string>, isNew: boolean) =>
    welcome(readConfig(environment), { ...DEMO, isNew }, 1);
  const secrets = /svc_live|svc_test|hush-hush/;

  it('shows the demo’s keys and password on a machine that only its own people reach', () => {
    for (const environment of [{}, { HOST: '::1' }, { PUBLIC_URL: 'http://shop.localhost:4000' }]) {
      for (const secret of ['svc_live', 'svc_test', 'hush-hush']) {
        assert.ok(textOf(environment, false).includes(secret), JSON.stringify(environment));
      }
    }
  });

  it('shows them only when they were just made where others reach the service', () => {
    for (const environment of [
      { HOST: '0.0.0.0' },
      { HOST: '10.0.0.7' },
      { PUBLIC_URL: 'https://api.example.com' },
      { PUBLIC_URL: 'http://api.example.com' },
    ]) {
      assert.doesNotMatch(textOf(environment, false), secrets, JSON.stringify(environment));
      assert.match(textOf(environment, false), /\.data\/demo\.json holds its keys/);
      assert.match(textOf(environment, true), secrets, JSON.stringify(environment));
    }
  });
});
