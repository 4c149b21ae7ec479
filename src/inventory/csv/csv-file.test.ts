import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { IMPORT_LINES_LIMIT } from '../../contract/dashboard/limits.ts';
import { CSV_START, readCsv, withoutApostrophe, writeCsv } from './csv-file.ts';

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

  it('has as many lines as it has records, whatever ends them and however many line breaks are in a cell', () => {
    const records = (end: string, cell: string) =>
      Buffer.from(`a,b${end}${`1,${cell}${end}`.repeat(IMPORT_LINES_LIMIT)}`);
    for (const bytes of [records('\r\n', 'x'), records('\r', 'x'), records('\r\n', '"one\r\n\r\ntwo"')]) {
      assert.equal(readCsv(bytes, (cells) => cells).rows.length, IMPORT_LINES_LIMIT);
      const oneMore = Buffer.concat([bytes, Buffer.from('1,x\r\n')]);
      assert.throws(() => readCsv(oneMore, (cells) => cells), /more than 20000 lines/);
    }
  });

  it('names the line in which a record begins, whatever line breaks stand before and in it', () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const text = ['"a', 'heading",b', '1,"x', '', 'y"', '', ',', '2,z', '3,"x', 'y"', '4,z'].join(end);
      const { header, rows } = readCsv(Buffer.from(text), (cells) => cells);
      assert.deepEqual(header, ['a\nheading', 'b']);
      assert.deepEqual(
        rows.map(({ line, cells }) => [line, cells[0]]),
        [
          [3, '1'],
          [8, '2'],
          [9, '3'],
          [11, '4'],
        ],
      );
      assert.equal(rows[0]?.cells[1], 'x\n\ny');
    }
  });

  it('may have lines that end in different ways', () => {
    const { rows } = readCsv(Buffer.from('a,b\n1,"x"\r\n2,"y"\n'), (cells) => cells);
    assert.deepEqual(rows, [
      { line: 2, cells: ['1', 'x'] },
      { line: 3, cells: ['2', 'y'] },
    ]);
  });

  it('may begin with the line by which Excel is told the delimiter, or with empty lines', () => {
    for (const start of ['sep=;\r\n', '\ufeffsep=;\n', '"sep=;"\r\n', 'SEP=;\n', '\n']) {
      const { header, rows } = readCsv(Buffer.from(`${start}a,b,c;d\r\n1;2\r\n`), (cells) => cells);
      if (start === '\n') assert.deepEqual(header, ['a', 'b', 'c;d']);
      else assert.deepEqual(header, ['a,b,c', 'd']);
      assert.equal(rows[0]?.line, 3);
    }
    assert.deepEqual(readCsv(Buffer.from('\n\na;b\n1;2\n'), (cells) => cells).header, ['a', 'b']);
  });

  it('is refused with a sentence if it is empty, binary, not Unicode, without an end or too long', () => {
    const cases: [Buffer, RegExp][] = [
      [Buffer.from(''), /empty/],
      [Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0xff]), /neither UTF-8/],
      [Buffer.from('a,b\n1,\0\n'), /binary/],
      [Buffer.from('title\nGr\xf6\xdfe', 'latin1'), /neither UTF-8/],
      [Buffer.from('a,b\n"open,1\n'), /not a table/],
      [Buffer.from(`a\n${'1\n'.repeat(IMPORT_LINES_LIMIT + 1)}`), /more than 20000 lines/],
      [Buffer.from(`a\n${',\n'.repeat(1_000_000)}`), /more than 20000 lines/],
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
      ["'=1+1", "''-x", "'-5", "'x", "'", '-5', '+'],
      ['＝1+1', '＠x', '－x', '＋1', "'＝1", '\n=1+1', 'a＝1'],
    ];
    const text = CSV_START + writeCsv(rows);
    const read = readCsv(Buffer.from(text), (cells) => cells);
    const cells = [read.header, ...read.rows.map((row) => row.cells)];
    assert.deepEqual(cells[0]?.slice(0, 5), ['a', "'=1+1", "'@x", '-5', "'+41 22"]);
    assert.equal(cells[1]?.[5], "'-x");
    assert.deepEqual(cells[3], ["'＝1+1", "'＠x", "'－x", "'＋1", "''＝1", "'\n=1+1", 'a＝1']);
    assert.equal(cells[0]?.[6], 'say "hi", please');
    assert.deepEqual(
      cells.map((row) => row.map(withoutApostrophe)),
      rows,
    );
  });
});
