/** The picture is at fault, and not the process. */
export class PictureFault extends Error {}
/** The picture took more memory or time than it may. */
export class PictureTooComplexError extends PictureFault {}
