import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cpuTimes } from './cpu-time.ts';
import { attempt, PARSERS } from './parsers.ts';

/**
 * Twice the input, twice the time; a quadratic parser needs four times as much, so three times is the limit. Over two
 * doublings, since one of them may be where the input outgrows a cache of the processor.
 */
const GROWTH_LIMIT = 3 * 3;
/**
 * A pattern that looks at each character three hundred times is linear, too. So a character may cost at most this many
 * times what it costs JSON.parse in an object of nothing but keys that differ: some 40 ns on a quiet machine.
 */
const TIMES_JSON_PARSE_LIMIT = 10;
/** Not worth measuring: whatever a call costs besides its input. */
const FIXED_COST_MS = 0.1;

describe('CPU time follows the length of the input', () => {
  for (const parser of PARSERS) {
    for (const [what, make] of Object.entries(parser.worst)) {
      it(`of ${parser.name}: ${what}`, () => {
        const quarter = make(parser.limit / 4);
        const whole = make(parser.limit);
        let budgetMs = 0;
        const { quarterMs, wholeMs } = cpuTimes(
          () => attempt(parser, quarter),
          () => attempt(parser, whole),
          (least) => {
            // Measured beside each parser, since a machine that is busy is slower for both.
            const beside = FIXED_COST_MS + parser.limit * TIMES_JSON_PARSE_LIMIT * jsonParseMsPerCharacter();
            budgetMs = Math.max(budgetMs, beside);
            return least.wholeMs <= Math.min(budgetMs, GROWTH_LIMIT * least.quarterMs + FIXED_COST_MS);
          },
        );
        const figures = `${quarterMs.toFixed(3)} ms for a quarter of it, ${wholeMs.toFixed(3)} ms for the whole`;
        assert.ok(wholeMs <= budgetMs, `${figures}; at most ${budgetMs.toFixed(1)} ms are allowed`);
        assert.ok(wholeMs <= GROWTH_LIMIT * quarterMs + FIXED_COST_MS, figures);
      });
    }
  }
});

const KEYS = JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, 0])));

/** The most of some: it bounds what the parser, measured a moment before, may have cost here. */
function jsonParseMsPerCharacter(): number {
  const times = Array.from({ length: 5 }, () => {
    const startedAt = performance.now();
    JSON.parse(KEYS);
    return performance.now() - startedAt;
  });
  return Math.max(...times) / KEYS.length;
}
