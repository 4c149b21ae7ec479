import { type Html, html } from './html.ts';

/** JSON as it would be read: indented, its parts told apart, long lines hanging below their own beginning. */
export function jsonBlock(caption: Html | string, value: unknown): Html {
  const lines = JSON.stringify(value, null, 2).split('\n');
  return figure(
    caption,
    'json',
    lines.map((line) => html`<span class="line ${depthClass(line)}">${jsonTokens(line)}\n</span>`),
  );
}

/** Commands for a terminal. A line that begins with "#" is a remark; one that is indented continues the one before. */
export function shellBlock(caption: Html | string, script: string): Html {
  const lines = script.split('\n').map((line) => {
    const kind = line.startsWith('#') ? 'remark' : line.startsWith(' ') || line === '' ? 'continued' : 'command';
    return html`<span class="line ${kind}">${kind === 'remark' ? line : shellTokens(line)}\n</span>`;
  });
  return figure(caption, 'shell', lines);
}

function figure(caption: Html | string, language: string, lines: Html[]): Html {
  return html`<figure class="block ${language}"><figcaption>${caption}</figcaption><pre tabindex="0"><code>${lines}</code></pre></figure>`;
}

const DEEPEST_CLASS = 6;

function depthClass(line: string): string {
  const depth = line.search(/\S/) / 2;
  return `d${Math.min(depth, DEEPEST_CLASS)}`;
}

const JSON_TOKEN = /("(?:[^"\\]|\\.)*")(:?)|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g;

function jsonTokens(line: string): Html[] {
  return tokens(line, JSON_TOKEN, ([token, text, colon]) => {
    if (text === undefined) return html`<span class="value">${token}</span>`;
    if (colon === ':') return html`<span class="key">${text}</span>:`;
    return html`<span class="text">${text}</span>`;
  });
}

function shellTokens(line: string): Html[] {
  return tokens(line, /"[^"]*"|'[^']*'|(?<=\s)-{1,2}\w[\w-]*/g, ([token]) =>
    token.startsWith('-') ? html`<span class="key">${token}</span>` : html`<span class="text">${token}</span>`,
  );
}

function tokens(line: string, pattern: RegExp, render: (match: RegExpExecArray) => Html): Html[] {
  const parts: Html[] = [];
  let end = 0;
  for (const match of line.matchAll(pattern)) {
    parts.push(html`${line.slice(end, match.index)}${render(match)}`);
    end = match.index + match[0].length;
  }
  return [...parts, html`${line.slice(end)}`];
}
