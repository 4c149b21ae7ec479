/** The part of a JSON schema that says which fields are known; an object without `properties` may have any. */
export type Shape = {
  type?: string;
  anyOf?: Shape[];
  properties?: Record<string, Shape>;
  items?: Shape;
  maxItems?: number;
};

/** A part of a shape, or of the shape inside one that may also be null. */
export function partOf<Name extends 'items' | 'properties' | 'maxItems'>(
  shape: Shape,
  name: Name,
): Shape[Name] | undefined {
  return shape[name] ?? shape.anyOf?.find((one) => one[name] !== undefined)?.[name];
}

/** Whether the shape takes objects with fields that nobody knows, such as `metadata`; or anything at all. */
export function isOpen(shape: Shape, container: 'object' | 'array'): boolean {
  if (partOf(shape, 'properties') !== undefined || partOf(shape, 'items') !== undefined) return false;
  const kinds = shape.anyOf ?? [shape];
  return kinds.some(({ type }) => type === undefined || type === container);
}
