/** Why a value can't be stored, and where in it: a path such as `deep[0].er`, empty for the value itself. */
export type Unstorable = { path: string; what: string };

/**
 * A value of any shape, such as `metadata`, that came in a large body: kept as its compact JSON and not built, because
 * ten megabytes of small values would take half a gigabyte. Written out with JSON.stringify it is the value again.
 */
export class CompactJson {
  /** Null for a value that has more bytes than any such value may have. */
  readonly text: string | null;
  readonly fault: Unstorable | null;

  constructor(text: string | null, fault: Unstorable | null) {
    this.text = text;
    this.fault = fault;
  }

  toJSON(): unknown {
    if (this.text === null) throw new Error('a value that is too large was to be written');
    return JSON.parse(this.text);
  }
}
