import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { IMPORT_LINES_LIMIT } from '../../contract/dashboard/limits.ts';
import { CSV_START, readCsv, writeCsv } from './csv-file.ts';

describe('a CSV file', () => {
  it('is read with commas, semicolons or tabs, in UTF-8 or UTF-16, with or without a mark', () => {
    const text = 'stock_number;title\r\nW-1;"Größe; 41 ""mm"""\r\n\r\nW-2;\r\n';
    const swapped = Buffer.from(text, 'utf16le').swap16();
    const encodings = {
      utf8: Buffer.from(text),
      'utf8 with mark': Buffer.from(`\ufeff${text}`),
      utf16le: Buffer.from(text, 'utf16le'),
      'utf16le with mark': Buffer.from(`\ufeff${text}`, 'utf16le'),
      utf16be: swapped,
      commas: Buffer.from('stock_number,title\nW-1,"Größe; 41 ""mm"""\n\nW-2,\n'),
      tabs: Buffer.from('stock_number\ttitle\nW-1\t"Größe; 41 ""mm"""\n\nW-2\t\n'),
    };
    for (const [name, bytes] of Object.entries(encodings)) {
      const { header, rows } = readCsv(bytes, (cells) => cells);
      assert.deepEqual(header, ['stock_number', 'title'], name);
      assert.deepEqual(
        rows.map((row) => row.cells),
        [
          ['W-1', 'Größe; 41 "mm"'],
          ['W-2', ''],
        ],
        name,
      );
      assert.deepEqual(
        rows.map((row) => row.line),
        [2, 4],
        name,
      );
    }
  });

  it('is refused with a sentence if it is empty, binary, not Unicode, without an end or too long', () => {
    const cases: [Buffer, RegExp][] = [
      [Buffer.from(''), /empty/],
      [Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0xff]), /neither UTF-8/],
      [Buffer.from('a,b\n1,\0\n'), /binary/],
      [Buffer.from('title\nGr\xf6\xdfe', 'latin1'), /neither UTF-8/],
      [Buffer.from('a,b\n"open,1\n'), /not a table/],
      [Buffer.from(`a\n${'1\n'.repeat(IMPORT_LINES_LIMIT + 1)}`), /more than 20000 lines/],
      [Buffer.from(`${'a,'.repeat(300)}b\n`), /columns/],
    ];
    for (const [bytes, message] of cases) {
      assert.throws(
        () => readCsv(bytes, (cells) => cells),
        { name: 'DomainError', code: 'invalid_input', message },
        String(message),
      );
    }
  });

  it('is written so that no cell runs as a formula, and reads back as it was', () => {
    const rows = [
      ['a', '=1+1', '@x', '-5', '+41 22', 'line\nbreak', 'say "hi", please'],
      ['', '-5.20', '\tx', '1;2', 'ü', '-x', ''],
    ];
    const text = CSV_START + writeCsv(rows);
    const read = readCsv(Buffer.from(text), (cells) => cells);
    const cells = [read.header, ...read.rows.map((row) => row.cells)];
    assert.deepEqual(cells[0]?.slice(0, 5), ['a', "'=1+1", "'@x", '-5', "'+41 22"]);
    assert.equal(cells[1]?.[5], "'-x");
    assert.equal(cells[0]?.[6], 'say "hi", please');
  });
});
