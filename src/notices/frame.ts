/** The frame of every notice: its subject, its titled sections as plain text and as HTML, and its JSON. */

import { html } from 'hono/html';
import { type ChainRef, chainPage, chainUrl, type Links } from '../chain/chain.js';
import { cutShort, oneLine } from '../chain/text.js';
import type { HoldRef } from '../contract/hold-link.js';
import type { Notice } from '../contract/notices.js';

/** What a notice does not carry and its reader needs. */
export interface NoticeContext {
  companyName: string;
  ruleName: string;
  links: Links;
  /** For the `temporal` command. */
  namespace: string;
  /** Where whoever reads the notice decides about a hold without a key; undefined: nowhere. */
  holdLink?(held: Pick<HoldRef, 'companyId' | 'chainId' | 'index' | 'at'> & { heldUntil?: string }): string | undefined;
}

/** What differs from one notice to another. */
export interface Words {
  headline: string;
  /** What the headline is about; the rule, unless it is given. */
  about?: string;
  sentence: string;
  /** By title; those without lines are not shown. `Where` begins with whom the notice concerns. */
  sections: { Where: Line[]; [title: string]: Line[] };
  /** In the JSON, where it is not the kind of the notice. */
  type?: string;
  /** What the JSON says beyond what all notices say; the notice itself, unless they are given. */
  facts?: object;
}

/** A text, or a link such as `Temporal Web UI: https://…`. A command to type is shown as such. */
type Line = string | { label: string; url: string };
type Section = [title: string, lines: Line[]];

/** A notice in every form that a channel may need. */
export type RenderedNotice = ReturnType<typeof framed>;

export function framed(words: Words, notice: Notice, { companyName, ruleName }: NoticeContext) {
  const { headline, about = ruleName, sentence, sections, type = notice.kind, facts = notice } = words;
  const { companyId, at } = notice;
  const subject = cutShort(oneLine(`[relay] ${headline}${about && ` (${about})`}`), 180);
  const rule = 'cause' in notice || notice.relayId === undefined ? undefined : { relayId: notice.relayId, name: ruleName };
  const company = { companyId, name: companyName };
  const concerned = [`Company: ${companyName} (${companyId})`, ...(rule ? [`Rule: ${ruleName} (${rule.relayId})`] : [])];
  const all = Object.entries<Line[]>({ ...sections, Where: [...concerned, ...sections.Where] });
  const shown = all.flatMap(([title, lines]): Section[] => (lines.length > 0 ? [[title, lines.map(asOneLine)]] : []));
  const first = oneLine(sentence);
  return {
    subject,
    text: asText(first, shown),
    html: asHtml(subject, first, shown),
    /** What a webhook gets. */
    json: { type: `relay.${type}`, text: subject, at, company, rule, ...facts } as unknown,
  };
}

/** What a sender or an outside system said must not look like a line, or a section, of the relay's own. */
function asOneLine(line: Line): Line {
  return typeof line === 'string' ? oneLine(line) : { ...line, label: oneLine(line.label) };
}

function asText(sentence: string, sections: readonly Section[]): string {
  const paragraphs = sections.map(([title, lines]) => {
    const texts = lines.map((line) => `  ${lineText(line)}`);
    return [`${title}:`, ...texts].join('\n');
  });
  return `${[sentence, ...paragraphs].join('\n\n')}\n`;
}

export function lineText(line: Line): string {
  return typeof line === 'string' ? line : `${line.label}: ${line.url}`;
}

/** `html` escapes every text that it is given. */
function asHtml(subject: string, sentence: string, sections: readonly Section[]): string {
  const body = sections.map(([title, lines]) => {
    const items = lines.map((line) => html`<div style="margin:2px 0">${lineHtml(line)}</div>`);
    return html`<h3 style="margin:16px 0 4px;font-size:15px">${title}</h3>${items}`;
  });
  const style = 'font-family:sans-serif;font-size:14px;line-height:1.4;max-width:640px;overflow-wrap:anywhere';
  const meta = html`<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${subject}</title>`;
  const first = html`<div style="font-size:17px">${sentence}</div>`;
  return String(html`<!doctype html><html lang="en"><head>${meta}</head><body style="${style}">${first}${body}</body></html>`);
}

function lineHtml(line: Line) {
  if (typeof line === 'string')
    return isCommand(line) ? html`<code style="display:block;background:#f2f2f2;padding:6px 8px">${line}</code>` : line;
  const { label, url } = line;
  return /^https?:\S+$/.test(url) ? html`<a href="${url}">${label}</a>` : html`${label}: ${url}`;
}

/** Where a chain is looked at. */
export function chainPlaces({ api }: Links, chain: ChainRef): Line[] {
  return [
    { label: "The chain's page, with a key", url: chainPage(api, chain) },
    { label: 'Chain resource, with a token', url: chainUrl(api, chain) },
  ];
}

/** A `relay` command, with the address of the API where it would not look there by itself. */
export function relay(words: string, { links }: NoticeContext): string {
  return `npx relay ${words}${links.api === 'http://127.0.0.1:8080' ? '' : ` --url ${links.api}`}`;
}

export function isCommand(line: string): boolean {
  return /^(npx relay|temporal) /.test(line);
}
