/** Something that reads what somebody outside wrote. */
export type Parser<Input = unknown> = {
  name: string;
  /** The longest input that reaches it. */
  limit: number;
  /** Inputs of a length that cost the most; each is tried. */
  worst: Record<string, (length: number) => Input>;
  parse(input: Input): unknown;
};

export function row<Input>(parser: Parser<Input>): Parser {
  return parser as unknown as Parser;
}
