import { InvalidArgumentError } from 'commander';

/** Reads a number option, or says what it should have been. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

/** Reads a number that replaces a setting, or "default" for the setting itself. */
export function parseNumberOrDefault(text: string): string {
  if (text === 'default' || /^\d+$/.test(text)) return text;
  throw new InvalidArgumentError('It must be a whole number, or "default".');
}

/** Reads an option that names some of a few things, separated by commas. */
export function oneOrMore<Name extends string>(allowed: readonly Name[]): (text: string) => Name[] {
  return (text) => {
    const names = text.split(',').map((name) => name.trim());
    const known = allowed.filter((name) => names.includes(name));
    if (known.length === new Set(names).size) return known;
    throw new InvalidArgumentError(`It must name some of ${allowed.join(', ')}.`);
  };
}

/** Collects an option that may be given several times, each as NAME=VALUE. A name may have an equals sign, a value has none. */
export function namedValues<Value>(
  read: (name: string, value: string) => Value,
): (text: string, before: Value[] | undefined) => Value[] {
  return (text, before = []) => {
    const at = text.lastIndexOf('=');
    if (at < 1) throw new InvalidArgumentError('It must be two names with an equals sign between them.');
    return [...before, read(text.slice(0, at), text.slice(at + 1).trim())];
  };
}
