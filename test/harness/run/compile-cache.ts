/** Compiled code of the application, kept between test processes, the services that they start, and runs. */
export const COMPILE_CACHE_DIR = new URL('../../../node_modules/.cache/crownwheel-tests', import.meta.url).pathname;
