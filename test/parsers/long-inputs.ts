/** A piece again and again, up to a length. */
export function filled(piece: string, length: number, end = ''): string {
  return piece.repeat(Math.max(1, Math.floor(length / piece.length))) + end;
}

/** Members of an object, of about so many characters together. */
export function keys(length: number, name: (index: number) => string): string {
  const pieces: string[] = [];
  for (let index = 0, size = 0; size < length; index++) {
    const piece = `"${name(index)}":1,`;
    pieces.push(piece);
    size += piece.length;
  }
  return pieces.join('');
}

export function json(text: string): Buffer {
  return Buffer.from(text);
}

/** Entries of a zip's directory, of so many bytes together. */
export function zipDirectory(length: number, nameLength: number): Buffer {
  const entry = Buffer.alloc(46 + nameLength, 'x');
  entry.fill(0, 0, 46);
  entry.writeUInt32LE(0x02014b50, 0);
  entry.writeUInt16LE(nameLength, 28);
  return Buffer.concat(Array.from({ length: Math.max(Math.floor(length / entry.length), 1) }, () => entry));
}
