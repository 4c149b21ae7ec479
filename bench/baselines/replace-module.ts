import { registerHooks } from 'node:module';

/**
 * Lets a process of a benchmark load another module where the service imports one of its own: to measure without it. The other
 * module may itself import the one that it stands for.
 */
export function replaceModule(path: string, replacement: string): void {
  const [own, other] = [path, replacement].map((file) => new URL(`../../${file}`, import.meta.url).href);
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      if (resolved.url !== own || other === undefined || context.parentURL === other) return resolved;
      return { ...resolved, url: other };
    },
  });
}
