import { type Html, html } from './html.ts';

/** JSON as it would be read: indented, with its tokens highlighted and long lines wrapped below their own beginning. */
export function jsonBlock(caption: Html | string, value: unknown): Html {
  const lines = JSON.stringify(value, null, 2).split('\n');
  return figure(
    caption,
    'json',
    lines.map((line) => html`<span class="line ${depthClass(line)}">${jsonTokens(line)}\n</span>`),
  );
}

/** Commands for a terminal. */
export function shellBlock(caption: Html | string, script: string): Html {
  const lines = script.split('\n');
  return figure(
    caption,
    'shell',
    lines.map((line) => html`<span class="line ${depthClass(line)}">${shellTokens(line)}\n</span>`),
  );
}

/** JavaScript with highlighted tokens, as far as the samples of the pages need it. */
export function scriptBlock(caption: Html | string, script: string): Html {
  const lines = script.trimEnd().split('\n');
  return figure(
    caption,
    'script',
    lines.map((line) => html`<span class="line ${depthClass(line)}">${scriptTokens(line)}\n</span>`),
  );
}

function figure(caption: Html | string, language: string, lines: Html[]): Html {
  return html`<figure class="block ${language}"><figcaption>${caption}</figcaption><pre tabindex="0"><code>${lines}</code></pre></figure>`;
}

const DEEPEST_CLASS = 6;

function depthClass(line: string): string {
  const depth = Math.max(0, line.search(/\S/)) / 2;
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
  // Options stand between spaces. A body is JSON that runs over several lines, so a colon marks its keys.
  return tokens(line, /("[^"]*")(:?)|(?<=\s)-{1,2}\w[\w-]*(?=\s)/g, ([token, text, colon]) => {
    if (text === undefined) return html`<span class="key">${token}</span>`;
    if (colon === ':') return html`<span class="key">${text}</span>:`;
    return html`<span class="text">${text}</span>`;
  });
}

const SCRIPT_TOKEN =
  /(\/\/.*|\/\*.*\*\/)|('[^']*'|`[^`]*`)|\b(?:import|from|const|let|function|return|if|for|of|try|catch|throw|await|async|new)\b|\b\d[\d_]*\b/g;

function scriptTokens(line: string): Html[] {
  return tokens(line, SCRIPT_TOKEN, ([token, remark, text]) => {
    if (remark !== undefined) return html`<span class="remark">${remark}</span>`;
    if (text !== undefined) return html`<span class="text">${text}</span>`;
    return /^\d/.test(token) ? html`<span class="value">${token}</span>` : html`<span class="key">${token}</span>`;
  });
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
