/**
 * SQL as SQL: a tagged template whose values become parameters. `sql` inside `sql` is spliced in as text, so a
 * condition can be put together from parts without ever quoting a value by hand.
 */
export class Sql {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Statements from one call site share a name, so each connection parses and plans them once. */
  readonly name: string | undefined;

  constructor(text: string, values: readonly unknown[], name: string | undefined) {
    this.text = text;
    this.values = values;
    this.name = name;
  }
}

export function sql(strings: TemplateStringsArray, ...inputs: unknown[]): Sql {
  if (!inputs.some((input) => input instanceof Sql)) {
    const { text, name } = plainStatement(strings, inputs.length);
    return new Sql(text, inputs, name);
  }
  const known = composedByCallSite.get(strings) ?? [];
  const composed =
    known.find(({ nested }) => inputs.every((input, index) => nestedText(input) === nested[index])) ??
    compose(strings, inputs);
  if (composed !== known[0])
    composedByCallSite.set(strings, known[0] === undefined ? [composed] : [composed, known[0]]);
  return new Sql(composed.text, flatValues(inputs), composed.name);
}

/** A statement with others inside, as it was put together at its call site. */
type Composed = { nested: (string | undefined)[]; text: string; name: string | undefined };

/**
 * Putting the text together costs more than all values. Mostly the parts are those of one of the last two times: there is
 * one row, or there are several.
 */
const composedByCallSite = new WeakMap<TemplateStringsArray, Composed[]>();

function compose(strings: TemplateStringsArray, inputs: unknown[]): Composed {
  let count = 0;
  let text = strings[0] ?? '';
  for (const [index, input] of inputs.entries()) {
    if (input instanceof Sql) {
      text += renumber(input.text, count);
      count += input.values.length;
    } else {
      count += 1;
      text += `$${count}`;
    }
    text += strings[index + 1] ?? '';
  }
  return { nested: inputs.map(nestedText), text, name: composedName(text) };
}

function nestedText(input: unknown): string | undefined {
  return input instanceof Sql ? input.text : undefined;
}

function flatValues(inputs: unknown[]): unknown[] {
  const values: unknown[] = [];
  for (const input of inputs) {
    if (input instanceof Sql) values.push(...input.values);
    else values.push(input);
  }
  return values;
}

/**
 * The same statement without a name, so that the server plans it for the values at hand: right for a thousand rows at
 * once, where the plan for any values took ten times longer. A setting for the whole transaction would be wrong, as it
 * would also plan the check of each row's foreign keys anew.
 */
export function plannedAnew({ text, values }: Sql): Sql {
  return new Sql(text, values, undefined);
}

/** Text that is already SQL: an identifier from our own code, a migration file. Never anything a client sent. */
export function rawSql(text: string): Sql {
  return new Sql(text, [], undefined);
}

type Plain = { text: string; name: string };

const plainByCallSite = new WeakMap<TemplateStringsArray, Plain>();
const nameByText = new Map<string, string>();
let namesGiven = 0;

/** Each text that is put together from parts gets a name as well, as long as there are not too many of them. */
const COMPOSED_LIMIT = 500;

function plainStatement(strings: TemplateStringsArray, inputCount: number): Plain {
  const known = plainByCallSite.get(strings);
  if (known !== undefined) return known;
  let text = strings[0] ?? '';
  for (let index = 0; index < inputCount; index++) text += `$${index + 1}${strings[index + 1] ?? ''}`;
  const plain = { text, name: newName() };
  plainByCallSite.set(strings, plain);
  return plain;
}

function composedName(text: string): string | undefined {
  const known = nameByText.get(text);
  if (known !== undefined || nameByText.size >= COMPOSED_LIMIT) return known;
  const name = newName();
  nameByText.set(text, name);
  return name;
}

function newName(): string {
  namesGiven += 1;
  return `cw_${namesGiven}`;
}

function renumber(text: string, offset: number): string {
  return offset === 0 ? text : text.replace(/\$(\d+)/g, (_, number: string) => `$${Number(number) + offset}`);
}
