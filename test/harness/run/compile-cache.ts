/** Compiled code of the application, kept between test processes and runs. The services that tests start have their own cache. */
export const COMPILE_CACHE_DIR = new URL('../../../node_modules/.cache/crownwheel-tests', import.meta.url).pathname;
