import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { instantOf, localTimeOf } from '../../dashboard/src/time-zone.ts';

/** Zones on both sides of UTC, and one whose clocks change by half an hour. */
describe('a local time of the business', () => {
  function assertInstants(table: [localTime: string, zone: string, instant: string][]): void {
    for (const [localTime, zone, instant] of table) {
      assert.equal(instantOf(localTime, zone), `${instant}:00.000Z`, `${localTime} in ${zone}`);
    }
  }

  it('that the clocks skip in spring is later by as much as they skip', () => {
    assertInstants([
      ['2026-03-29T02:30', 'Europe/Zurich', '2026-03-29T01:30'],
      ['2026-10-04T02:30', 'Australia/Sydney', '2026-10-03T16:30'],
      ['2026-03-08T02:30', 'America/New_York', '2026-03-08T07:30'],
      ['2026-10-04T02:15', 'Australia/Lord_Howe', '2026-10-03T15:45'],
    ]);
    assert.equal(
      localTimeOf(instantOf('2026-03-08T02:30', 'America/New_York'), 'America/New_York'),
      '2026-03-08T03:30',
    );
  });

  it('of a day that begins by a skip stays on that day', () => {
    assertInstants([
      ['2026-09-06T00:00', 'America/Santiago', '2026-09-06T04:00'],
      ['2026-09-06T00:30', 'America/Santiago', '2026-09-06T04:30'],
    ]);
    assert.equal(localTimeOf('2026-09-06T04:30:00Z', 'America/Santiago'), '2026-09-06T01:30');
  });

  it('that comes twice in autumn is the first of both', () => {
    assertInstants([
      ['2026-10-25T02:30', 'Europe/Zurich', '2026-10-25T00:30'],
      ['2026-04-05T02:30', 'Australia/Sydney', '2026-04-04T15:30'],
      ['2026-11-01T01:30', 'America/New_York', '2026-11-01T05:30'],
      ['2026-04-05T01:45', 'Australia/Lord_Howe', '2026-04-04T14:45'],
      // Midnight comes twice: the day begins with the first one.
      ['2026-11-01T00:00', 'America/Havana', '2026-11-01T04:00'],
    ]);
  });

  it('around a change of the clocks, and in a zone that has none, is what the clock shows', () => {
    assertInstants([
      ['2026-03-29T01:59', 'Europe/Zurich', '2026-03-29T00:59'],
      ['2026-03-29T03:00', 'Europe/Zurich', '2026-03-29T01:00'],
      ['2026-10-25T03:00', 'Europe/Zurich', '2026-10-25T02:00'],
      ['2026-03-08T01:59', 'America/New_York', '2026-03-08T06:59'],
      ['2026-03-08T03:00', 'America/New_York', '2026-03-08T07:00'],
      ['2026-11-01T02:00', 'America/New_York', '2026-11-01T07:00'],
      ['2026-07-01T12:00', 'Asia/Kolkata', '2026-07-01T06:30'],
      ['2026-03-08T02:30', 'America/Phoenix', '2026-03-08T09:30'],
      ['2026-07-01T00:00', 'Pacific/Kiritimati', '2026-06-30T10:00'],
    ]);
  });
});
