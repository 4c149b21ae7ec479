/**
 * The folders of src/ from the ground up. A folder may import those of the rows above it, and no others: not those of its
 * own row, and not those below. A new folder needs its row here.
 */
export const LAYERS: readonly (readonly string[])[] = [
  ['contract', 'concurrency', 'text'],
  ['db'],
  ['ids'],
  ['audit', 'live', 'activity', 'quota'],
  ['webhooks'],
  ['channel'],
  ['dealers'],
  ['inventory', 'customers'],
  ['sales'],
  ['notifications'],
  ['http', 'demo'],
  ['config.ts'],
  ['service'],
  ['cli'],
  ['main.ts'],
];

/** What stands beside src/, and the folders of the repository that it may import. */
export const NEIGHBOURS: Readonly<Record<string, readonly string[]>> = {
  // Code for the browser shares enumerations, labels and shapes with the service, and the design tokens with the docs.
  'dashboard/src': ['dashboard/src', 'src/contract', 'src/http/style'],
  // Others install the SDK and copy the examples: they stand alone.
  sdk: ['sdk'],
  examples: ['examples'],
  // It knows the service as an operator does, shares its table with the benchmarks and its data with them and the tests.
  attack: ['attack', 'bench', 'src', 'test/harness'],
};

/** Imports of src/ from beside it: which folder may import what. */
export const NEIGHBOURS_USED: Readonly<Record<string, readonly string[]>> = {
  // The start builds the pages if the installation did not.
  service: ['dashboard/'],
};
