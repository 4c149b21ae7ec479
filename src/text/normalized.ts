/** Unicode's own bound for text that is processed as a stream; no language has as many. */
const MARKS_LIMIT = 30;
const LONG_RUN_OF_MARKS = new RegExp(`(\\p{M}{${MARKS_LIMIT}})\\p{M}+`, 'gu');

/**
 * Text in a normal form of Unicode, for comparison. To bring accents into their order takes the square of how many follow each
 * other, 20 s for a hundred thousand, so those past the limit are left out.
 */
export function normalized(text: string, form: 'NFC' | 'NFKD'): string {
  return text.replace(LONG_RUN_OF_MARKS, '$1').normalize(form);
}
