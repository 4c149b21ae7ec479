/**
 * SQL as SQL: a tagged template whose values become parameters. `sql` inside `sql` is spliced in as text, so a
 * condition can be put together from parts without ever quoting a value by hand.
 */
export class Sql {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Statements from one place in the code share a name, so each connection parses and plans them once. */
  readonly name: string | undefined;

  constructor(text: string, values: readonly unknown[], name: string | undefined) {
    this.text = text;
    this.values = values;
    this.name = name;
  }
}

const nameByPlace = new WeakMap<TemplateStringsArray, string>();
let placesSeen = 0;

export function sql(strings: TemplateStringsArray, ...inputs: unknown[]): Sql {
  const values: unknown[] = [];
  let text = strings[0] ?? '';
  let isComposed = false;
  for (const [index, input] of inputs.entries()) {
    if (input instanceof Sql) {
      isComposed = true;
      text += renumber(input.text, values.length);
      values.push(...input.values);
    } else {
      values.push(input);
      text += `$${values.length}`;
    }
    text += strings[index + 1] ?? '';
  }
  // A composed text varies from call to call; naming it would fill the connection with prepared statements.
  return new Sql(text, values, isComposed ? undefined : nameOf(strings));
}

/** Text that is already SQL: an identifier from our own code, a migration file. Never anything a client sent. */
export function rawSql(text: string): Sql {
  return new Sql(text, [], undefined);
}

function nameOf(strings: TemplateStringsArray): string {
  const known = nameByPlace.get(strings);
  if (known !== undefined) return known;
  placesSeen += 1;
  const name = `cw_${placesSeen}`;
  nameByPlace.set(strings, name);
  return name;
}

function renumber(text: string, offset: number): string {
  return offset === 0 ? text : text.replace(/\$(\d+)/g, (_, number: string) => `$${Number(number) + offset}`);
}
