import { InvalidArgumentError } from 'commander';

/** Reads a number option, or says what it should have been. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
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
